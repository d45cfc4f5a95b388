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

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer.gram.matrix import Gram
from mercer.solvers.trace import Float64, Recorder, Trace

Order = npt.NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class Perceptron:
    """What a run ended with. `alpha` counts the updates by each object; the means are over every object shown."""

    alpha: Float64
    mean_alpha: Float64
    intercept: float
    mean_intercept: float
    converged: bool
    """Whether the last epoch had no mistake."""
    trace: Trace


@final
@dataclass(frozen=True, eq=False)
class PrimalPerceptron:
    """The same, with the weights and their mean."""

    weights: Float64
    mean_weights: Float64
    intercept: float
    mean_intercept: float
    alpha: Float64
    converged: bool
    trace: Trace


def kernel_perceptron(
    gram: Gram, y: Float64, *, epochs: int, margin: float = 0.0, intercept: bool = True, order: Order | None = None
) -> Perceptron:
    """At most so many epochs, fewer when one passes without a mistake; `order` has one row per epoch."""
    K = gram.dense()
    n = len(y)
    alpha, late, scores = np.zeros(n), np.zeros(n), np.zeros(n)
    bias = np.zeros(2)  # b, and what its updates missed of the mean
    recorder = Recorder("mistakes")
    shown, mistakes = 0, -1
    for epoch in range(epochs):
        turn = np.arange(n) if order is None else order[epoch]
        mistakes = _kernel_epoch(K, y, turn, margin, intercept, shown, alpha, late, scores, bias)
        shown += n
        recorder.add(epoch + 1, float(mistakes))
        if mistakes == 0:
            break
    means = alpha - late / shown, float(bias[0] - bias[1] / shown)
    return Perceptron(alpha, means[0], float(bias[0]), means[1], mistakes == 0, recorder.trace())


def primal_perceptron(
    X: Float64,
    y: Float64,
    *,
    epochs: int,
    learning_rate: float = 1.0,
    margin: float = 0.0,
    intercept: bool = True,
    order: Order | None = None,
) -> PrimalPerceptron:
    """The slide's own form, on vectors."""
    n, d = X.shape
    alpha = np.zeros(n)
    # The bias rides along as the last weight; `late` is what updates missed of the mean.
    weights, late = np.zeros(d + 1), np.zeros(d + 1)
    recorder = Recorder("mistakes")
    shown, mistakes = 0, -1
    for epoch in range(epochs):
        turn = np.arange(n) if order is None else order[epoch]
        mistakes = _primal_epoch(X, y, turn, margin, learning_rate, intercept, shown, weights, late, alpha)
        shown += n
        recorder.add(epoch + 1, float(mistakes))
        if mistakes == 0:
            break
    mean = weights - late / shown
    return PrimalPerceptron(
        weights[:d], mean[:d], float(weights[d]), float(mean[d]), alpha, mistakes == 0, recorder.trace()
    )


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
