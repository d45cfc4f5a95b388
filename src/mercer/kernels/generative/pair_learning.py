"""Maximum a posteriori estimates for pair hidden Markov models, by the Baum-Welch algorithm on pairs of strings.

Given what is hidden, the probability of a pair is a product of `stop` or 1 - `stop` for each place where the word of
classes ends or goes on, of `gap_open` or 1 - `gap_open` for the two gaps of each place, of `gap_extend` or 1 -
`gap_extend` for each symbol of a gap, and of the emissions. So a step only needs the expected numbers of matched pairs
of symbols and of gaps, and has a closed form that treats both strings alike: the estimate is again a mixture of
classes, and its kernel is positive semi-definite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64

_MOST_STEPS, _LEAST_GAIN = 40, 1e-5
"""Learning ends after this many steps, or when the relative gain of a step is smaller than this. A step costs as much
as comparing all pairs, and later ones change the kernel little."""
_SEEN = 2.0
"""How many observations the initial rates count for, in addition to the data."""


@final
@dataclass(frozen=True, eq=False)
class PairModel:
    """Rates (to open a gap, to extend it, to stop), symbols of gaps, and classes of matched symbols."""

    rates: Float64
    background: Float64
    weights: Float64
    classes: Float64
    given: Float64 | None = None

    @property
    def match(self) -> Float64:
        """The probability that two matched symbols are a and b: as given, or the sum over c of w_c e_c(a) e_c(b)."""
        return np.asarray((self.classes.T * self.weights) @ self.classes) if self.given is None else self.given


Pairs = Sequence[tuple[Any, Any]]


def ways(rates: Float64) -> Float64:
    """Transitions between M, X and Y: MM, XM, YM, then the ends of each, then MX, XX, MY, XY, YY."""
    opened, longer, stop = (float(rate) for rate in rates)
    into = [(1 - opened) ** 2, (1 - longer) * (1 - opened), 1 - longer]
    gaps = [opened, longer, opened * (1 - opened), (1 - longer) * opened, longer]
    return np.asarray([way * (1 - stop) for way in into] + [way * stop for way in into] + gaps)


def learn_pairs(pairs: Pairs, start: PairModel, free: Sequence[bool], *, emissions: bool) -> PairModel:
    """The most probable model of pairs of coded strings near the start, which acts as a weak prior.

    `free` says which of the rates are to be found, `emissions` whether the classes are. The sum of the log-likelihood
    and the log prior rises with every step.
    """
    model, before = start, -np.inf
    for _ in range(_MOST_STEPS if pairs else 0):
        found, reached = improved(pairs, model, start, free, emissions=emissions)
        if reached - before <= _LEAST_GAIN * abs(reached):
            break
        model, before = found, reached
    return model


def improved(
    pairs: Pairs, model: PairModel, start: PairModel, free: Sequence[bool], *, emissions: bool
) -> tuple[PairModel, float]:
    """One step, and the value reached by the model before it."""
    matched, gaps, symbols, reached = 0.0 * model.match, 0.0, 0.0, 0.0
    with np.errstate(divide="ignore"):
        tables = np.log(model.match), np.log(model.background), np.log(ways(model.rates))
    for left, right in pairs:
        likelihood, opened = _expected(left, right, *tables, matched)
        reached, gaps, symbols = reached + likelihood, gaps + opened, symbols + len(left) + len(right)
    between = matched.sum() + len(pairs)  # a place for two gaps before each match, and one at the end
    inside = symbols - 2 * matched.sum()
    yes = np.asarray([gaps, inside - gaps, len(pairs)])
    no = np.asarray([2 * between - gaps, gaps, matched.sum()])
    with np.errstate(divide="ignore", invalid="ignore"):
        reached += _SEEN * float((start.rates * np.log(model.rates) + (1 - start.rates) * np.log1p(-model.rates)).sum())
    rates = (yes + _SEEN * start.rates) / (yes + no + _SEEN)
    step = replace(model, rates=np.where(free, rates, model.rates))
    if not emissions:
        return step, reached
    shown, chosen = _class_counts(matched, model)
    size = len(start.background)  # each class starts as if it had been seen this often
    reached += float(size * (_by_log(start.classes, model.classes) + _by_log(start.weights, model.weights)))
    shown, chosen = shown + size * start.classes, chosen + size * start.weights
    return replace(step, classes=shown / shown.sum(axis=1, keepdims=True), weights=chosen / chosen.sum()), reached


def _class_counts(matched: Float64, model: PairModel) -> tuple[Float64, Float64]:
    """How often each class is expected to have emitted each symbol, and to have been drawn."""
    odds = np.divide(matched, model.match, out=np.zeros_like(matched), where=model.match > 0)
    shown = model.weights[:, None] * model.classes * (model.classes @ (odds + odds.T))
    return shown, shown.sum(axis=1) / 2


def _by_log(counts: Float64, probabilities: Float64) -> float:
    some = counts > 0
    return float((counts[some] * np.log(probabilities[some])).sum())


@jit(reassociate=False)
def _expected(left: Array, right: Array, match: Array, fill: Array, numbers: Array, matched: Array) -> Any:
    """log P(left, right) and the expected number of gaps; adds expected matches of symbols to `matched`.

    All tables are logarithms, to allow strings of any length. F and B are the forward and backward tables of M, X, Y.
    """
    n, m = left.shape[0], right.shape[0]
    mm, xm, ym, m_end, x_end, y_end, mx, xx, my, xy, yy = numbers
    F = np.full((n + 1, m + 1, 3), -np.inf)
    F[0, 0, 0] = 0.0
    for i in range(n + 1):
        for j in range(m + 1):
            if i > 0 and j > 0:
                P = F[i - 1, j - 1]
                F[i, j, 0] = match[left[i - 1], right[j - 1]] + _sum(mm + P[0], xm + P[1], ym + P[2])
            if i > 0:
                P = F[i - 1, j]
                F[i, j, 1] = fill[left[i - 1]] + _sum(mx + P[0], xx + P[1], -np.inf)
            if j > 0:
                P = F[i, j - 1]
                F[i, j, 2] = fill[right[j - 1]] + _sum(my + P[0], xy + P[1], yy + P[2])
    likelihood = _sum(m_end + F[n, m, 0], x_end + F[n, m, 1], y_end + F[n, m, 2])
    if likelihood == -np.inf:
        return likelihood, 0.0
    gaps = 0.0
    B = np.full((2, m + 2, 3), -np.inf)
    for i in range(n, -1, -1):
        here, below = B[i % 2], B[(i + 1) % 2]
        for j in range(m, -1, -1):
            into, down, across = -np.inf, -np.inf, -np.inf
            if i < n and j < m:
                into = match[left[i], right[j]] + below[j + 1, 0]
            if i < n:
                down = fill[left[i]] + below[j, 1]
            if j < m:
                across = fill[right[j]] + here[j + 1, 2]
            if i == n and j == m:
                here[j, 0], here[j, 1], here[j, 2] = m_end, x_end, y_end
            else:
                here[j, 0] = _sum(mm + into, mx + down, my + across)
                here[j, 1] = _sum(xm + into, xx + down, xy + across)
                here[j, 2] = _sum(ym + into, -np.inf, yy + across)
            gaps += np.exp(F[i, j, 0] + mx + down - likelihood) + np.exp(F[i, j, 0] + my + across - likelihood)
            gaps += np.exp(F[i, j, 1] + xy + across - likelihood)
            if i > 0 and j > 0:
                matched[left[i - 1], right[j - 1]] += np.exp(F[i, j, 0] + here[j, 0] - likelihood)
    return likelihood, gaps


@jit(reassociate=False)
def _sum(a: float, b: float, c: float) -> Any:
    """log(e^a + e^b + e^c)."""
    low, high = min(a, b), max(a, b)
    low, c, high = (low, c, high) if c <= high else (low, high, c)
    if high == -np.inf:
        return high
    return high + np.log(1.0 + np.exp(low - high) + np.exp(c - high))
