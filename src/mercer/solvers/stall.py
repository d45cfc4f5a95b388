"""When rounding leaves nothing more to gain."""

from __future__ import annotations

import math
from typing import final

_LESS = 0.99
"""A violation counts as smaller below this share of the smallest so far: rounding alone moves it by less."""


@final
class StallDetector:
    """Counts steps after which neither the violation nor the objective is better than it ever was.

    >>> stall = StallDetector(2)
    >>> [stall.update(gap, 5.0, 1e-14) for gap in (1.0, 0.5, 0.5, 0.5)]
    [False, False, False, True]
    """

    def __init__(self, most: int) -> None:
        self._most, self._steps = most, 0
        self._gap, self._objective = math.inf, math.inf

    def update(self, gap: float, objective: float, noise: float) -> bool:
        """Whether so many such steps have followed one another that it is time to stop."""
        better = gap < _LESS * self._gap or objective < self._objective - noise
        self._steps = 0 if better else self._steps + 1
        self._gap, self._objective = min(gap, self._gap), min(objective, self._objective)
        return self._steps >= self._most
