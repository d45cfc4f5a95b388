"""Classification with any loss and any kernel."""

from __future__ import annotations

import math
import time
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64
from mercer.errors import ModelFileError
from mercer.losses.base import Loss
from mercer.training.certificate import Certificate
from mercer.training.kernelised import KernelLike
from mercer.training.loss_machine import LossMachine, Task
from mercer.training.targets import (
    Classes,
    class_weights,
    classes_of,
    known_classes,
    refuse_weightless_classes,
    sample_weights,
)
from mercer.training.train import loss_of, warn_if_unfinished


class KernelMachineClassifier(ClassifierMixin, LossMachine):
    """A classifier from any loss and any kernel: minimises 1/2 |w|^2 + C sum_i loss(y_i, f(x_i)).

    Two classes are one machine with y = -1 and +1. For more, a loss of several outputs (`Multinomial`) is one joint
    machine; any other loss gives one machine per class against the rest, all on one Gram matrix.

    Parameters
    ----------
    loss : the name of a loss that classifies, or an object, yours included: see `mercer.losses.base.Loss`.
    C : the penalty, in (0, inf).
    kernel, gamma, degree, coef0, class_weight, memory, psd : as in `SVC`.
    fit_intercept : whether f has an unpenalised constant.
    tol : how far the optimality conditions may be violated.
    max_iter, time_limit : limits on iterations of each machine and on seconds for all.
    dual : as in `SVC`, except that smooth losses are trained on features from 5,000 objects on, and joint machines of
        several classes from any number on, to the same `tol`.

    >>> from mercer import KernelMachineClassifier, kernels
    >>> from mercer.losses.squared_hinge import SquaredHinge
    >>> model = KernelMachineClassifier(SquaredHinge(), kernel=kernels.Spectrum(2))
    >>> model.fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]).predict(["gatta", "gcgc"])
    array([1, 0])
    """

    _stored_arrays: ClassVar[dict[str, str]] = {"classes_": "fiubU", "support_": "i", "n_iter_": "i"}

    def __init__(
        self,
        loss: Loss | str = "hinge",
        *,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory = memory
        self.psd = psd
        self.dual = dual

    def _loss(self, n_classes: int) -> Loss:
        """The loss for so many classes."""
        del n_classes
        owner = type(self).__name__
        loss = loss_of(owner, self.loss)
        if not loss.classifies:
            raise _check.fail(owner, "loss", "a loss for classes", loss, "For numbers use KernelMachineRegressor.")
        return loss

    def _unpenalised(self) -> str:
        """What to do instead of C = inf, which leaves no penalty on |w|."""
        C: Any = self.C
        if not isinstance(C, Real) or not math.isinf(C):
            return ""
        dual = self._loss(2).dual(np.ones(1), np.ones(1))
        if dual is not None and dual.is_box:
            return "For the hard margin use SVC(C=inf)."
        return (
            "Without a penalty on |w| there is no minimiser where the kernel separates the classes: decision values "
            "would grow for ever. Use a large C, such as 1e4, or the hard margin, SVC(C=inf)."
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y."""
        began = time.monotonic()
        with self._all_or_nothing():
            C = self._check_penalty(self._unpenalised())
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor="KernelMachineRegressor")
            loss = self._loss(len(classes.labels))
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            refuse_weightless_classes(classes, weights)
            penalties = C * class_weights(self.class_weight, classes)[classes.codes] * weights
            machines = self._fit_tasks(kernel, objects, tasks_of(loss, classes), penalties, began)
        self.classes_ = classes.labels
        self.n_iter_ = np.array([machine.certificate.iterations for machine in machines])
        warn_if_unfinished(self, machines)
        return self

    @property
    def loss_(self) -> Loss:
        """The loss that was minimised."""
        check_is_fitted(self)
        return self._loss(len(self.classes_))

    def _refuse_inconsistent(self) -> None:
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        shapes_agree = self.classes_.ndim == 1 and self.support_.shape == (len(self.expansion_.support),)
        if len(self.classes_) < 2 or not shapes_agree or self.expansion_.coefficients.shape[1] != outputs:
            raise ModelFileError("classes, support objects and coefficients do not fit together.")

    def decision_function(self, X: Any) -> Float64:
        """Decision values: for two classes positive means ``classes_[1]``, else one column per class."""
        check_is_fitted(self)
        values = self.expansion_(self._new_objects(X, self.kernel_))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """The predicted label of each object."""
        values = self.decision_function(X)
        winners = (values >= 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[winners]

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data in float64, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        classes = known_classes(self.classes_, y)
        weights = sample_weights(sample_weight, objects)
        penalties = float(self.C) * class_weights(self.class_weight, classes)[classes.codes] * weights
        return self._verify_tasks(objects, tasks_of(self.loss_, classes), penalties, self.n_iter_.tolist(), began)


def tasks_of(loss: Loss, classes: Classes) -> list[Task]:
    """Class codes for a joint machine, -1 and +1 for two classes or for each against the rest."""
    codes, n_classes = classes.codes, len(classes.labels)
    if loss.joint:
        return [Task(loss, codes.astype(np.float64), n_classes)]
    positives = [1] if n_classes == 2 else range(n_classes)
    return [Task(loss, np.where(codes == label, 1.0, -1.0)) for label in positives]
