"""When steps along pairs have become slow, so that linear systems (`face`) are worth their cost."""

from __future__ import annotations

from typing import final

from mercer.solvers.box.step_rules import Local, Moves

STEPS = 32
"""After so many steps per coefficient, and some, linear systems are tried; and then ever again, when as much work went
into steps as into these."""
SOME = 4096
_LEAST = 64


@final
class Patience:
    """Counts steps. Decided by these alone and never by time, so that results repeat."""

    def __init__(self, n: int) -> None:
        self._left = STEPS * n + SOME

    def cut(self, steps: int) -> int:
        """How many of these steps may be made."""
        return min(steps, self._left)

    def made(self, steps: int) -> bool:
        """Whether after these steps patience has run out."""
        self._left -= steps
        return self._left <= 0

    def polish(self, moves: Moves, local: Local) -> None:
        """Solve linear systems, and be patient anew."""
        self._left = max(_LEAST, len(local.b) // 4, moves.polish(local))
