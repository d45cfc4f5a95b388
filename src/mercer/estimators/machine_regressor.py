"""Regression with any loss and any kernel."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._progress import reporting
from mercer.errors import ModelFileError
from mercer.estimators.certificate import Certificate
from mercer.estimators.kernelised import KernelLike
from mercer.estimators.limits import limits_of
from mercer.estimators.machine import (
    Machine,
    certify,
    loss_of,
    refuse_pointless,
    train,
    warn_if_unfinished,
    worth_storing,
)
from mercer.estimators.primal import training_gram
from mercer.estimators.psd import Repair, certified, guard
from mercer.estimators.sanity import warn_if_constant, warn_of_scales
from mercer.estimators.storing import StoredMachine
from mercer.estimators.targets import numbers_of, sample_weights
from mercer.gram.expansion import Expansion
from mercer.gram.matrix import Gram
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits, OnChunk

Float64 = npt.NDArray[np.float64]


class KernelMachineRegressor(RegressorMixin, StoredMachine):
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

    def _memory(self) -> Any:
        return self.memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with one number each as target."""
        began = time.monotonic()
        with self._all_or_nothing():
            owner = type(self).__name__
            C = _check.real(owner, "C", self.C, low=0, low_open=True, high_open=True)
            _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
            losses = self._losses()
            for loss in losses:
                refuse_pointless(loss)
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            targets, _ = numbers_of(self, y, objects, several=False)
            self._check_features(X, objects, reset=True)
            penalties = C * sample_weights(sample_weight, objects)
            warn_of_scales(objects)
            fitted = kernel.fit(objects)
            gram = training_gram(self, fitted, objects, losses, memory=self._memory())
            guarded = guard(owner, kernel, gram, self.psd)
            warn_if_constant(guarded.gram)
            machines = self._train(guarded.gram, losses, targets[:, 0], penalties, began)
        dual = np.zeros((len(objects), len(machines)))
        dual[penalties > 0] = np.column_stack([machine.coefficients for machine in machines])
        full = guarded.expanded(dual)
        self.kernel_ = fitted
        self.support_ = np.flatnonzero(np.any(full != 0, axis=1))
        self._repair = Repair.of(guarded, dual[self.support_])
        intercept = np.array([float(machine.intercept) for machine in machines])
        self.expansion_ = Expansion(fitted, objects.take(self.support_), full[self.support_], intercept)
        seconds = time.monotonic() - began
        parts = tuple(machine.certificate for machine in machines)
        self.certificate_ = Certificate.together(parts, gram.entries_computed, seconds)
        self.n_iter_ = max(part.iterations for part in parts)
        warn_if_unfinished(self, machines)
        return self

    def _train(
        self, gram: Gram, losses: list[Loss], targets: Float64, penalties: Float64, began: float
    ) -> list[Machine]:
        """One machine for each loss, side by side."""
        used = np.flatnonzero(penalties > 0)
        view = gram if len(used) == len(penalties) else gram.view(used)
        if gram.fits() and worth_storing(gram, losses, intercept=bool(self.fit_intercept)):
            gram.store()
        limits = limits_of(self, began)
        machines: list[Machine | None] = [None] * len(losses)
        with reporting("Training") as report:

            def job(number: int) -> None:
                machines[number] = self._solve(
                    view,
                    losses[number],
                    targets[used],
                    penalties[used],
                    limits,
                    lambda chunk: report(chunk.fraction, f"gap {chunk.gap:.2g}"),
                )

            if len(losses) == 1:
                job(0)
            else:
                gram.executor.each(job, range(len(losses)), limits.stop)
        return [machine for machine in machines if machine is not None]

    def _solve(
        self, gram: Gram, loss: Loss, y: Float64, penalties: Float64, limits: Limits, on_chunk: OnChunk
    ) -> Machine:
        return train(
            gram,
            loss,
            y,
            penalties,
            tol=float(self.tol),
            intercept=bool(self.fit_intercept),
            limits=limits,
            on_chunk=on_chunk,
            sharing=self._sharing,
        )

    @property
    def loss_(self) -> Loss:
        """The loss that was minimised."""
        return self._loss()

    @property
    def dual_coef_(self) -> Float64:
        """Coefficients of support objects, in one row."""
        check_is_fitted(self)
        return self.expansion_.coefficients.T

    @property
    def intercept_(self) -> Float64:
        """The constant."""
        check_is_fitted(self)
        return self.expansion_.intercept

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
        used = penalties > 0
        gram = Gram.of(self.kernel_, objects, self.expansion_.support, dtype=np.float64)
        products = gram.matvec(self.expansion_.coefficients)
        full, outputs = certified(self._repair, self.expansion_.coefficients, products, self.support_)
        parts = [
            certify(
                loss, targets[used, 0], penalties[used], full[used, column], outputs[used, column],
                float(self.expansion_.intercept[column]), has_intercept=bool(self.fit_intercept),
                iterations=int(self.n_iter_), dtype="float64",
            )
            for column, loss in enumerate(self._losses())
        ]  # fmt: skip
        return Certificate.together(tuple(parts), gram.entries_computed, time.monotonic() - began)
