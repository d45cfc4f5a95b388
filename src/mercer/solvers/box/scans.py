"""What all step loops share: slopes at kinks, and quick searches for the largest of many numbers.

Candidates are compared in float32, through the integers that their bits make: that order is the same, and only integer
maxima are vectorised.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit

SMALLEST_CURVATURE = 1e-12
"""Less curvature than this counts as this much. Steps along directions without any then end on a bound; a larger value
would shorten honest steps between near copies of an object."""
CHECK_EVERY = 16
"""Steps between two looks at the gap: each look is one more pass over F, and up to so many steps are made in vain."""
_BLOCK = 256
"""Numbers among which the largest is searched for a second time, to learn where it is: 1 KiB, so still in the cache."""
_MINUS_INFINITY = np.int32(-2139095041)  # the bits of -inf, in the order of `largest`
_LOWEST = np.int32(-2147483648)
_MAGNITUDE = np.int32(0x7FFFFFFF)
_SIGN = np.int32(31)


@jit
def rise(b: float, F: float, kink: float) -> float:
    """What a small rise of b gains."""
    return F - kink if b >= 0.0 else F + kink


@jit
def fall(b: float, F: float, kink: float) -> float:
    """What a small fall of b costs."""
    return F - kink if b > 0.0 else F + kink


@jit
def end_of_rise(b: float, upper: float, kink: float) -> float:
    """How far b may rise at one price: to its bound, or to a kink at zero."""
    return min(upper, 0.0) if b < 0.0 and kink > 0.0 else upper


@jit
def end_of_fall(b: float, lower: float, kink: float) -> float:
    """How far b may fall at one price."""
    return max(lower, 0.0) if b > 0.0 and kink > 0.0 else lower


@jit
def set_bars(t: int, b: Array, lower: Array, upper: Array, kink: Array, rising: Array, falling: Array) -> None:
    """What a rise of b[t] adds to F[t] because of a kink, -inf on the upper bound; the same for a fall, +inf."""
    rising[t] = np.float32(rise(b[t], 0.0, kink[t])) if b[t] < upper[t] else np.float32(-np.inf)
    falling[t] = np.float32(fall(b[t], 0.0, kink[t])) if b[t] > lower[t] else np.float32(np.inf)


@jit
def levels(b: Array, F: Array, lower: Array, upper: Array, kink: Array, side: Array) -> tuple[float, float, float]:
    """Of the coefficients of a side: the mean slope of free ones, the most that a rise gains, the least a fall costs.

    The mean is NaN where none is free.
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
    """Raise b[i] and lower b[j] as far as it helps, but not over a bound or kink; how far, and whether one was met."""
    top, bottom = end_of_rise(b[i], upper[i], kink[i]), end_of_fall(b[j], lower[j], kink[j])
    up, down = top - b[i], b[j] - bottom
    move = min(slope / curvature, up, down)
    b[i] = top if move >= up else b[i] + move  # clipped ones lie exactly on their ends
    b[j] = bottom if move >= down else b[j] - move
    return move, move >= up or move >= down


@jit
def largest(keys: Array) -> int:
    """Where the largest float32 lies whose bits are these integers; -1 if all are -inf."""
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
