"""Regression with any loss and any kernel."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import Certificate
from mercer.training.explanation import By, Explanation, explanations
from mercer.training.full_kernel import Claim
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import GramSettings, Recomputed, guarded_gram
from mercer.training.parameters import MachineParameters
from mercer.training.storing import MACHINE, ArrayField, Field, ValueField
from mercer.training.support import SupportAttributes
from mercer.training.targets import numbers_of, sample_weights
from mercer.training.tasks import Solve, claims_of, train_problems, verify_problems, with_train
from mercer.training.train import loss_of, refuse_pointless, warn_if_unfinished


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMachineRegressor(RegressorMixin, MachineParameters, KernelEstimator, SupportAttributes):
    """A regressor from any loss and any kernel: minimises 1/2 |w|^2 + C sum_i loss(y_i, f(x_i)).

    Parameters
    ----------
    loss : the name of a loss for regression, or an object, possibly your own: see `mercer.losses.base.Loss`.
    C : the penalty, in (0, inf).
    kernel, gamma, degree, coef0, memory, psd, dtype : as in `SVC`.
    fit_intercept : whether f has an unpenalised constant.
    tol : how far the optimality conditions may be violated.
    max_iter, time_limit : limits on iterations and seconds.
    dual : as in `KernelMachineClassifier`.

    Attributes
    ----------
    loss_ : the loss, as an object.
    support_ : positions of the objects with a coefficient among the training objects.
    support_vectors_ : these objects, if they are vectors.
    n_support_ : their number, in an array.
    dual_coef_ : their coefficients, in one row.
    intercept_ : the constant, in an array.
    coef_ : weights of the columns, for the linear kernel only; read-only.
    n_iter_ : the number of training steps.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    certificate_ : how close the machine is to the optimum: numbers that print as sentences.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

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

    loss: Loss | str = field(default="huber", kw_only=False)
    C: float = 1.0
    fit_intercept: bool = True

    _fields: ClassVar[Mapping[str, Field]] = {
        **MACHINE,
        "support_": ArrayField("i", "rows"),
        "n_iter_": ValueField(int),
    }
    _nu_form: ClassVar[bool] = False
    """Whether nu determines the width of the tube."""

    def _loss(self) -> Loss:
        owner = type(self).__name__
        loss = loss_of(owner, self.loss)
        if loss.classifies:
            raise _check.fail(owner, "loss", "a loss for numbers", loss, "For classes use KernelMachineClassifier.")
        return loss

    def _losses(self) -> list[Loss]:
        """One loss for each output."""
        return [self._loss()]

    def _problems(self, y: Float64, weights: Float64, found: Expansion | None = None) -> list[LossProblem]:
        penalties, intercept = self._penalties(y, weights, found), bool(self.fit_intercept)
        return [LossProblem(loss, y, penalties, intercept=intercept) for loss in self._losses()]

    def _penalties(self, y: Float64, weights: Float64, found: Expansion | None) -> Float64:
        """The upper bound of each coefficient, given its target and the machine, if there is one yet."""
        del y, found
        return float(self.C) * weights

    def _check_penalty(self) -> None:
        _check.real(type(self).__name__, "C", self.C, low=0, low_open=True, high_open=True)

    def _solver(self, limits: Limits) -> Solve:
        return with_train(float(self.tol), limits, self._sharing)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on objects X with one number each as target; blocks (`mercer.blocks`) have their own."""
        began = time.monotonic()
        with self._all_or_nothing():
            owner = type(self).__name__
            _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
            self._check_penalty()
            losses = self._losses()
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            targets, _ = numbers_of(self, y, objects, several=False)
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects, dropping=True)
            problems = self._problems(targets[:, 0], weights)
            for loss in losses:
                refuse_pointless(loss)
            fitted = self._fit_kernel(kernel, objects, weights)
            cache = getattr(self, "cache_size", None)
            memory = self.memory if cache is None else cache
            settings = GramSettings(owner, self.dual, memory, self.psd, self._gram_dtype(), nu_form=self._nu_form)
            guarded = guarded_gram(settings, fitted, objects, losses)
            limits = self._limits()
            trained = train_problems(
                problems, fitted, objects, guarded, self._solver(limits), limits, began, in_parts=not self._nu_form
            )
        self.kernel_, self.expansion_, self.support_ = fitted, trained.expansion, trained.support
        self._repair = trained.repair
        self._certify_later(trained.prove)
        self.n_iter_ = max(machine.iterations for machine in trained.machines)
        warn_if_unfinished(self, trained.machines, len(trained.machines))
        return self

    def predict(self, X: Any) -> Float64:
        """The predicted number of each object."""
        return self._outputs(X)[:, 0]

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data in float64, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        targets, _ = numbers_of(self, y, objects, several=False)
        weights = sample_weights(sample_weight, objects, dropping=True)
        problems = self._problems(targets[:, 0], weights, self.expansion_)
        found = Recomputed.of(self.expansion_, self._repair, self.support_, objects)
        return verify_problems(problems, found, self.expansion_.intercept, [self.n_iter_] * len(problems), began)

    def _claims(self, objects: Objects, y: Any, sample_weight: Any) -> list[Claim]:
        targets, _ = numbers_of(self, y, objects, several=False)
        return claims_of(self._problems(targets[:, 0], sample_weights(sample_weight, objects)))

    def explain(self, X: Any, by: By = "auto") -> list[Explanation]:
        """What every part of each object adds to its prediction, as in `SVC`."""
        return explanations(*self._machine_and_objects(X), by=by, support=getattr(self, "support_", None))

    def _restored(self) -> None:
        if self.expansion_.coefficients.shape[1] != len(self._losses()):
            raise ModelFileError("it does not have one column of coefficients for each loss.")

    @property
    def loss_(self) -> Loss:
        """The loss that was minimised."""
        return self._loss()

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of support objects, one row per output; sparse if the objects are."""
        check_is_fitted(self)
        coefficients, support = self.expansion_.coefficients.T, self.expansion_.support
        return sp.csr_array(coefficients) if isinstance(support, Vectors) and support.is_sparse else coefficients

    @property
    def intercept_(self) -> Float64:
        """The constant of each output."""
        check_is_fitted(self)
        return self.expansion_.intercept
