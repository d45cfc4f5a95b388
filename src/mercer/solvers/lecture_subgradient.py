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

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.trace import Float64, Recorder, Trace


@final
@dataclass(frozen=True, eq=False)
class Descent:
    """Weights, intercept, and how they were reached."""

    weights: Float64
    intercept: float
    trace: Trace


def batch_subgradient(
    X: Float64, y: Float64, C: float, *, steps: int, learning_rate: float, printed: bool = False
) -> Descent:
    """Descend on |w|^2 + C sum hinge, over w and b."""
    recorder = Recorder("objective")
    w, b = np.zeros(X.shape[1]), 0.0
    best, best_w, best_b = np.inf, w, b
    diverged = False
    for step in range(steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):  # the printed form may outgrow all numbers
            margins = y * (X @ w + b)
            value = float(w @ w + C * np.maximum(0.0, 1.0 - margins).sum())
        if not np.isfinite(value):
            diverged = True
            break
        recorder.add(step, value)
        if printed or value < best:
            best, best_w, best_b = value, w, b
        if step == steps:
            break
        inside = margins < 1.0
        if printed:
            inside = np.full(len(y), inside.any())
        slope_w = 2.0 * w - C * (y[inside] @ X[inside])
        slope_b = -C * float(y[inside].sum())
        rate = learning_rate
        if not printed:
            length = float(np.sqrt(slope_w @ slope_w + slope_b * slope_b))
            if length == 0:
                break  # the minimum itself
            rate = learning_rate / (length * np.sqrt(step + 1.0))
        w, b = w - rate * slope_w, b - rate * slope_b
    return Descent(best_w, float(best_b), recorder.trace(diverged=diverged))


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
) -> Descent:
    """Descend on 1/2 |w|^2 + C/N sum hinge, over w, one random object at a time."""
    n = len(y)
    recorder = Recorder("objective")
    w, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    pull = C / n if printed else C
    done = 0
    recorder.add(0, _objective(X, y, C, w))
    while done < steps:
        size = min(record_every, steps - done)
        drawn = random_state.integers(n, size=size)
        _stochastic_steps(X, y, pull, drawn, learning_rate, done, steps // 2, w, total)
        done += size
        recorder.add(done, _objective(X, y, C, w))
    mean = total / (steps - steps // 2)
    return Descent(w if printed else mean, 0.0, recorder.trace())


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
