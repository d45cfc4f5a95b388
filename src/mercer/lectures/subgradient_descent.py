"""Subgradient descent on the weights, all objects at a time or one.

Batch       minimise  E(w, b) = |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b))
Slide       w <- w + eta (C sum_i y_i x_i - 2 w),  b <- b + eta C sum_i y_i
Corrected   the sums run over the objects inside the margin, y_i (w.x_i + b) < 1; steps of length 1 / sqrt(t), which
            shrink slowly enough to arrive anywhere and fast enough to settle; the best point met is kept
Printed     the indicator stands in front of the sums: if any object is inside the margin, all are summed; eta is
            constant

Stochastic  minimise  F(w) = 1/2 |w|^2 + C/N sum_i max(0, 1 - y_i w.x_i), without b
Slide       pick i at random; w <- w - eta_t (w - (C/N) y_i x_i) if y_i w.x_i < 1, else w <- w - eta_t w
Corrected   C y_i x_i in place of (C/N) y_i x_i: a random term of a mean stands for the mean, not for its N-th part; the
            result is the mean over the second half of the steps
Printed     (C/N) y_i x_i: what it descends on is F with C/N in place of C

Both use eta_t = 1 / t, which suits the strong convexity of 1/2 |w|^2.
"""

from __future__ import annotations

from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.lectures.run import LectureRun, TracedFit
from mercer.solvers.drive import Limits, OnChunk


def batch_subgradient(
    X: Float64,
    y: Float64,
    C: float,
    *,
    steps: int,
    learning_rate: float,
    printed: bool = False,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> TracedFit:
    """Descend on |w|^2 + C sum hinge, over w and b."""
    return _Batch(X, y, C, steps, learning_rate, printed).result(limits, on_chunk)


@final
class _Batch(LectureRun):
    def __init__(self, X: Float64, y: Float64, C: float, steps: int, rate: float, printed: bool) -> None:
        super().__init__("objective")
        self._X, self._y, self._C, self._steps, self._rate, self._printed = X, y, C, steps, rate, printed
        self._w, self._b = np.zeros(X.shape[1]), 0.0
        self._best, self.best_w, self.best_b = np.inf, self._w, self._b
        self._margins = self._judged()

    def point(self) -> tuple[Float64, Float64, float]:
        return self.best_w, self._X @ self.best_w, self.best_b

    def _judged(self) -> Float64:
        """The margins at w and b, whose objective is recorded."""
        with np.errstate(over="ignore", invalid="ignore"):  # the printed form may outgrow all numbers
            margins: Float64 = self._y * (self._X @ self._w + self._b)
            value = float(self._w @ self._w + self._C * np.maximum(0.0, 1.0 - margins).sum())
        if not np.isfinite(value):
            self.done = self.diverged = True
            return margins
        self.recorder.add(self.iterations, value)
        if self._printed or value < self._best:
            self._best, self.best_w, self.best_b = value, self._w, self._b
        return margins

    def step(self, iterations: int) -> None:
        for _ in range(iterations):
            if not self.done:
                self._one()

    def _one(self) -> None:
        inside = self._margins < 1.0
        if self._printed:
            inside = np.full(len(self._y), inside.any())
        slope_w = 2.0 * self._w - self._C * (self._y[inside] @ self._X[inside])
        slope_b = -self._C * float(self._y[inside].sum())
        rate = self._rate
        if not self._printed:
            length = float(np.sqrt(slope_w @ slope_w + slope_b * slope_b))
            if length == 0:
                self.done = True  # the minimum itself
                return
            rate = self._rate / (length * np.sqrt(self.iterations + 1.0))
        self._w, self._b = self._w - rate * slope_w, float(self._b - rate * slope_b)
        self.iterations += 1
        self._margins = self._judged()
        self.done = self.done or self.iterations >= self._steps


def stochastic_subgradient(
    X: Float64,
    y: Float64,
    C: float,
    *,
    steps: int,
    learning_rate: float,
    record_every: int,
    random_state: np.random.Generator,
    printed: bool = False,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> TracedFit:
    """Descend on 1/2 |w|^2 + C/N sum hinge, over w, one random object at a time."""
    run = _Stochastic(X, y, C, steps, learning_rate, record_every, random_state, printed)
    return run.result(limits, on_chunk)


@final
class _Stochastic(LectureRun):
    def __init__(
        self,
        X: Float64,
        y: Float64,
        C: float,
        steps: int,
        rate: float,
        record_every: int,
        random: np.random.Generator,
        printed: bool,
    ) -> None:
        super().__init__("objective")
        self._X, self._y, self._C, self._steps, self._rate, self._printed = X, y, C, steps, rate, printed
        self._every, self._random = record_every, random
        self._w, self._total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        self._pull = C / len(y) if printed else C
        self._drawn = np.zeros(0, dtype=np.int64)
        self.recorder.add(0, _objective(X, y, C, self._w))

    def point(self) -> tuple[Float64, Float64, float]:
        summed = self.iterations - self._steps // 2
        w = self._w if self._printed or summed <= 0 else self._total / summed
        return w, self._X @ w, 0.0

    def step(self, iterations: int) -> None:
        if not len(self._drawn):  # drawn from one record to the next, however steps are cut into chunks
            self._drawn = self._random.integers(len(self._y), size=min(self._every, self._steps - self.iterations))
        now, self._drawn = self._drawn[:iterations], self._drawn[iterations:]
        half = self._steps // 2
        _stochastic_steps(self._X, self._y, self._pull, now, self._rate, self.iterations, half, self._w, self._total)
        self.iterations += len(now)
        if not len(self._drawn):
            self.recorder.add(self.iterations, _objective(self._X, self._y, self._C, self._w))
            self.done = self.iterations >= self._steps


def _objective(X: Float64, y: Float64, C: float, w: Float64) -> float:
    return float(0.5 * (w @ w) + C * np.maximum(0.0, 1.0 - y * (X @ w)).mean())


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
