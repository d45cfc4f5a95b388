"""What classifiers with any loss share: class coding, one machine or one per class, and their certificate."""

from __future__ import annotations

import math
import time
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
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
from mercer.estimators.psd import Guarded, Repair, certified, guard
from mercer.estimators.sanity import warn_if_constant, warn_of_scales
from mercer.estimators.storing import StoredMachine
from mercer.estimators.targets import Classes, class_weights, classes_of, refuse_weightless_classes, sample_weights
from mercer.gram.expansion import Expansion
from mercer.gram.matrix import Gram
from mercer.inputs.base import Objects
from mercer.losses.base import Loss, VectorLoss

Float64 = npt.NDArray[np.float64]


class KernelMachineClassifier(ClassifierMixin, StoredMachine):
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
    dual : as in `SVC`, except that smooth losses are trained on features from 5,000 objects on, to the same `tol`.

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
        if self._loss(2).as_box(np.ones(1), np.ones(1)) is not None:
            return "For the hard margin use SVC(C=inf)."
        return (
            "Without a penalty on |w| there is no minimiser where the kernel separates the classes: decision values "
            "would grow for ever. Use a large C, such as 1e4, or the hard margin, SVC(C=inf)."
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y."""
        began = time.monotonic()
        with self._all_or_nothing():
            owner = type(self).__name__
            C = _check.real(owner, "C", self.C, low=0, low_open=True, high_open=True, remedy=self._unpenalised())
            _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor="KernelMachineRegressor")
            loss = self._loss(len(classes.labels))
            refuse_pointless(loss)
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            refuse_weightless_classes(classes, weights)
            penalties = C * class_weights(self.class_weight, classes)[classes.codes] * weights
            warn_of_scales(objects)
            fitted = kernel.fit(objects)
            gram = training_gram(self, fitted, objects, [loss], memory=self.memory)
            guarded = guard(owner, kernel, gram, self.psd)
            warn_if_constant(guarded.gram)
            machines = self._train(guarded.gram, loss, classes, penalties, began)
        self.classes_ = classes.labels
        self.kernel_ = fitted
        self._set_machines(machines, objects, penalties, guarded)
        seconds = time.monotonic() - began
        parts = tuple(machine.certificate for machine in machines)
        self.certificate_ = Certificate.together(parts, gram.entries_computed, seconds)
        self.n_iter_ = np.array([part.iterations for part in parts])
        warn_if_unfinished(self, machines)
        return self

    def _train(self, gram: Gram, loss: Loss, classes: Classes, penalties: Float64, began: float) -> list[Machine]:
        used = np.flatnonzero(penalties > 0)
        view = gram if len(used) == len(penalties) else gram.view(used)
        targets = machine_targets(loss, classes.codes[used], len(classes.labels))
        outputs = len(classes.labels) if isinstance(loss, VectorLoss) else 1
        limits = limits_of(self, began)
        machines: list[Machine | None] = [None] * len(targets)
        if gram.fits() and worth_storing(gram, [loss] * len(targets), intercept=bool(self.fit_intercept)):
            gram.store()
        with reporting("Training") as report:

            def job(number: int) -> None:
                machines[number] = train(
                    view,
                    loss,
                    targets[number],
                    penalties[used],
                    tol=float(self.tol),
                    intercept=bool(self.fit_intercept),
                    outputs=outputs,
                    limits=limits,
                    on_chunk=lambda chunk: report(chunk.fraction, f"gap {chunk.gap:.2g}"),
                    sharing=self._sharing,
                )

            if len(targets) == 1:
                job(0)
            else:
                gram.executor.each(job, range(len(targets)), limits.stop)
        return [machine for machine in machines if machine is not None]

    def _set_machines(self, machines: list[Machine], objects: Objects, penalties: Float64, guarded: Guarded) -> None:
        columns = [m.coefficients if m.coefficients.ndim == 2 else m.coefficients[:, None] for m in machines]
        dual = np.zeros((len(objects), sum(block.shape[1] for block in columns)))
        dual[penalties > 0] = np.hstack(columns)
        full = guarded.expanded(dual)
        self.support_ = np.flatnonzero(np.any(full != 0, axis=1))
        self._repair = Repair.of(guarded, dual[self.support_])
        intercept = np.concatenate([np.atleast_1d(machine.intercept) for machine in machines])
        self.expansion_ = Expansion(self.kernel_, objects.take(self.support_), full[self.support_], intercept)

    @property
    def loss_(self) -> Loss:
        """The loss that was minimised."""
        check_is_fitted(self)
        return self._loss(len(self.classes_))

    @property
    def dual_coef_(self) -> Float64:
        """Coefficients of support objects, one row per output."""
        check_is_fitted(self)
        return self.expansion_.coefficients.T

    @property
    def intercept_(self) -> Float64:
        """The constant of each output."""
        check_is_fitted(self)
        return self.expansion_.intercept

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
        classes = Classes(self.classes_, np.searchsorted(self.classes_, np.asarray(y)))
        weights = sample_weights(sample_weight, objects)
        penalties = float(self.C) * class_weights(self.class_weight, classes)[classes.codes] * weights
        gram = Gram.of(self.kernel_, objects, self.expansion_.support, dtype=np.float64)
        products = gram.matvec(self.expansion_.coefficients)
        full, outputs = certified(self._repair, self.expansion_.coefficients, products, self.support_)
        used = penalties > 0
        parts = []
        for number, target in enumerate(machine_targets(self.loss_, classes.codes[used], len(self.classes_))):
            pick: Any = slice(None) if isinstance(self.loss_, VectorLoss) else number
            parts.append(
                certify(
                    self.loss_, target, penalties[used], full[used][:, pick], outputs[used][:, pick],
                    self.intercept_[pick], has_intercept=bool(self.fit_intercept),
                    iterations=int(self.n_iter_[number]), dtype="float64",
                )
            )  # fmt: skip
        return Certificate.together(tuple(parts), gram.entries_computed, time.monotonic() - began)


def machine_targets(loss: Loss, codes: npt.NDArray[np.intp], n_classes: int) -> list[Float64]:
    """Targets of each machine: class codes for a joint one, -1 and +1 for two classes or for each against the rest."""
    if isinstance(loss, VectorLoss):
        return [codes.astype(np.float64)]
    positives = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == label, 1.0, -1.0) for label in positives]
