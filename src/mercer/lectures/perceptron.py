"""The perceptron of the lectures, in a kernel's feature space and on plain vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.lectures.exact import Aim
from mercer.lectures.perceptron_updates import KernelUpdates, WeightUpdates
from mercer.lectures.traced_classifier import (
    TRACED_KERNEL,
    TracedClassifier,
    TracedKernelClassifier,
    TracedLinearClassifier,
)
from mercer.losses.hinge import Hinge
from mercer.training.parameters import KernelParameters
from mercer.training.storing import ArrayField, Field


@dataclass(kw_only=True, eq=False, repr=False)
class _Perceptron(TracedClassifier):
    """What the perceptron shares on objects and on vectors."""

    epochs: int = 100
    fit_intercept: bool = True
    averaged: bool = False
    margin: float = 0.0
    shuffle: bool = False
    random_state: Any = None
    time_limit: float | None = None

    @property
    def converged_(self) -> bool:
        """Whether the last epoch of every machine had no mistake."""
        check_is_fitted(self)
        return all(trace.last == 0 for trace in self.traces_)

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.integer(owner, "epochs", self.epochs, low=1)
        _check.real(owner, "margin", self.margin, low=0, high_open=True)
        for name in ("fit_intercept", "averaged", "shuffle"):
            _check.boolean(owner, name, getattr(self, name))

    def _aim(self, n: int) -> Aim:
        return Aim(Hinge(), math.inf, intercept=bool(self.fit_intercept))

    def _settings(self, n: int) -> dict[str, Any]:
        """The settings of the algorithm on n objects."""
        order = None
        if self.shuffle:
            random = check_random_state(self.random_state)
            order = np.array([random.permutation(n) for _ in range(int(self.epochs))], dtype=np.intp)
        return {
            "epochs": int(self.epochs),
            "margin": float(self.margin),
            "intercept": bool(self.fit_intercept),
            "order": order,
            "averaged": bool(self.averaged),
        }


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(_Perceptron, KernelParameters, TracedKernelClassifier):
    """The perceptron with any kernel: for each object in turn, if it is misclassified, alpha_i += 1.

    Scores are f(x) = b + sum_i alpha_i y_i k(x_i, x); a score of 0 predicts +1, the second class. Training ends with
    the first epoch that has no mistake. Objects that are separable with margin gamma (in feature space, without a
    bias), within a radius R, cost at most (R / gamma)^2 mistakes in all.

    Parameters
    ----------
    kernel, gamma, degree, coef0, memory, psd : as in `SVC`.
    epochs : the largest number of passes.
    fit_intercept : whether each mistake also moves b by y_i.
    averaged : predict with the mean of all machines, one per object shown, instead of the last.
    margin : learn also from objects whose score is right but smaller than this.
    shuffle, random_state : whether each epoch shuffles the objects; else they come as they are.
    time_limit : the largest number of seconds; None for no limit.

    Attributes
    ----------
    counts_ : alpha, the number of updates by each training object, one column per machine.
    traces_ : mistakes in each epoch, for each machine; `trace_` for two classes.
    converged_ : whether the last epoch had no mistake.
    certificate_ : how far the margin is from the largest one, told by 1/2 |w|^2 with the nearest object at 1.
    trace_ : the only trace, of two classes.
    classes_ : the labels, sorted.
    support_ : positions of the objects that were learnt from.
    dual_coef_, intercept_ : their coefficients and the constants, a row for each machine.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import KernelPerceptron, kernels
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = KernelPerceptron(kernel=kernels.Polynomial(degree=2)).fit(xor, [0, 1, 1, 0])
    >>> model.predict(xor), model.converged_
    (array([0, 1, 1, 0]), True)
    """

    _per_object = "counts_"
    _fields: ClassVar[Mapping[str, Field]] = {**TRACED_KERNEL, "counts_": ArrayField("f", "objects", "outputs")}

    def _algorithm(self, data: Gram, signs: Float64) -> KernelUpdates:
        return KernelUpdates(data.dense(), signs, **self._settings(len(signs)))


@dataclass(kw_only=True, eq=False, repr=False)
class PrimalPerceptron(_Perceptron, TracedLinearClassifier):
    """The perceptron on vectors: if x_i is misclassified, w <- w + eta y_i x_i and b <- b + eta y_i.

    From w = 0 the learning rate eta scales w and b and changes no prediction (unless a `margin` is asked for).

    Parameters
    ----------
    learning_rate : eta > 0.
    epochs, fit_intercept, averaged, margin, shuffle, random_state, time_limit : as in `KernelPerceptron`.

    Attributes
    ----------
    classes_ : the labels.
    coef_, intercept_ : w and b, a row for each machine.
    traces_, converged_, certificate_ : as in `KernelPerceptron`.
    trace_ : the only trace, of two classes.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import PrimalPerceptron
    >>> model = PrimalPerceptron().fit([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [-1, 1])
    >>> model.coef_, model.intercept_
    (array([[-1.,  1.,  0.]]), array([0.]))
    """

    learning_rate: float = 1.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check.real(type(self).__name__, "learning_rate", self.learning_rate, low=0, low_open=True, high_open=True)

    def _algorithm(self, data: Float64, signs: Float64) -> WeightUpdates:
        return WeightUpdates(data, signs, learning_rate=float(self.learning_rate), **self._settings(len(signs)))
