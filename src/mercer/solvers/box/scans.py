"""Shared by all step loops: slopes at kinks, and fast searches for the largest of many numbers.

Candidates are compared in float32, as the integers with the same bits: the order is the same, and only integer maxima
are vectorised.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit

SMALLEST_CURVATURE = 1e-12
"""Lower limit on curvature. Steps along directions without curvature then end on a bound; a larger value would shorten
legitimate steps between near copies of an object."""
CHECK_EVERY = 16
"""Steps between two checks of the gap: each check is one more pass over F, and up to this many steps are
unnecessary."""
_BLOCK = 256
"""Block in which the maximum is located by a second search: 1 KiB, so it is still in cache."""
_MINUS_INFINITY = np.int32(-2139095041)  # the bits of -inf, in the order of `largest`
_LOWEST = np.int32(-2147483648)
_MAGNITUDE = np.int32(0x7FFFFFFF)
_SIGN = np.int32(31)


@jit
def rise(b: float, F: float, kink: float) -> float:
    """The gain from a small rise of b."""
    return F - kink if b >= 0.0 else F + kink


@jit
def fall(b: float, F: float, kink: float) -> float:
    """The cost of a small fall of b."""
    return F - kink if b > 0.0 else F + kink


@jit
def end_of_rise(b: float, upper: float, kink: float) -> float:
    """The value to which b may rise at a constant slope: its bound, or a kink at zero."""
    return min(upper, 0.0) if b < 0.0 and kink > 0.0 else upper


@jit
def end_of_fall(b: float, lower: float, kink: float) -> float:
    """The value to which b may fall at a constant slope."""
    return max(lower, 0.0) if b > 0.0 and kink > 0.0 else lower


@jit
def set_bars(t: int, b: Array, lower: Array, upper: Array, kink: Array, rising: Array, falling: Array) -> None:
    """What a rise of b[t] adds to F[t] because of a kink, -inf on the upper bound; the same for a fall, +inf."""
    rising[t] = np.float32(rise(b[t], 0.0, kink[t])) if b[t] < upper[t] else np.float32(-np.inf)
    falling[t] = np.float32(fall(b[t], 0.0, kink[t])) if b[t] > lower[t] else np.float32(np.inf)


@jit
def levels(b: Array, F: Array, lower: Array, upper: Array, kink: Array, side: Array) -> tuple[float, float, float]:
    """The mean slope of the free coefficients of a side, the largest gain of a rise and the smallest cost of a fall.

    The mean is NaN if none is free.
    """
    total, count, highest, lowest = 0.0, 0, -np.inf, np.inf
    for t in range(b.shape[0]):
        if side[t]:
            if b[t] < upper[t]:
                highest = max(highest, rise(b[t], F[t], kink[t]))
            if b[t] > lower[t]:
                lowest = min(lowest, fall(b[t], F[t], kink[t]))
            if lower[t] < b[t] < upper[t] and (b[t] != 0.0 or kink[t] == 0.0):
                total += rise(b[t], F[t], kink[t])
                count += 1
    return total / count if count else np.nan, highest, lowest


@jit
def move_pair(
    i: int, j: int, slope: float, curvature: float, b: Array, lower: Array, upper: Array, kink: Array
) -> tuple[float, bool]:
    """Raise b[i] and lower b[j] by the optimal amount, up to a bound or kink; returns the amount and whether one was
    met."""
    top, bottom = end_of_rise(b[i], upper[i], kink[i]), end_of_fall(b[j], lower[j], kink[j])
    up, down = top - b[i], b[j] - bottom
    move = min(slope / curvature, up, down)
    b[i] = top if move >= up else b[i] + move  # clipped coefficients lie exactly on their bound or kink
    b[j] = bottom if move >= down else b[j] - move
    return move, move >= up or move >= down


@jit
def largest(keys: Array) -> int:
    """Index of the largest float32 with these bits; -1 if all are -inf."""
    n = keys.shape[0]
    best, place = _MINUS_INFINITY, -1
    for start in range(0, n, _BLOCK):
        block = keys[start : min(start + _BLOCK, n)]
        value = _LOWEST
        for k in range(block.shape[0]):
            bits = block[k]
            value = max(value, bits ^ ((bits >> _SIGN) & _MAGNITUDE))
        if value > best:
            best, place = value, start
    if place < 0:
        return -1
    best = best ^ ((best >> _SIGN) & _MAGNITUDE)
    while keys[place] != best:
        place += 1
    return place


@jit
def largest_positive(keys: Array) -> int:
    """The same where none is negative; -1 if all are zero."""
    n = keys.shape[0]
    best, place = np.int32(0), -1
    for start in range(0, n, _BLOCK):
        block = keys[start : min(start + _BLOCK, n)]
        value = np.int32(0)
        for k in range(block.shape[0]):
            value = max(value, block[k])
        if value > best:
            best, place = value, start
    if place < 0:
        return -1
    while keys[place] != best:
        place += 1
    return place
