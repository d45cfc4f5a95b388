"""The perceptron of the lectures, in a kernel's feature space and on plain vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mercer import _check
from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.lectures.perceptron_updates import KernelUpdates, WeightUpdates
from mercer.lectures.traced_classifier import TracedKernelClassifier, TracedLinearClassifier
from mercer.training.kernelised import KernelLike


class KernelPerceptron(TracedKernelClassifier):
    """The perceptron with any kernel: for each object in turn, if it is misclassified, alpha_i += 1.

    Scores are f(x) = b + sum_i alpha_i y_i k(x_i, x); a score of 0 predicts +1, the second class. Training ends with
    the first epoch that has no mistake. Objects that are separable with margin gamma (in feature space, without a
    bias), within a radius R, cost at most (R / gamma)^2 mistakes in all.

    Parameters
    ----------
    kernel, gamma, degree, coef0, memory : as in `SVC`.
    epochs : the largest number of passes.
    fit_intercept : whether each mistake also moves b by y_i.
    averaged : predict with the mean of all machines, one per object shown, instead of the last.
    margin : learn also from objects whose score is right but smaller than this.
    shuffle, random_state : whether each epoch shuffles the objects; else they come as they are.
    time_limit : the largest number of seconds; None for no limit.

    Attributes
    ----------
    counts_ : alpha, the number of updates by each training object, one column per machine.
    trace_ : mistakes in each epoch (`traces_` for more than two classes); converged_ : whether the last had none.

    >>> from mercer import KernelPerceptron, kernels
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = KernelPerceptron(kernel=kernels.Polynomial(degree=2)).fit(xor, [0, 1, 1, 0])
    >>> model.predict(xor), model.converged_
    (array([0, 1, 1, 0]), True)
    """

    counts_: Float64
    _per_object = "counts_"

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        epochs: int = 100,
        fit_intercept: bool = True,
        averaged: bool = False,
        margin: float = 0.0,
        shuffle: bool = False,
        random_state: Any = None,
        memory: float | str = "auto",
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.epochs = epochs
        self.fit_intercept = fit_intercept
        self.averaged = averaged
        self.margin = margin
        self.shuffle = shuffle
        self.random_state = random_state
        self.memory = memory
        self.time_limit = time_limit

    def _check_parameters(self) -> None:
        _check_perceptron(self)

    def _algorithm(self, data: Gram, signs: Float64) -> KernelUpdates:
        return KernelUpdates(data.dense(), signs, **_settings(self, len(signs)))

    @property
    def converged_(self) -> bool:
        """Whether the last epoch of every machine had no mistake."""
        return all(trace.last == 0 for trace in self.traces_)


class PrimalPerceptron(TracedLinearClassifier):
    """The perceptron on vectors: if x_i is misclassified, w <- w + eta y_i x_i and b <- b + eta y_i.

    From w = 0 the learning rate eta scales w and b and changes no prediction (unless a `margin` is asked for).

    Parameters
    ----------
    learning_rate : eta > 0.
    epochs, fit_intercept, averaged, margin, shuffle, random_state, time_limit : as in `KernelPerceptron`.

    >>> from mercer import PrimalPerceptron
    >>> model = PrimalPerceptron().fit([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [-1, 1])
    >>> model.coef_, model.intercept_
    (array([[-1.,  1.,  0.]]), array([0.]))
    """

    def __init__(
        self,
        *,
        learning_rate: float = 1.0,
        epochs: int = 100,
        fit_intercept: bool = True,
        averaged: bool = False,
        margin: float = 0.0,
        shuffle: bool = False,
        random_state: Any = None,
        time_limit: float | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.fit_intercept = fit_intercept
        self.averaged = averaged
        self.margin = margin
        self.shuffle = shuffle
        self.random_state = random_state
        self.time_limit = time_limit

    def _check_parameters(self) -> None:
        _check_perceptron(self)
        _check.real(type(self).__name__, "learning_rate", self.learning_rate, low=0, low_open=True, high_open=True)

    def _algorithm(self, data: Float64, signs: Float64) -> WeightUpdates:
        return WeightUpdates(data, signs, learning_rate=float(self.learning_rate), **_settings(self, len(signs)))

    @property
    def converged_(self) -> bool:
        """Whether the last epoch of every machine had no mistake."""
        return all(trace.last == 0 for trace in self.traces_)


def _check_perceptron(model: Any) -> None:
    owner = type(model).__name__
    _check.integer(owner, "epochs", model.epochs, low=1)
    _check.real(owner, "margin", model.margin, low=0, high_open=True)
    for name in ("fit_intercept", "averaged", "shuffle"):
        _check.boolean(owner, name, getattr(model, name))


def _settings(model: Any, n: int) -> dict[str, Any]:
    """What both forms of the perceptron take."""
    order = None
    if model.shuffle:
        random = check_random_state(model.random_state)
        order = np.array([random.permutation(n) for _ in range(int(model.epochs))], dtype=np.intp)
    return {
        "epochs": int(model.epochs),
        "margin": float(model.margin),
        "intercept": bool(model.fit_intercept),
        "order": order,
        "averaged": bool(model.averaged),
    }
