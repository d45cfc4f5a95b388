"""The perceptron, in the weights w and in the counts alpha.

Problem   find w, b with y_i (w.x_i + b) > 0 for all i
Given     labels -1 and +1; an order in which each epoch goes through the objects
Update    where an object is misclassified (a score of 0 predicts +1): w <- w + eta y_i x_i and b <- b + eta y_i; or,
          for the same machine in a kernel's feature space, alpha_i <- alpha_i + 1, with w = sum_i alpha_i y_i phi(x_i)
Result    weights or counts of the last round, and their mean over all rounds

The kernel form keeps the scores of all objects, so only mistakes cost anything: one row of K each. With a `margin`,
an object is also learnt from when its score is right but smaller than that.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Floating, Indices
from mercer.lectures.run import LectureRun
from mercer.solvers.solution import Solution, Stats, Status


@dataclass(eq=False)
class PerceptronUpdates(LectureRun):
    """Objects are shown one after the other, epoch after epoch, until an epoch passes without a mistake."""

    traced: ClassVar[str] = "mistakes"

    rows: Floating
    """Of the Gram matrix, or vectors."""
    y: Float64
    _: KW_ONLY
    epochs: int
    margin: float = 0.0
    intercept: bool = True
    order: Indices | None = None
    """One row of positions for each epoch; None to take the objects as they come."""
    averaged: bool = False
    """Whether the result is the mean over all objects shown, not the last machine."""

    def __post_init__(self) -> None:
        super().__post_init__()
        n, columns = self.rows.shape
        self.steps = self.epochs * n
        # The bias is the last weight; `_late` is what late updates miss of the mean.
        self._weights, self._late = np.zeros(columns + 1), np.zeros(columns + 1)
        self.updates = np.zeros(n)
        self._mistakes = 0

    @abstractmethod
    def _show(self, turn: Indices) -> int:
        """Show these objects, and return the number of mistakes."""

    def point(self) -> tuple[Float64, float]:
        late = self._late / max(self.iterations, 1) if self.averaged else 0.0
        found = self._weights - late
        return found[:-1], float(found[-1])

    def step(self, iterations: int) -> None:
        n = len(self.y)
        epoch, position = divmod(self.iterations, n)
        turn = np.arange(n) if self.order is None else self.order[epoch]
        part = turn[position : position + iterations]
        self._mistakes += self._show(part)
        self.iterations += len(part)
        if position + len(part) == n:
            self.record(epoch + 1, float(self._mistakes))
            self.done = self._mistakes == 0 or epoch + 1 == self.epochs
            self._mistakes = 0

    def finish(self, status: Status, stats: Stats) -> Solution:
        if not self.done:  # the epoch that a limit ended
            self.record(self.iterations // len(self.y) + 1, float(self._mistakes))
        return super().finish(status, stats)


@final
@dataclass(eq=False)
class KernelUpdates(PerceptronUpdates):
    """The perceptron in a kernel's feature space: `rows` are those of its Gram matrix."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._scores = np.zeros(len(self.y))
        self.updates = self._weights[:-1]

    def point(self) -> tuple[Float64, float]:
        counts, intercept = super().point()
        return counts * self.y, intercept

    def _show(self, turn: Indices) -> int:
        return _kernel_epoch(
            self.rows, self.y, turn, self.margin, self.intercept, self.iterations, self._weights, self._late,
            self._scores,
        )  # fmt: skip


@final
@dataclass(eq=False)
class WeightUpdates(PerceptronUpdates):
    """The slide's own form, on vectors."""

    learning_rate: float = field(default=1.0, kw_only=True)

    def _show(self, turn: Indices) -> int:
        return _primal_epoch(
            self.rows, self.y, turn, self.margin, self.learning_rate, self.intercept, self.iterations, self._weights,
            self._late, self.updates,
        )  # fmt: skip


@jit
def _wrong(score: float, label: float, margin: float) -> bool:
    predicted = 1.0 if score >= 0.0 else -1.0
    return predicted != label or label * score < margin


@jit
def _kernel_epoch(
    K: Array, y: Array, turn: Array, margin: float, intercept: bool, shown: int,
    weights: Array, late: Array, scores: Array,
) -> int:  # fmt: skip
    n = scores.shape[0]
    mistakes = 0
    for position in range(turn.shape[0]):
        i = turn[position]
        if _wrong(scores[i] + weights[n], y[i], margin):
            mistakes += 1
            weights[i] += 1.0
            late[i] += shown + position
            if intercept:
                weights[n] += y[i]
                late[n] += y[i] * (shown + position)
            row = K[i]
            for j in range(n):
                scores[j] += y[i] * row[j]
    return mistakes


@jit
def _primal_epoch(
    X: Array, y: Array, turn: Array, margin: float, rate: float, intercept: bool, shown: int,
    weights: Array, late: Array, updates: Array,
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
            updates[i] += 1.0
            step = rate * y[i]
            for k in range(d):
                weights[k] += step * X[i, k]
                late[k] += step * X[i, k] * (shown + position)
            if intercept:
                weights[d] += step
                late[d] += step * (shown + position)
    return mistakes
