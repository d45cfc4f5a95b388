"""How far to go along a direction in which a function falls."""

from __future__ import annotations

from collections.abc import Callable

Function = Callable[[float], float]

_ARMIJO = 1e-4
"""The share of the descent promised by the slope that a step must deliver: the customary value, so small that almost
any real descent will do."""
_SHORTEST_STEP = 2.0**-30
"""Shorter steps change nothing but rounding; what needs them is stalled."""
_FLAT = 0.1
"""The slope, as a share of that at the start, at which a minimum along a line is near enough: smaller shares cost more
evaluations of the slope and save no Newton steps."""
_LONGEST_STEP = 16.0
"""Newton steps are seldom too short; longer ones would only arise where a function has no minimum."""
_SECTIONS = 12
"""Every section at least shortens the interval by a tenth, and seldom by less than half."""
RULES = (_ARMIJO, _SHORTEST_STEP, _FLAT, _LONGEST_STEP, _SECTIONS)
"""All of them, for compiled loops that do the same."""


def backtrack(value: Function, at_start: float, descent: float, *, noise: float, size: float = 1.0) -> float | None:
    """The first of size, size / 2, size / 4, ... that lowers the value; None if none does.

    `descent` is the slope at the start, where a positive one promises nothing. Differences up to `noise` are rounding.

    >>> backtrack(lambda t: (t - 0.2) ** 2, 0.04, -0.4, noise=0.0)
    0.25
    """
    while descent < 0.0 and size > _SHORTEST_STEP:
        if value(size) <= at_start + _ARMIJO * size * descent + noise:
            return size
        size *= 0.5
    return None


def flat_point(slope: Function, at_start: float) -> float:
    """About where a convex function of one variable is least, from its slope, which is `at_start` < 0 at zero.

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
        # Where a line through both ends crosses zero, but well inside: slopes are monotone, though seldom straight.
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
