"""The compiled passes of pairs of coefficients whose cost has a kink at zero, as the epsilon-insensitive loss gives it.

Problem   minimise 1/2 b'Kb + linear'b + kink'|b|  over  lower <= b <= upper,  sum(b) fixed
Given     K, its diagonal, b, and F = -(Kb + linear); `rising` is what a rise of b adds to F (-kink from zero on, kink
          below, -inf where b may not grow), `falling` the same for a fall (+inf where b may not shrink)
Result    b and F after at most `limit` steps, the number of steps, and what is left of the gap
Source    Fan, Chen and Lin (2005), algorithm 2, on one variable per object where LIBSVM has two; a step ends at zero

The passes over rows are those of `smo_loops`: a kink only shifts what they compare.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.pair_loops import (
    CHECK_EVERY,
    SMALLEST_CURVATURE,
    largest,
    largest_positive,
    update,
    write_gains,
)


@jit
def rise(b: float, F: float, kink: float) -> float:
    return F - kink if b >= 0.0 else F + kink


@jit
def fall(b: float, F: float, kink: float) -> float:
    return F - kink if b > 0.0 else F + kink


@jit
def _end_of_rise(b: float, upper: float) -> float:
    return min(upper, 0.0) if b < 0.0 else upper


@jit
def _end_of_fall(b: float, lower: float) -> float:
    return max(lower, 0.0) if b > 0.0 else lower


@jit
def slopes(b: Array, F: Array, lower: Array, upper: Array, kink: Array, up: Array, down: Array) -> None:
    """The F of a rise and that of a fall, -inf and +inf where there is none."""
    for t in range(b.shape[0]):
        up[t] = rise(b[t], F[t], kink[t]) if b[t] < upper[t] else -np.inf
        down[t] = fall(b[t], F[t], kink[t]) if b[t] > lower[t] else np.inf


@jit
def set_bars(t: int, b: Array, lower: Array, upper: Array, kink: Array, rising: Array, falling: Array) -> None:
    rising[t] = np.float32(rise(b[t], 0.0, kink[t])) if b[t] < upper[t] else np.float32(-np.inf)
    falling[t] = np.float32(fall(b[t], 0.0, kink[t])) if b[t] > lower[t] else np.float32(np.inf)


@jit
def kinked_gap(b: Array, F: Array, lower: Array, upper: Array, kink: Array) -> tuple[float, float]:
    """The highest F of a rise and the lowest of a fall; at an optimum the first does not exceed the second."""
    highest, lowest = -np.inf, np.inf
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            highest = max(highest, rise(b[t], F[t], kink[t]))
        if b[t] > lower[t]:
            lowest = min(lowest, fall(b[t], F[t], kink[t]))
    return highest, lowest


@jit
def _move(i: int, j: int, b: Array, lower: Array, upper: Array, curvature: float, slope: float) -> float:
    """Raise b[i] and lower b[j] as far as it helps, but not over zero or a bound; how far."""
    top, bottom = _end_of_rise(b[i], upper[i]), _end_of_fall(b[j], lower[j])
    up, down = top - b[i], b[j] - bottom
    move: float = min(slope / curvature, up, down)
    b[i] = top if move >= up else b[i] + move
    b[j] = bottom if move >= down else b[j] - move
    return move


@jit
def kinked_steps(
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
) -> tuple[int, float]:
    """Steps along pairs; `bits` is the int32 view of `scratch`, `before` steps were made earlier."""
    for t in range(F.shape[0]):
        set_bars(t, b, lower, upper, kink, rising, falling)
        scratch[t] = np.float32(F[t]) + rising[t]
    i = largest(bits)
    for iteration in range(limit):
        if i < 0:
            return iteration, 0.0
        top = rise(b[i], F[i], kink[i])
        if (before + iteration) % CHECK_EVERY == 0:
            for t in range(F.shape[0]):
                scratch[t] = -np.float32(F[t]) - falling[t]
            lowest = largest(bits)
            if lowest < 0:
                return iteration, 0.0
            gap = top - fall(b[lowest], F[lowest], kink[lowest])
            if gap <= tol:
                return iteration, gap
        row = K[i]
        write_gains(row, diagonal[i], diagonal, F, falling, top, scratch)
        j = largest_positive(bits)
        if j < 0:
            return iteration, 0.0
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], SMALLEST_CURVATURE)
        move = _move(i, j, b, lower, upper, curvature, top - fall(b[j], F[j], kink[j]))
        set_bars(i, b, lower, upper, kink, rising, falling)
        set_bars(j, b, lower, upper, kink, rising, falling)
        update(F, row, K[j], move, rising, scratch)
        i = largest(bits)
    highest, bottom = kinked_gap(b, F, lower, upper, kink)
    return limit, max(highest - bottom, 0.0)


@jit
def exact_kinked_steps(
    K: Array,
    diagonal: Array,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    kink: Array,
    tol: float,
    limit: int,
) -> tuple[int, float]:
    """The same steps with every comparison in float64."""
    n, flat = b.shape[0], SMALLEST_CURVATURE * np.float64(diagonal.max())
    for iteration in range(limit):
        i, highest = -1, -np.inf
        for t in range(n):
            if b[t] < upper[t] and rise(b[t], F[t], kink[t]) > highest:
                i, highest = t, rise(b[t], F[t], kink[t])
        if i < 0:
            return iteration, 0.0
        row = K[i]
        j, best, lowest = -1, -1.0, np.inf
        for t in range(n):
            if b[t] > lower[t]:
                falls = fall(b[t], F[t], kink[t])
                lowest = min(lowest, falls)
                gained = highest - falls
                if gained > 0.0:
                    gain = gained * gained / max(diagonal[i] + diagonal[t] - 2.0 * row[t], flat)
                    if gain > best:
                        j, best = t, gain
        if j < 0 or highest - lowest <= tol:
            return iteration, max(highest - lowest, 0.0)
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], flat)
        move = _move(i, j, b, lower, upper, curvature, highest - fall(b[j], F[j], kink[j]))
        other = K[j]
        for t in range(n):
            F[t] -= move * (row[t] - other[t])
    highest, bottom = kinked_gap(b, F, lower, upper, kink)
    return limit, max(highest - bottom, 0.0)
