"""Regression with any loss and any kernel."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64
from mercer.errors import ModelFileError
from mercer.losses.base import Loss
from mercer.training.certificate import Certificate
from mercer.training.kernelised import KernelLike
from mercer.training.loss_machine import LossMachine, Task
from mercer.training.targets import numbers_of, sample_weights
from mercer.training.train import loss_of, warn_if_unfinished


class KernelMachineRegressor(RegressorMixin, LossMachine):
    """A regressor from any loss and any kernel: minimises 1/2 |w|^2 + C sum_i loss(y_i, f(x_i)).

    Parameters
    ----------
    loss : the name of a loss for numbers, or an object, yours included: see `mercer.losses.base.Loss`.
    C : the penalty, in (0, inf).
    kernel, gamma, degree, coef0, memory, psd : as in `SVC`.
    fit_intercept : whether f has an unpenalised constant.
    tol : how far the optimality conditions may be violated.
    max_iter, time_limit : limits on iterations and seconds.
    dual : as in `KernelMachineClassifier`.

    >>> import numpy as np
    >>> from mercer import KernelMachineRegressor
    >>> from mercer.losses.huber import Huber
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[10] = 50.0  # an outlier
    >>> model = KernelMachineRegressor(Huber(0.1), C=100.0, gamma=0.5).fit(X, y)
    >>> bool(abs(model.predict([[3.0]])[0] - np.sin(3.0)) < 0.1)
    True
    """

    _stored_arrays: ClassVar[dict[str, str]] = {"support_": "i"}
    _stored_values: ClassVar[dict[str, type]] = {"n_iter_": int}

    def __init__(
        self,
        loss: Loss | str = "huber",
        *,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = -1,
        time_limit: float | None = None,
        memory: float | str = "auto",
        psd: str = "warn",
        dual: bool | str = "auto",
    ) -> None:
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory = memory
        self.psd = psd
        self.dual = dual

    def _loss(self) -> Loss:
        owner = type(self).__name__
        loss = loss_of(owner, self.loss)
        if loss.classifies:
            raise _check.fail(owner, "loss", "a loss for numbers", loss, "For classes use KernelMachineClassifier.")
        return loss

    def _losses(self) -> list[Loss]:
        """One loss for each output."""
        return [self._loss()]

    def _tasks(self, y: Float64) -> list[Task]:
        return [Task(loss, y) for loss in self._losses()]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with one number each as target."""
        began = time.monotonic()
        with self._all_or_nothing():
            C = self._check_penalty()
            self._losses()  # answers bad losses before any work
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            targets, _ = numbers_of(self, y, objects, several=False)
            self._check_features(X, objects, reset=True)
            penalties = C * sample_weights(sample_weight, objects)
            machines = self._fit_tasks(kernel, objects, self._tasks(targets[:, 0]), penalties, began)
        self.n_iter_ = max(machine.certificate.iterations for machine in machines)
        warn_if_unfinished(self, machines)
        return self

    @property
    def loss_(self) -> Loss:
        """The loss that was minimised."""
        return self._loss()

    def _refuse_inconsistent(self) -> None:
        shape = self.expansion_.coefficients.shape
        if self.support_.shape != (len(self.expansion_.support),) or shape[1] != len(self._losses()):
            raise ModelFileError("support objects and coefficients do not fit together.")

    def predict(self, X: Any) -> Float64:
        """The predicted number of each object."""
        check_is_fitted(self)
        return self.expansion_(self._new_objects(X, self.kernel_))[:, 0]

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data in float64, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        targets, _ = numbers_of(self, y, objects, several=False)
        penalties = float(self.C) * sample_weights(sample_weight, objects)
        tasks = self._tasks(targets[:, 0])
        return self._verify_tasks(objects, tasks, penalties, [self.n_iter_] * len(tasks), began)
