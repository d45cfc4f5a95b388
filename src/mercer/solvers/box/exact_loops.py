"""Steps with every comparison in float64: for gaps too small for float32 to rank candidates.

Problem   minimise 1/2 b'Kb + linear'b + kink'|b|  over lower <= b <= upper, with or without fixed sums
Given     K, its diagonal, b, and F = -(Kb + linear)
Result    b and F after at most `limit` steps, the number of steps, and the remaining gap
Source    as in `pair_loops`, `nu_loops` and `single_loops`, which are several times as fast
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.scans import SMALLEST_CURVATURE, fall, move_pair, rise


@jit
def gap_of_pairs(b: Array, F: Array, lower: Array, upper: Array, kink: Array, positive: Array) -> float:
    """The largest gain of a rise minus the smallest cost of a fall, within the `positive` coefficients or within the
    others."""
    high, low, positive_high, positive_low = -np.inf, np.inf, -np.inf, np.inf
    for t in range(b.shape[0]):
        up = rise(b[t], F[t], kink[t]) if b[t] < upper[t] else -np.inf
        down = fall(b[t], F[t], kink[t]) if b[t] > lower[t] else np.inf
        if positive[t]:
            positive_high, positive_low = max(positive_high, up), min(positive_low, down)
        else:
            high, low = max(high, up), min(low, down)
    return max(high - low, positive_high - positive_low, 0.0)


@jit
def exact_pair_steps(
    K: Array,
    diagonal: Array,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    kink: Array,
    positive: Array,
    tol: float,
    limit: int,
) -> tuple[int, float]:
    """Raise one coefficient and lower another of the same group (`positive` or not), so both sums are kept."""
    n, flat = b.shape[0], SMALLEST_CURVATURE * np.float64(diagonal.max())
    for iteration in range(limit):
        i, h, top, positive_top = -1, -1, -np.inf, -np.inf
        for t in range(n):
            if b[t] < upper[t]:
                up = rise(b[t], F[t], kink[t])
                if positive[t] and up > positive_top:
                    h, positive_top = t, up
                elif not positive[t] and up > top:
                    i, top = t, up
        row, positive_row = K[max(i, 0)], K[max(h, 0)]
        j, most, gap = -1, -1.0, 0.0
        for t in range(n):
            if b[t] > lower[t]:
                slope = (positive_top if positive[t] else top) - fall(b[t], F[t], kink[t])
                if slope > 0.0:
                    gap = max(gap, slope)
                    own, entry = (diagonal[h], positive_row[t]) if positive[t] else (diagonal[i], row[t])
                    gain = slope * slope / max(own + diagonal[t] - 2.0 * entry, flat)
                    if gain > most:
                        j, most = t, gain
        if j < 0 or gap <= tol:
            return iteration, gap
        if positive[j]:
            i, top, row = h, positive_top, positive_row
        other = K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], flat)
        move, _ = move_pair(i, j, top - fall(b[j], F[j], kink[j]), curvature, b, lower, upper, kink)
        for t in range(n):
            F[t] -= move * (row[t] - other[t])
    return limit, gap_of_pairs(b, F, lower, upper, kink, positive)


@jit
def gap_of_singles(b: Array, F: Array, lower: Array, upper: Array, kink: Array) -> float:
    """The largest gain from a small change of one coefficient."""
    worst = 0.0
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            worst = max(worst, rise(b[t], F[t], kink[t]))
        if b[t] > lower[t]:
            worst = max(worst, -fall(b[t], F[t], kink[t]))
    return worst


@jit
def best_single(b: float, F: float, curvature: float, kink: float, lower: float, upper: float) -> float:
    """The optimal value of a coefficient with all others fixed: its minimum without the kink, soft-thresholded."""
    target, pull = b + F / curvature, kink / curvature
    target = target - pull if target > pull else target + pull if target < -pull else 0.0
    return min(max(target, lower), upper)


@jit
def exact_single_steps(
    K: Array, diagonal: Array, b: Array, F: Array, lower: Array, upper: Array, kink: Array, tol: float, limit: int
) -> tuple[int, float]:
    """Move one coefficient at a time to its optimum; no sum is fixed."""
    n, flat = b.shape[0], SMALLEST_CURVATURE * np.float64(diagonal.max())
    for iteration in range(limit):
        i, most, gap = -1, 0.0, 0.0
        for t in range(n):
            slope = max(rise(b[t], F[t], kink[t]), 0.0) if b[t] < upper[t] else 0.0
            if b[t] > lower[t]:
                slope = max(slope, -fall(b[t], F[t], kink[t]))
            gap = max(gap, slope)
            gain = slope * slope / max(np.float64(diagonal[t]), flat)
            if gain > most:
                i, most = t, gain
        if i < 0 or gap <= tol:
            return iteration, gap
        target = best_single(b[i], F[i], max(np.float64(diagonal[i]), flat), kink[i], lower[i], upper[i])
        move = target - b[i]
        b[i] = target
        row = K[i]
        for t in range(n):
            F[t] -= move * row[t]
    return limit, gap_of_singles(b, F, lower, upper, kink)
