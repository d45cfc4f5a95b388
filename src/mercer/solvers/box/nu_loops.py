"""The compiled passes of the nu-forms: pairs on one side of zero at a time, so that the sum of either side stays.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper, each box on one side of zero, both sides' sums fixed
Given     K, its diagonal, b, F = -(Kb + linear), the bars of `smo_loops`, and which coefficients are positive
Result    b and F after at most `limit` steps, the number of steps, and what is left of the gap
Source    Chang and Lin, Training nu-support vector classifiers (2001), with second-order working sets as in LIBSVM

On either side the coefficient that may rise with the highest F is a candidate; the partner that gains most with the
candidate of its own side decides between the two.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.pair_loops import CHECK_EVERY, SMALLEST_CURVATURE, largest, largest_positive


@jit
def side_extremes(b: Array, F: Array, lower: Array, upper: Array, positive: Array) -> tuple[float, float, float, float]:
    """The highest F that may rise and the lowest that may fall: of the positive side, then of the negative."""
    high, low, negative_high, negative_low = -np.inf, np.inf, -np.inf, np.inf
    for t in range(b.shape[0]):
        if positive[t]:
            if b[t] < upper[t]:
                high = max(high, F[t])
            if b[t] > lower[t]:
                low = min(low, F[t])
        else:
            if b[t] < upper[t]:
                negative_high = max(negative_high, F[t])
            if b[t] > lower[t]:
                negative_low = min(negative_low, F[t])
    return high, low, negative_high, negative_low


@jit
def side_gap(b: Array, F: Array, lower: Array, upper: Array, positive: Array) -> float:
    """The larger of the gaps of the two sides."""
    high, low, negative_high, negative_low = side_extremes(b, F, lower, upper, positive)
    return max(high - low, negative_high - negative_low, 0.0)


@jit
def _write_candidates(F: Array, rising: Array, negative_rising: Array, first: Array, second: Array) -> None:
    for t in range(F.shape[0]):
        value = np.float32(F[t])
        first[t] = value + rising[t]
        second[t] = value + negative_rising[t]


@jit
def _write_gains(
    row: Array,
    negative_row: Array,
    own: Array,
    negative_own: Array,
    diagonal: Array,
    F: Array,
    falling: Array,
    positive: Array,
    top: float,
    negative_top: float,
    out: Array,
) -> None:
    zero = np.float32(0)
    smallest = np.float32(SMALLEST_CURVATURE)
    two = row.dtype.type(2)
    for t in range(F.shape[0]):
        one, other = row[t], negative_row[t]
        here = positive[t]
        rise = max(np.float32((top if here else negative_top) - F[t]) - falling[t], zero)
        beside = (own if here else negative_own) + diagonal[t] - two * (one if here else other)
        out[t] = rise * rise / max(np.float32(beside), smallest)


@jit
def _update(
    F: Array,
    row: Array,
    other: Array,
    move: float,
    rising: Array,
    negative_rising: Array,
    first: Array,
    second: Array,
) -> None:
    for t in range(F.shape[0]):
        moved = F[t] - move * (row[t] - other[t])
        F[t] = moved
        value = np.float32(moved)
        first[t] = value + rising[t]
        second[t] = value + negative_rising[t]


@jit
def sided_steps(
    K: Array,
    diagonal: Array,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    rising: Array,
    negative_rising: Array,
    falling: Array,
    positive: Array,
    tol: float,
    limit: int,
    before: int,
    first: Array,
    first_bits: Array,
    second: Array,
    second_bits: Array,
) -> tuple[int, float]:
    """Steps along pairs of one side. `rising` and `negative_rising` are -inf on the other side, too."""
    closed_up, closed_down, opened = np.float32(-np.inf), np.float32(np.inf), np.float32(0)
    _write_candidates(F, rising, negative_rising, first, second)
    for iteration in range(limit):
        i, h = largest(first_bits), largest(second_bits)
        if (before + iteration) % CHECK_EVERY == 0:
            gap = side_gap(b, F, lower, upper, positive)
            if gap <= tol:
                return iteration, gap
        top = F[i] if i >= 0 else -np.inf
        negative_top = F[h] if h >= 0 else -np.inf
        i, h = max(i, 0), max(h, 0)
        _write_gains(K[i], K[h], diagonal[i], diagonal[h], diagonal, F, falling, positive, top, negative_top, first)
        j = largest_positive(first_bits)
        if j < 0:
            return iteration, side_gap(b, F, lower, upper, positive)
        if not positive[j]:
            i, top = h, negative_top
        row, other = K[i], K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], SMALLEST_CURVATURE)
        up, down = upper[i] - b[i], b[j] - lower[j]
        move = min((top - F[j]) / curvature, up, down)
        b[i] = upper[i] if move >= up else b[i] + move  # clipped ones lie exactly on their bounds
        b[j] = lower[j] if move >= down else b[j] - move
        for t in (i, j):
            bar = closed_up if b[t] >= upper[t] else opened
            rising[t] = bar if positive[t] else closed_up
            negative_rising[t] = closed_up if positive[t] else bar
            falling[t] = closed_down if b[t] <= lower[t] else opened
        _update(F, row, other, move, rising, negative_rising, first, second)
    return limit, side_gap(b, F, lower, upper, positive)


@jit
def exact_sided_steps(
    K: Array,
    diagonal: Array,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    positive: Array,
    tol: float,
    limit: int,
) -> tuple[int, float]:
    """The same steps with every comparison in float64."""
    n, flat = b.shape[0], SMALLEST_CURVATURE * np.float64(diagonal.max())
    for iteration in range(limit):
        i, h, top, negative_top = -1, -1, -np.inf, -np.inf
        for t in range(n):
            if b[t] < upper[t]:
                if positive[t] and F[t] > top:
                    i, top = t, F[t]
                elif not positive[t] and F[t] > negative_top:
                    h, negative_top = t, F[t]
        j, best, gap = -1, 0.0, 0.0
        for t in range(n):
            mine, height = (i, top) if positive[t] else (h, negative_top)
            if mine >= 0 and b[t] > lower[t]:
                rise = height - F[t]
                gap = max(gap, rise)
                if rise > 0.0:
                    gain = rise * rise / max(diagonal[mine] + diagonal[t] - 2.0 * K[mine, t], flat)
                    if gain > best:
                        j, best = t, gain
        if j < 0 or gap <= tol:
            return iteration, gap
        i, top = (i, top) if positive[j] else (h, negative_top)
        row, other = K[i], K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], flat)
        up, down = upper[i] - b[i], b[j] - lower[j]
        move = min((top - F[j]) / curvature, up, down)
        b[i] = upper[i] if move >= up else b[i] + move
        b[j] = lower[j] if move >= down else b[j] - move
        for t in range(n):
            F[t] -= move * (row[t] - other[t])
    return limit, side_gap(b, F, lower, upper, positive)
