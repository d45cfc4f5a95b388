"""Classification with any loss and any kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64
from mercer.inputs.base import Objects
from mercer.losses.base import Loss
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import Certificate
from mercer.training.explanation import By, Explanation, explanations
from mercer.training.full_kernel import Claim
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import GramSettings, Recomputed, guarded_gram
from mercer.training.parameters import MachineParameters
from mercer.training.storing import MACHINE, ArrayField, Field, LabelsField, one_against_rest
from mercer.training.targets import (
    Classes,
    class_weights,
    classes_of,
    known_classes,
    refuse_weightless_classes,
    sample_weights,
    signs_against_rest,
)
from mercer.training.tasks import claims_of, train_problems, verify_problems, with_train
from mercer.training.train import loss_of, refuse_pointless, warn_if_unfinished


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMachineClassifier(ClassifierMixin, MachineParameters, KernelEstimator):
    """A classifier from any loss and any kernel: minimises 1/2 |w|^2 + C sum_i loss(y_i, f(x_i)).

    Two classes are one machine with y = -1 and +1. For more, a loss of several outputs (`Multinomial`) is one joint
    machine; any other loss gives one machine per class against the rest, all on one Gram matrix.

    Parameters
    ----------
    loss : the name of a loss for classification, or an object, possibly your own: see `mercer.losses.base.Loss`.
    C : the penalty, in (0, inf).
    kernel, gamma, degree, coef0, class_weight, memory, psd, dtype : as in `SVC`.
    fit_intercept : whether f has an unpenalised constant.
    tol : how far the optimality conditions may be violated.
    max_iter, time_limit : limits on the iterations of each machine, and on the seconds for all.
    dual : as in `SVC`, except that ``"auto"`` uses features for smooth losses from 5,000 objects on, and for joint
        machines of several classes with any number, to the same `tol`.

    Attributes
    ----------
    classes_ : the labels, sorted.
    loss_ : the loss, as an object.
    support_ : positions of the objects with a coefficient among the training objects.
    dual_coef_ : their coefficients, one row per output.
    intercept_ : one number for each output.
    n_iter_ : the number of steps of each machine.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    certificate_ : how close the machine is to the optimum: numbers that print as sentences.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import KernelMachineClassifier, kernels
    >>> from mercer.losses.squared_hinge import SquaredHinge
    >>> model = KernelMachineClassifier(SquaredHinge(), kernel=kernels.Spectrum(2))
    >>> model.fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]).predict(["gatta", "gcgc"])
    array([1, 0])
    """

    loss: Loss | str = field(default="hinge", kw_only=False)
    C: float = 1.0
    fit_intercept: bool = True
    class_weight: Any = None

    _fields: ClassVar[Mapping[str, Field]] = {
        **MACHINE,
        "classes_": LabelsField(one_against_rest, "one output for each of them, or one for two"),
        "support_": ArrayField("i", "rows"),
        "n_iter_": ArrayField("i", "machines"),
    }

    def _loss(self, n_classes: int) -> Loss:
        """The loss for this number of classes."""
        del n_classes
        owner = type(self).__name__
        loss = loss_of(owner, self.loss)
        if not loss.classifies:
            raise _check.fail(owner, "loss", "a loss for classes", loss, "For numbers use KernelMachineRegressor.")
        return loss

    def _unpenalised(self) -> str:
        """Advice for C = inf, which leaves no penalty on |w|."""
        C: Any = self.C
        if not isinstance(C, Real) or not math.isinf(C):
            return ""
        dual = self._loss(2).dual(np.ones(1), np.ones(1))
        if dual is not None and dual.is_box:
            return "For the hard margin use SVC(C=inf)."
        return (
            "Without a penalty on |w| there is no minimiser where the kernel separates the classes: decision values "
            "would grow without bound. Use a large C, such as 1e4, or the hard margin, SVC(C=inf)."
        )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y; blocks (`mercer.blocks`) have their own."""
        began = time.monotonic()
        with self._all_or_nothing():
            owner = type(self).__name__
            tol = _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
            _check.real(owner, "C", self.C, low=0, low_open=True, high_open=True, remedy=self._unpenalised())
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            classes = classes_of(self, y, objects, regressor="KernelMachineRegressor")
            loss = self._loss(len(classes.labels))
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            refuse_weightless_classes(classes, weights)
            refuse_pointless(loss)
            fitted = self._fit_kernel(kernel, objects, weights)
            problems = self._problems(loss, classes, weights)
            settings = GramSettings(owner, self.dual, self.memory, self.psd, self._gram_dtype())
            guarded = guarded_gram(settings, fitted, objects, [loss] * len(problems))
            limits = self._limits()
            solve = with_train(tol, limits, self._sharing)
            trained = train_problems(problems, fitted, objects, guarded, solve, limits, began)
        self.kernel_, self.expansion_, self.support_ = fitted, trained.expansion, trained.support
        self._repair = trained.repair
        self._certify_later(trained.prove)
        self.classes_ = classes.labels
        self.n_iter_ = np.array([machine.iterations for machine in trained.machines])
        warn_if_unfinished(self, trained.machines, len(trained.machines))
        return self

    def _problems(self, loss: Loss, classes: Classes, weights: Float64) -> list[LossProblem]:
        """Class codes for a joint machine, -1 and +1 for two classes or for each against the rest."""
        penalties = float(self.C) * class_weights(self.class_weight, classes)[classes.codes] * weights
        intercept = bool(self.fit_intercept)
        if loss.joint:
            codes, outputs = classes.codes.astype(np.float64), len(classes.labels)
            return [LossProblem(loss, codes, penalties, outputs, intercept)]
        return [LossProblem(loss, signs, penalties, intercept=intercept) for signs in signs_against_rest(classes)]

    @property
    def loss_(self) -> Loss:
        """The loss that was minimised."""
        check_is_fitted(self)
        return self._loss(len(self.classes_))

    def decision_function(self, X: Any) -> Float64:
        """Decision values: for two classes positive means ``classes_[1]``, else one column per class."""
        values = self._outputs(X)
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
        problems = self._problems(self.loss_, classes, sample_weights(sample_weight, objects))
        found = Recomputed.of(self.expansion_, self._repair, self.support_, objects)
        return verify_problems(problems, found, self.expansion_.intercept, self.n_iter_.tolist(), began)

    def _claims(self, objects: Objects, y: Any, sample_weight: Any) -> list[Claim]:
        classes = known_classes(self.classes_, y)
        return claims_of(self._problems(self.loss_, classes, sample_weights(sample_weight, objects)))

    def explain(self, X: Any, by: By = "auto") -> list[Explanation]:
        """What every part of each object adds to its decision value, as in `SVC`."""
        return explanations(*self._machine_and_objects(X), by=by, support=getattr(self, "support_", None))

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
