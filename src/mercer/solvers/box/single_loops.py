"""The compiled passes of coordinate ascent on the box: one coefficient at a time, where no sum is fixed.

Problem   minimise 1/2 b'Kb + linear'b + kink'|b|  over  lower <= b <= upper
Given     K, its diagonal, b, and F = -(Kb + linear)
Result    b and F after at most `limit` steps, the number of steps, and the remaining gap
Source    Hsieh et al., A dual coordinate descent method (2008), with the coordinate of the largest gain F_i^2 / (2
          K_ii) instead of cyclic order

Without kinks, a point is optimal when no F_i > 0 may rise and no F_i < 0 may fall.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.exact_loops import best_single, gap_of_singles
from mercer.solvers.box.scans import CHECK_EVERY, SMALLEST_CURVATURE, largest_positive, set_bars


@jit
def _update(F: Array, row: Array, move: float, scale: Array, rising: Array, falling: Array, out: Array) -> None:
    """Update F along a row, and store the gain of each coefficient."""
    zero = np.float32(0)
    for t in range(F.shape[0]):
        value = F[t] - move * row[t]
        F[t] = value
        slope = np.float32(value)
        free = max(max(slope + rising[t], -slope - falling[t]), zero)
        out[t] = free * free * scale[t]


@jit
def single_steps(
    K: Array,
    diagonal: Array,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    kink: Array,
    rising: Array,
    falling: Array,
    tol: float,
    limit: int,
    before: int,
    scratch: Array,
    bits: Array,
    scale: Array,
) -> tuple[int, float]:
    """Steps along single coefficients; `scale` is 1 / diagonal in float32, for the other arguments see `pair_loops`."""
    for t in range(F.shape[0]):
        set_bars(t, b, lower, upper, kink, rising, falling)
    _update(F, K[0], 0.0, scale, rising, falling, scratch)
    for iteration in range(limit):
        i = largest_positive(bits)
        if i < 0:
            return iteration, 0.0
        if (before + iteration) % CHECK_EVERY == 0:
            gap = gap_of_singles(b, F, lower, upper, kink)
            if gap <= tol:
                return iteration, gap
        curvature = max(np.float64(diagonal[i]), SMALLEST_CURVATURE)
        target = best_single(b[i], F[i], curvature, kink[i], lower[i], upper[i])
        move = target - b[i]
        b[i] = target
        set_bars(i, b, lower, upper, kink, rising, falling)
        _update(F, K[i], move, scale, rising, falling, scratch)
    return limit, gap_of_singles(b, F, lower, upper, kink)
