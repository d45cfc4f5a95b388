"""The compiled passes of coordinate ascent on the box: one coefficient at a time, where no sum binds them.

Problem   minimise 1/2 b'Kb + linear'b + kink'|b|  over  lower <= b <= upper
Given     K, its diagonal, b, F = -(Kb + linear), and the bars of `smo_loops`
Result    b and F after at most `limit` steps, the number of steps, and what is left of the gap
Source    Hsieh et al., A dual coordinate descent method (2008), with the coordinate of the largest gain
          F_i^2 / (2 K_ii) instead of one in turn

Without kinks, a point is optimal when no F_i > 0 may rise and no F_i < 0 may fall.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.kinked_loops import fall, rise, set_bars
from mercer.solvers.box.pair_loops import CHECK_EVERY, SMALLEST_CURVATURE, largest_positive


@jit
def violation(b: Array, F: Array, lower: Array, upper: Array, kink: Array) -> float:
    """The largest gain per step of a coefficient that may still move."""
    worst = 0.0
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            worst = max(worst, rise(b[t], F[t], kink[t]))
        if b[t] > lower[t]:
            worst = max(worst, -fall(b[t], F[t], kink[t]))
    return worst


@jit
def best(b: float, F: float, curvature: float, kink: float, lower: float, upper: float) -> float:
    """Where a coefficient would be best, all others held: its minimum without the kink, drawn towards zero by it."""
    target, pull = b + F / curvature, kink / curvature
    target = target - pull if target > pull else target + pull if target < -pull else 0.0
    return min(max(target, lower), upper)


@jit
def _write_gains(F: Array, scale: Array, rising: Array, falling: Array, out: Array) -> None:
    zero = np.float32(0)
    for t in range(F.shape[0]):
        slope = np.float32(F[t])
        free = max(max(slope + rising[t], -slope - falling[t]), zero)
        out[t] = free * free * scale[t]


@jit
def _update(F: Array, row: Array, move: float, scale: Array, rising: Array, falling: Array, out: Array) -> None:
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
    """Steps along single coefficients; `scale` is 1 / diagonal in float32."""
    for t in range(F.shape[0]):
        set_bars(t, b, lower, upper, kink, rising, falling)
    _write_gains(F, scale, rising, falling, scratch)
    for iteration in range(limit):
        i = largest_positive(bits)
        if i < 0:
            return iteration, 0.0
        if (before + iteration) % CHECK_EVERY == 0:
            gap = violation(b, F, lower, upper, kink)
            if gap <= tol:
                return iteration, gap
        target = best(b[i], F[i], max(np.float64(diagonal[i]), SMALLEST_CURVATURE), kink[i], lower[i], upper[i])
        move = target - b[i]
        b[i] = target
        set_bars(i, b, lower, upper, kink, rising, falling)
        _update(F, K[i], move, scale, rising, falling, scratch)
    return limit, violation(b, F, lower, upper, kink)


@jit
def exact_single_steps(
    K: Array, diagonal: Array, b: Array, F: Array, lower: Array, upper: Array, kink: Array, tol: float, limit: int
) -> tuple[int, float]:
    """The same steps with every comparison in float64."""
    n, flat = b.shape[0], SMALLEST_CURVATURE * np.float64(diagonal.max())
    for iteration in range(limit):
        i, most, worst = -1, 0.0, 0.0
        for t in range(n):
            slope = max(rise(b[t], F[t], kink[t]), 0.0) if b[t] < upper[t] else 0.0
            if b[t] > lower[t]:
                slope = max(slope, -fall(b[t], F[t], kink[t]))
            worst = max(worst, slope)
            gain = slope * slope / max(np.float64(diagonal[t]), flat)
            if gain > most:
                i, most = t, gain
        if i < 0 or worst <= tol:
            return iteration, worst
        target = best(b[i], F[i], max(np.float64(diagonal[i]), flat), kink[i], lower[i], upper[i])
        move = target - b[i]
        b[i] = target
        row = K[i]
        for t in range(n):
            F[t] -= move * row[t]
    return limit, violation(b, F, lower, upper, kink)
