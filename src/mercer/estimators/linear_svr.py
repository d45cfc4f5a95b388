"""Linear support vector regression."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer import _check
from mercer._process import single_threaded_blas
from mercer._progress import reporting
from mercer._types import Float64
from mercer.gram.expansion import Weights
from mercer.inputs.base import Objects
from mercer.losses.base import Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.solvers.weights import choice
from mercer.solvers.weights.problem import LinearProblem
from mercer.training.certificate import Certificate
from mercer.training.linear_machine import (
    LinearMachine,
    WeightsField,
    refuse_combination,
    refuse_overflow,
    used_problem,
)
from mercer.training.storing import Field
from mercer.training.targets import numbers_of, sample_weights

_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


@dataclass(kw_only=True, eq=False, repr=False)
class LinearSVR(RegressorMixin, LinearMachine):
    """Linear support vector regression: minimises 1/2 |w|^2 + C sum_i loss(y_i, <w, x_i> + c).

    A drop-in for scikit-learn's LinearSVR, with the same attributes.

    Up to about a thousand features, it is trained by Newton's method (if the loss has kinks, on closer and closer
    smooth approximations); beyond, by dual coordinate descent.

    Parameters
    ----------
    epsilon : errors up to this cost nothing.
    tol : training ends when the duality gap is at most this fraction of the objective.
    C : the penalty on errors, in (0, inf).
    loss : ``"epsilon_insensitive"`` or ``"squared_epsilon_insensitive"``.
    dual : ``"auto"``, True or False, as in `LinearSVC`.
    fit_intercept, intercept_scaling, verbose, random_state, max_iter, time_limit, kernel : as in `LinearSVC`.

    Attributes
    ----------
    coef_, intercept_, weights_, n_iter_, kernel_, certificate_ : as in `LinearSVC`, for one machine.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import LinearSVR
    >>> model = LinearSVR(C=100.0).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    >>> model.predict([[4.0]]).round(2)
    array([9.])
    """

    epsilon: float = 0.0
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive"

    _fields: ClassVar[Mapping[str, Field]] = {**LinearMachine._fields, "weights_": WeightsField(outputs=1)}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        owner = type(self).__name__
        _check.choice(owner, "loss", self.loss, _LOSSES)
        _check.real(owner, "epsilon", self.epsilon, low=0, high_open=True)
        kinked = self.loss == "epsilon_insensitive" and not self.dual
        refuse_combination(self, kinked, "the loss is not smooth: dual=True or 'auto'")

    def _loss(self) -> Loss:
        epsilon = float(self.epsilon)
        return EpsilonInsensitive(epsilon) if self.loss == _LOSSES[0] else SquaredEpsilonInsensitive(epsilon)

    def _problem(
        self, objects: Objects, y: Any, sample_weight: Any, rows_of: Callable[[Objects], Any]
    ) -> LinearProblem:
        targets, _ = numbers_of(self, y, objects, several=False)
        C = float(self.C) * sample_weights(sample_weight, objects, dropping=True)
        y = np.ascontiguousarray(targets[:, 0])
        return used_problem(rows_of(objects), self._loss(), y, C, self._intercept_scale())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with one number each as target; `sample_weight` multiplies C for each."""
        began = time.monotonic()
        with self._all_or_nothing(), single_threaded_blas():  # once for the whole fit, because setting it is slow
            self._check_parameters()
            objects = self._kernel().coerce(X)
            self._check_features(X, objects, reset=True)
            problem = self._problem(objects, y, sample_weight, self._rows)
            refuse_overflow(problem.rows)
            refuse_overflow(problem.y)
            with reporting("Training") as report:
                solution = choice.solve(problem, **self._options(report))
            self._set_solutions([solution], problem.rows, began)
        self._warn_if_unfinished([solution])
        return self

    def _set_weights(self, weights: Weights) -> None:
        super()._set_weights(weights)
        self.coef_ = weights.coef[0]  # flat, as in scikit-learn

    def predict(self, X: Any) -> Float64:
        """The predicted number of each row."""
        return self._values(X)[:, 0]

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data and the fitted weights alone.

        For the loss that is not squared, whose dual does not follow from the weights, that takes about as long as
        training.
        """
        began = time.monotonic()
        objects = self._new_objects(X)
        return self._verified([self._problem(objects, y, sample_weight, self._columns.space.matrix)], began)
