"""Newton's method as a run: a step is prepared, improved piece by piece, and taken as far as it helps.

All of the library's Newton methods are based on this class. Between two pieces, usually one product with a matrix each,
the driver checks for Ctrl-C, the time limit and its stop event, so even a long step can be interrupted.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

from mercer._types import Float64
from mercer.solvers.drive import Run, StallDetector
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients
from mercer.solvers.numerics.line_search import Function, backtrack
from mercer.solvers.solution import Status

_ROUGHEST = 0.3
"""The relative residual to which a step is solved: far from the optimum, a rough step is as good as an exact one."""
_NOISE = 1e-14
"""The relative rounding error of an objective."""
_MOST_PRODUCTS = 200
"""Maximum number of products for one step; the next one has a better matrix."""


class NewtonRun(Run):
    """One minimisation in progress. Subclasses keep the point, and update `gap` whenever it moves."""

    first_chunk = 1
    pieces_at_a_time: int | None = None
    """How many pieces to do between two checks by the driver; None for as many as it asks for."""

    def __init__(self, tol: float, patience: int) -> None:
        self._tol, self._stall = tol, StallDetector(patience)
        self._under_way = False

    @abstractmethod
    def _begin(self) -> bool:
        """Prepare a step; False if the preparation takes long and is not finished."""

    @abstractmethod
    def _improve(self) -> bool:
        """Do one piece of work on the step; returns whether it is accurate enough."""

    @abstractmethod
    def _take(self) -> bool:
        """Move along the step; False if rounding leaves nothing to gain."""

    def _optimal(self) -> bool:
        return self.gap <= self._tol

    @final
    def _descend(self, value_at: Function, value: float, descent: float) -> float | None:
        """The step size for which the objective falls; None if rounding leaves nothing to gain."""
        noise = _NOISE * abs(value)
        stalled = self._stall.update(self.gap, value, noise)
        return None if stalled else backtrack(value_at, value, descent, noise=noise)

    @final
    def step(self, iterations: int) -> None:
        for _ in range(self.pieces_at_a_time or max(1, iterations)):
            if not self._under_way:
                if self._optimal():
                    self.done, self.status = True, Status.CONVERGED
                    return
                self._under_way = self._begin()
                if not self._under_way:
                    return
            if self._improve():
                self._under_way = False
                moved = self._take()
                optimal = self._optimal()
                self.done = optimal or not moved
                self.status = Status.CONVERGED if optimal else Status.STALLED
                return


@final
class RoughSystem:
    """Conjugate gradients, solved more accurately as the gradient shrinks, so that steps converge superlinearly."""

    def __init__(self, system: ConjugateGradients, first_length: float, finest: float = 0.0) -> None:
        self._system = system
        self.first_length = first_length or system.length or 1.0  # zero if squares underflow
        rough = min(_ROUGHEST, (system.length / self.first_length) ** 0.5)
        self._goal = system.length * max(rough, finest)

    @property
    def products(self) -> int:
        return self._system.products

    @property
    def direction(self) -> Float64:
        return self._system.direction

    def improve(self) -> bool:
        """Do one product; returns whether the system is solved."""
        system = self._system
        system.step()
        return system.exhausted or system.length <= self._goal or system.products >= _MOST_PRODUCTS
