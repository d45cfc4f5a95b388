"""Line searches: how far to go along a descent direction."""

from __future__ import annotations

from collections.abc import Callable

Function = Callable[[float], float]

_ARMIJO = 1e-4
"""The fraction of the predicted descent that a step must achieve: the usual value, so small that almost any real
descent suffices."""
_SHORTEST_STEP = 2.0**-30
"""Shorter steps change only rounding errors; a search that needs them has stalled."""
_FLAT = 0.1
"""The slope, as a fraction of the initial slope, at which the minimum along a line is close enough: smaller values take
more evaluations and save no Newton steps."""
_LONGEST_STEP = 16.0
"""Newton steps are seldom too short; longer ones would arise only if the function had no minimum."""
_SECTIONS = 12
"""Every section shortens the interval by at least a tenth, usually by more than half."""
RULES = (_ARMIJO, _SHORTEST_STEP, _FLAT, _LONGEST_STEP, _SECTIONS)
"""All of these constants, for compiled loops that do the same."""


def backtrack(value: Function, at_start: float, descent: float, *, noise: float, size: float = 1.0) -> float | None:
    """The first of size, size / 2, size / 4, ... that lowers the value; None if none does.

    `descent` is the slope at the start; a positive one predicts no descent. Differences up to `noise` are rounding.

    >>> backtrack(lambda t: (t - 0.2) ** 2, 0.04, -0.4, noise=0.0)
    0.25
    """
    while descent < 0.0 and size > _SHORTEST_STEP:
        if value(size) <= at_start + _ARMIJO * size * descent + noise:
            return size
        size *= 0.5
    return None


def flat_point(slope: Function, at_start: float) -> float:
    """An approximate minimiser of a convex function of one variable, from its slope, which is `at_start` < 0 at zero.

    >>> flat_point(lambda t: t - 3.0, -3.0)
    3.0
    """
    low, high, at_low, at_high = 0.0, 1.0, at_start, slope(1.0)
    enough = _FLAT * abs(at_low)
    while at_high < -enough and high < _LONGEST_STEP:
        low, high, at_low = high, 2.0 * high, at_high
        at_high = slope(high)
    if abs(at_high) <= enough or at_high < 0.0:
        return high
    for _ in range(_SECTIONS):
        # Where the line through both ends crosses zero, but well inside: slopes are monotone but rarely linear.
        share = min(max(at_low / (at_low - at_high), 0.1), 0.9)
        middle = low + share * (high - low)
        at_middle = slope(middle)
        if abs(at_middle) <= enough:
            return middle
        if at_middle < 0.0:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return low if low > 0.0 else high
