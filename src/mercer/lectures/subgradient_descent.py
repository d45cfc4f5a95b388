"""Subgradient descent on the weights, all objects at a time or one.

Batch       minimise  E(w, b) = |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b))
Slide       w <- w + eta (C sum_i y_i x_i - 2 w),  b <- b + eta C sum_i y_i
Corrected   the sums run over the objects inside the margin, y_i (w.x_i + b) < 1; steps of length 1 / sqrt(t), which
            shrink slowly enough to arrive anywhere and fast enough to settle; the best point met is kept
Constant    the sums of the corrected form with a constant eta; the last point is kept
Printed     the same, but the indicator stands in front of the sums: if any object is inside the margin, all are summed

Stochastic  minimise  F(w) = 1/2 |w|^2 + C/N sum_i max(0, 1 - y_i w.x_i), without b
Slide       pick i at random; w <- w - eta_t (w - (C/N) y_i x_i) if y_i w.x_i < 1, else w <- w - eta_t w
Corrected   C y_i x_i in place of (C/N) y_i x_i: a random term of a mean stands for the mean, not for its N-th part; the
            result is the mean over the second half of the steps
Printed     (C/N) y_i x_i: what it descends on is F with C/N in place of C

Both use eta_t = 1 / t, which suits the strong convexity of 1/2 |w|^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.lectures.run import LectureRun


@final
@dataclass(eq=False)
class BatchSubgradient(LectureRun):
    """Descend on |w|^2 + C sum hinge, over w and b."""

    X: Float64
    y: Float64
    C: float
    steps: int
    learning_rate: float
    constant: bool = False
    printed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._w, self._b = np.zeros(self.X.shape[1]), 0.0
        self._best, self._best_w, self._best_b = np.inf, self._w, self._b
        self._margins = self._evaluate()

    def point(self) -> tuple[Float64, float]:
        return self._best_w, self._best_b

    def _evaluate(self) -> Float64:
        """Record the objective at w and b, and return the margins."""
        with np.errstate(over="ignore", invalid="ignore"):  # constant steps may diverge beyond the largest float
            margins: Float64 = self.y * (self.X @ self._w + self._b)
            value = float(self._w @ self._w + self.C * np.maximum(0.0, 1.0 - margins).sum())
        if not np.isfinite(value):
            self.done = self.diverged = True
            return margins
        self.record(self.iterations, value)
        if self.constant or value < self._best:
            self._best, self._best_w, self._best_b = value, self._w, self._b
        return margins

    def one_step(self) -> None:
        inside = self._margins < 1.0
        if self.printed:
            inside = np.full(len(self.y), inside.any())
        slope_w = 2.0 * self._w - self.C * (self.y[inside] @ self.X[inside])
        slope_b = -self.C * float(self.y[inside].sum())
        rate = self.learning_rate
        if not self.constant:
            length = float(np.sqrt(slope_w @ slope_w + slope_b * slope_b))
            if length == 0:
                self.done = True  # the minimum itself
                return
            rate = self.learning_rate / (length * np.sqrt(self.iterations + 1.0))
        self._w, self._b = self._w - rate * slope_w, float(self._b - rate * slope_b)
        self.iterations += 1
        self._margins = self._evaluate()
        self.done = self.done or self.iterations >= self.steps


@final
@dataclass(eq=False)
class StochasticSubgradient(LectureRun):
    """Descend on 1/2 |w|^2 + C/N sum hinge, over w, one random object at a time."""

    X: Float64
    y: Float64
    C: float
    steps: int
    learning_rate: float
    record_every: int
    random_state: np.random.Generator
    printed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._w, self._total = np.zeros(self.X.shape[1]), np.zeros(self.X.shape[1])
        self._pull = self.C / len(self.y) if self.printed else self.C
        self._drawn = np.zeros(0, dtype=np.int64)
        self.record(0, self._objective())

    def point(self) -> tuple[Float64, float]:
        summed = self.iterations - self.steps // 2
        return (self._w if self.printed or summed <= 0 else self._total / summed), 0.0

    def step(self, iterations: int) -> None:
        if not len(self._drawn):  # drawn from one record to the next, however steps are cut into chunks
            size = min(self.record_every, self.steps - self.iterations)
            self._drawn = self.random_state.integers(len(self.y), size=size)
        now, self._drawn = self._drawn[:iterations], self._drawn[iterations:]
        half, rate = self.steps // 2, self.learning_rate
        _stochastic_steps(self.X, self.y, self._pull, now, rate, self.iterations, half, self._w, self._total)
        self.iterations += len(now)
        if not len(self._drawn):
            self.record(self.iterations, self._objective())
            self.done = self.iterations >= self.steps

    def _objective(self) -> float:
        hinge = np.maximum(0.0, 1.0 - self.y * (self.X @ self._w))
        return float(0.5 * (self._w @ self._w) + self.C * hinge.mean())


@jit
def _stochastic_steps(
    X: Array, y: Array, pull: float, drawn: Array, rate: float, done: int, skipped: int, w: Array, total: Array
) -> None:
    d = w.shape[0]
    for position in range(drawn.shape[0]):
        i = drawn[position]
        step = done + position + 1
        eta = rate / step
        score = 0.0
        for k in range(d):
            score += w[k] * X[i, k]
        inside = y[i] * score < 1.0
        for k in range(d):
            w[k] -= eta * w[k]
            if inside:
                w[k] += eta * pull * y[i] * X[i, k]
            if step > skipped:
                total[k] += w[k]
