"""When steps along pairs have become slow, so linear systems (`face`) are worth their cost."""

from __future__ import annotations

from typing import final

from mercer.solvers.box import face
from mercer.solvers.box.local import LocalProblem

STEPS = 32
"""After so many steps per coefficient, and some, linear systems are tried; and then again whenever as much work went
into steps as into these. Most problems end sooner: fewer steps would spend cubes of free coefficients in vain."""
SOME = 4096
_LEAST = 64  # steps between two tries, however cheap: fewer would hardly move a coefficient


@final
class StepBudget:
    """Counts steps. Decided by these alone and never by time, so results repeat."""

    def __init__(self, n: int) -> None:
        self._left = STEPS * n + SOME

    def cut(self, steps: int) -> int:
        """How many of these steps may be made."""
        return min(steps, self._left)

    def spend(self, steps: int) -> bool:
        """Whether these steps used up the budget."""
        self._left -= steps
        return self._left <= 0

    def solve_systems(self, local: LocalProblem) -> None:
        """Solve linear systems, and grant steps that take as long."""
        self._left = max(_LEAST, len(local.b) // 4, face.polish(local))
