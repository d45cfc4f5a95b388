"""When rounding leaves nothing more to gain."""

from __future__ import annotations

import math
from typing import final

NOISE = 1e-10
"""The share of an objective below which box problems do not count an improvement: entries of their matrix are float32
as a rule, so smaller ones may be made for ever by steps that undo each other."""
_BETTER = 0.99
"""The share of the smallest gap so far that counts as progress: gaps go up and down, and creep down by less at last."""


@final
class StallDetector:
    """Counts steps after which neither the violation nor the objective is better than ever before.

    >>> stall = StallDetector(patience=2)
    >>> [stall.update(gap, 5.0) for gap in (1.0, 0.5, 0.5, 0.5)]
    [False, False, False, True]
    """

    def __init__(self, patience: int) -> None:
        self._patience, self._steps = patience, 0
        self._gap, self._objective = math.inf, math.inf

    def update(self, gap: float, objective: float, noise: float = 0.0, steps: int = 1) -> bool:
        """Whether it is time to stop, `steps` after the last update; the objective is known to within `noise`."""
        better = gap < _BETTER * self._gap or objective < self._objective - noise
        self._steps = 0 if better else self._steps + steps
        self._gap, self._objective = min(gap, self._gap), min(objective, self._objective)
        return self._steps >= self._patience
