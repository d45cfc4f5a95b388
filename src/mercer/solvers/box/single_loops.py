"""The compiled passes of coordinate ascent on the box: one coefficient at a time, where no sum binds them.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper
Given     K, its diagonal, b, F = -(Kb + linear), and the bars of `smo_loops`
Result    b and F after at most `limit` steps, the number of steps, and what is left of the gap
Source    Hsieh et al., A dual coordinate descent method (2008), with the coordinate of the largest gain
          F_i^2 / (2 K_ii) instead of one in turn

A point is optimal when no F_i > 0 may rise and no F_i < 0 may fall; the gap is the largest |F_i| that still may.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.pair_loops import CHECK_EVERY, SMALLEST_CURVATURE, largest_positive


@jit
def violation(b: Array, F: Array, lower: Array, upper: Array) -> float:
    """The largest |F| along which b may still move."""
    worst = 0.0
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            worst = max(worst, F[t])
        if b[t] > lower[t]:
            worst = max(worst, -F[t])
    return worst


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
    _write_gains(F, scale, rising, falling, scratch)
    for iteration in range(limit):
        i = largest_positive(bits)
        if i < 0:
            return iteration, 0.0
        if (before + iteration) % CHECK_EVERY == 0:
            gap = violation(b, F, lower, upper)
            if gap <= tol:
                return iteration, gap
        target = b[i] + F[i] / max(np.float64(diagonal[i]), SMALLEST_CURVATURE)
        target = min(max(target, lower[i]), upper[i])
        move = target - b[i]
        b[i] = target
        rising[i] = np.float32(-np.inf) if target >= upper[i] else np.float32(0)
        falling[i] = np.float32(np.inf) if target <= lower[i] else np.float32(0)
        _update(F, K[i], move, scale, rising, falling, scratch)
    return limit, violation(b, F, lower, upper)


@jit
def exact_single_steps(
    K: Array, diagonal: Array, b: Array, F: Array, lower: Array, upper: Array, tol: float, limit: int
) -> tuple[int, float]:
    """The same steps with every comparison in float64."""
    n, flat = b.shape[0], SMALLEST_CURVATURE * np.float64(diagonal.max())
    for iteration in range(limit):
        i, best, worst = -1, 0.0, 0.0
        for t in range(n):
            slope = F[t]
            if (slope > 0.0 and b[t] < upper[t]) or (slope < 0.0 and b[t] > lower[t]):
                worst = max(worst, abs(slope))
                gain = slope * slope / max(np.float64(diagonal[t]), flat)
                if gain > best:
                    i, best = t, gain
        if i < 0 or worst <= tol:
            return iteration, worst
        target = b[i] + F[i] / max(np.float64(diagonal[i]), flat)
        target = min(max(target, lower[i]), upper[i])
        move = target - b[i]
        b[i] = target
        row = K[i]
        for t in range(n):
            F[t] -= move * row[t]
    return limit, violation(b, F, lower, upper)
