"""The perceptron, in the weights w and in the counts alpha.

Problem   find w, b with y_i (w.x_i + b) > 0 for all i
Given     labels -1 and +1; an order in which each epoch goes through the objects
Update    where an object is misclassified (a score of 0 predicts +1): w <- w + eta y_i x_i and b <- b + eta y_i; or,
          for the same machine in a kernel's feature space, alpha_i <- alpha_i + 1, with w = sum_i alpha_i y_i phi(x_i)
Result    weights or counts of the last round, and their mean over all rounds

The kernel form keeps the scores of all objects, so that only mistakes cost anything: one row of K each. With a
`margin`, an object is also learnt from when its score is right but smaller than that.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.gram.contract import Gram
from mercer.lectures.run import LectureRun, TracedFit
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.solution import Solution, Stats, Status


@final
@dataclass(frozen=True, eq=False)
class PerceptronFit:
    """The last machine and the mean of all that were met, one per object shown.

    Coefficients are weights of features in the primal form, and signed counts of updates in the kernel form.
    """

    last: TracedFit
    mean: TracedFit
    converged: bool
    """Whether the last epoch had no mistake."""


def kernel_perceptron(
    gram: Gram,
    y: Float64,
    *,
    epochs: int,
    margin: float = 0.0,
    intercept: bool = True,
    order: Indices | None = None,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> PerceptronFit:
    """At most `epochs` epochs, fewer when one passes without a mistake; `order` has one row per epoch."""
    return _Kernel(gram.dense(), y, margin, intercept, epochs, order).fitted(limits, on_chunk)


def primal_perceptron(
    X: Float64,
    y: Float64,
    *,
    epochs: int,
    learning_rate: float = 1.0,
    margin: float = 0.0,
    intercept: bool = True,
    order: Indices | None = None,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> PerceptronFit:
    """The slide's own form, on vectors."""
    return _Primal(X, y, learning_rate, margin, intercept, epochs, order).fitted(limits, on_chunk)


class _Epochs(LectureRun):
    """Objects are shown one after the other, epoch after epoch, until one passes without a mistake."""

    def __init__(self, n: int, epochs: int, order: Indices | None) -> None:
        super().__init__("mistakes")
        self._n, self._epochs, self._order = n, epochs, order
        self._mistakes = 0
        self.alpha = np.zeros(n)
        self.faultless = False

    @abstractmethod
    def mean(self, shown: int) -> tuple[Float64, float]:
        """The mean coefficients and intercept over so many machines."""

    def fitted(self, limits: Limits | None, on_chunk: OnChunk | None) -> PerceptronFit:
        """Run to the end, or as far as the limits allow."""
        last = dataclasses.replace(self.result(limits, on_chunk), updates=self.alpha)
        coefficients, intercept = self.mean(max(self.iterations, 1))
        mean = dataclasses.replace(last, coefficients=coefficients, intercept=intercept)
        return PerceptronFit(last, mean, self.faultless)

    @abstractmethod
    def _show(self, turn: Indices, shown: int) -> int:
        """Show these objects, `shown` others having come before; the number of mistakes."""

    def step(self, iterations: int) -> None:
        epoch, position = divmod(self.iterations, self._n)
        turn = np.arange(self._n) if self._order is None else self._order[epoch]
        part = turn[position : position + iterations]
        self._mistakes += self._show(part, self.iterations)
        self.iterations += len(part)
        if position + len(part) == self._n:
            self.recorder.add(epoch + 1, float(self._mistakes))
            self.faultless = self._mistakes == 0
            self.done = self.faultless or epoch + 1 == self._epochs
            self._mistakes = 0

    def finish(self, status: Status, stats: Stats) -> Solution:
        if not self.done:  # the epoch that a limit ended
            self.recorder.add(self.iterations // self._n + 1, float(self._mistakes))
        return super().finish(status, stats)


@final
class _Kernel(_Epochs):
    def __init__(
        self, K: npt.NDArray[Any], y: Float64, margin: float, intercept: bool, epochs: int, order: Indices | None
    ) -> None:
        super().__init__(len(y), epochs, order)
        self._K, self._y, self._margin, self._intercept = K, y, margin, intercept
        self.late, self._scores = np.zeros(len(y)), np.zeros(len(y))
        self.bias = np.zeros(2)  # b, and what its updates missed of the mean

    def point(self) -> tuple[Float64, Float64, float]:
        return self.alpha * self._y, self._scores, float(self.bias[0])

    def mean(self, shown: int) -> tuple[Float64, float]:
        return (self.alpha - self.late / shown) * self._y, float(self.bias[0] - self.bias[1] / shown)

    def _show(self, turn: Indices, shown: int) -> int:
        return _kernel_epoch(
            self._K, self._y, turn, self._margin, self._intercept, shown, self.alpha, self.late, self._scores, self.bias
        )


@final
class _Primal(_Epochs):
    def __init__(
        self, X: Float64, y: Float64, rate: float, margin: float, intercept: bool, epochs: int, order: Indices | None
    ) -> None:
        super().__init__(len(y), epochs, order)
        self._X, self._y, self._rate, self._margin, self._intercept = X, y, rate, margin, intercept
        # The bias rides along as the last weight; `late` is what updates missed of the mean.
        self.weights, self.late = np.zeros(X.shape[1] + 1), np.zeros(X.shape[1] + 1)

    def point(self) -> tuple[Float64, Float64, float]:
        w = self.weights[:-1]
        return w, self._X @ w, float(self.weights[-1])

    def mean(self, shown: int) -> tuple[Float64, float]:
        mean = self.weights - self.late / shown
        return mean[:-1], float(mean[-1])

    def _show(self, turn: Indices, shown: int) -> int:
        return _primal_epoch(
            self._X, self._y, turn, self._margin, self._rate, self._intercept, shown, self.weights, self.late,
            self.alpha,
        )  # fmt: skip


@jit
def _wrong(score: float, label: float, margin: float) -> bool:
    predicted = 1.0 if score >= 0.0 else -1.0
    return predicted != label or label * score < margin


@jit
def _kernel_epoch(
    K: Array, y: Array, turn: Array, margin: float, intercept: bool, shown: int,
    alpha: Array, late: Array, scores: Array, bias: Array,
) -> int:  # fmt: skip
    mistakes = 0
    for position in range(turn.shape[0]):
        i = turn[position]
        if _wrong(scores[i] + bias[0], y[i], margin):
            mistakes += 1
            alpha[i] += 1.0
            late[i] += shown + position
            if intercept:
                bias[0] += y[i]
                bias[1] += y[i] * (shown + position)
            row = K[i]
            for j in range(scores.shape[0]):
                scores[j] += y[i] * row[j]
    return mistakes


@jit
def _primal_epoch(
    X: Array, y: Array, turn: Array, margin: float, rate: float, intercept: bool, shown: int,
    weights: Array, late: Array, alpha: Array,
) -> int:  # fmt: skip
    d = X.shape[1]
    mistakes = 0
    for position in range(turn.shape[0]):
        i = turn[position]
        score = weights[d]
        for k in range(d):
            score += weights[k] * X[i, k]
        if _wrong(score, y[i], margin):
            mistakes += 1
            alpha[i] += 1.0
            step = rate * y[i]
            for k in range(d):
                weights[k] += step * X[i, k]
                late[k] += step * X[i, k] * (shown + position)
            if intercept:
                weights[d] += step
                late[d] += step * (shown + position)
    return mistakes
