"""When rounding leaves nothing more to gain."""

from __future__ import annotations

import math
from typing import final

_NOISE = 1e-14


@final
class Idleness:
    """Counts steps after which neither the violation nor the value is better than it ever was.

    >>> idle = Idleness(2)
    >>> [idle.after(gap, 5.0) for gap in (1.0, 0.5, 0.5, 0.5)]
    [False, False, False, True]
    """

    def __init__(self, most: int) -> None:
        self._most, self._steps = most, 0
        self._gap, self._value = math.inf, math.inf

    def after(self, gap: float, value: float) -> bool:
        """Whether so many such steps have followed one another that it is time to stop."""
        better = gap < 0.99 * self._gap or value < self._value - _NOISE * abs(value)
        self._steps = 0 if better else self._steps + 1
        self._gap, self._value = min(gap, self._gap), min(value, self._value)
        return self._steps >= self._most
