"""What one step of a solver moves: a pair of coefficients with a fixed sum, or a single one.

Everything around the steps (working sets, rows, checks, limits) is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.solvers.box import exact_loops, face, nu_loops, pair_loops, scans, single_loops
from mercer.solvers.box.local import Direction, LocalProblem
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.scans import SMALLEST_CURVATURE

STEPS = 32
"""Linear systems are tried after this many steps per coefficient (plus a constant), and again whenever steps have taken
as much work as they did. Most problems end sooner; a lower number would factor matrices over the free coefficients in
vain."""
SOME = 4096
"""The constant: small problems end before linear systems are considered."""
_ROUNDING = 4 * np.finfo(np.float64).eps
"""An intercept below this fraction of the terms of outputs is rounding error. Set to zero, it leaves ties as ties far
from all objects."""
_LEAST = 64  # minimum number of steps between two attempts: fewer would hardly move a coefficient


class StepRule(ABC):
    """A kind of step: how it is taken, and how far a point is from one where no such step helps."""

    @abstractmethod
    def steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        """Take at most `limit` steps; returns their number and the remaining gap."""

    @abstractmethod
    def exact_steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        """The same, slower, with all comparisons in float64."""

    def slopes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[Float64, Float64]:
        """The gain of a small rise of each coefficient and the cost of a fall, on a common scale."""
        return problem.slopes(b, F)

    def extremes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
        """(highest, lowest): a coefficient violates if it may rise and lies above `lowest`, or may fall and lies below
        `highest`."""
        return self.extremes_of(*self.slopes(b, F, problem))

    def extremes_of(self, up: Float64, down: Float64) -> tuple[float, float]:
        """The same, from slopes."""
        return float(up.max(initial=-np.inf)), float(down.min(initial=np.inf))

    def gap(self, highest: float, lowest: float) -> float:
        """The largest violation."""
        return max(highest - lowest, 0.0)

    @abstractmethod
    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        """The intercept that belongs to a solution."""


@final
class Pairs(StepRule):
    """One coefficient up, another down: the sum is kept."""

    def steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        s, pair, last = local, local.pair, local.direction
        did, gap = pair_loops.pair_steps(
            pair.square, pair.there, pair.first, pair.second, pair.across, s.diagonal, s.b, s.F, s.lower, s.upper,
            s.kink, s.rising, s.falling, tol, limit, s.made, s.scratch, s.bits,
            last.p, last.image, last.places, last.listed, last.length, last.state,
        )  # fmt: skip
        s.made += did
        return did, gap

    def exact_steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        local.direction = Direction(len(local.b))  # the stored direction belongs to the other kind of steps
        return _exact_pair_steps(local, tol, limit)

    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        # A coefficient that is off its bound only by rounding is not free: its slope could be anywhere in an interval.
        found = level(problem.on_bounds(b), F, problem, np.ones(len(b), dtype=bool))
        size = max(float(np.abs(F).max(initial=0.0)), float(np.abs(problem.linear).max(initial=0.0)))
        return found if abs(found) > _ROUNDING * size else 0.0


@final
class NuPairs(StepRule):
    """One coefficient up, another on the same side of zero down: both sides keep their sums."""

    def steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        s, second = local, np.empty(len(local.b), dtype=np.float32)
        did, gap = nu_loops.nu_steps(
            s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, s.positive, s.rising, s.falling, tol, limit, s.made,
            s.scratch, s.bits, second, second.view(np.int32),
        )  # fmt: skip
        s.made += did
        return did, gap

    def exact_steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        return _exact_pair_steps(local, tol, limit)

    def slopes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[Float64, Float64]:
        """F relative to the middle of the gap of its side, so one threshold finds the violators of both sides."""
        up, down = problem.slopes(b, F)
        positive = problem.positive
        middles = [_middle(up[side], down[side]) for side in (positive, ~positive)]
        shift = np.where(positive, *middles)
        return up - shift, down - shift

    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        """Half-way between the levels of the two sides."""
        return sum(side_levels(b, F, problem)) / 2


@final
class Singles(StepRule):
    """One coefficient at a time: there is no intercept, and no sum is fixed."""

    def steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        s = local
        scale = (1.0 / np.maximum(s.diagonal, SMALLEST_CURVATURE)).astype(np.float32)
        did, gap = single_loops.single_steps(
            s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, s.rising, s.falling, tol, limit, s.made, s.scratch,
            s.bits, scale,
        )  # fmt: skip
        s.made += did
        return did, gap

    def exact_steps(self, local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
        s = local
        return exact_loops.exact_single_steps(s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, tol, limit)

    def extremes_of(self, up: Float64, down: Float64) -> tuple[float, float]:
        highest, lowest = super().extremes_of(up, down)
        return max(highest, 0.0), min(lowest, 0.0)

    def gap(self, highest: float, lowest: float) -> float:
        return max(highest, -lowest)

    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        return 0.0


@final
class StepBudget:
    """Decides when steps have become so slow that linear systems (`face`) are worth their cost.

    Decided by counting steps, never by time, so results are reproducible.
    """

    def __init__(self, n: int) -> None:
        self._left = STEPS * n + SOME

    def cut(self, steps: int) -> int:
        """How many of these steps may be taken."""
        return min(steps, self._left)

    def spend(self, steps: int) -> bool:
        """Whether these steps used up the budget."""
        self._left -= steps
        return self._left <= 0

    def solve_systems(self, local: LocalProblem) -> None:
        """Solve linear systems, and allow as many steps as take the same time."""
        self._left = max(_LEAST, len(local.b) // 4, face.polish(local))


def rule_for(problem: BoxProblem) -> StepRule:
    """The kind of step that keeps the fixed sums of a problem."""
    if problem.absolute_sum is not None:
        return NuPairs()
    return Singles() if problem.total is None else Pairs()


def side_levels(b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
    """The common F of free coefficients at the optimum of a nu form, on the positive and on the negative side."""
    return level(b, F, problem, problem.positive), level(b, F, problem, ~problem.positive)


def level(b: Float64, F: Float64, problem: BoxProblem, side: npt.NDArray[np.bool_]) -> float:
    """The mean slope of the free coefficients of a side; if there are none, the middle of the interval that optimality
    allows."""
    kink = np.zeros(len(b)) if problem.kink is None else problem.kink
    free, highest, lowest = scans.levels(b, F, problem.lower, problem.upper, kink, side)
    return free if np.isfinite(free) else _between(highest, lowest)


def _middle(up: Float64, down: Float64) -> float:
    """The middle between the highest rise and the lowest fall, or whichever of the two is finite."""
    return _between(float(up.max(initial=-np.inf)), float(down.min(initial=np.inf)))


def _between(highest: float, lowest: float) -> float:
    if np.isfinite(highest) and np.isfinite(lowest):
        return (highest + lowest) / 2
    return highest if np.isfinite(highest) else lowest if np.isfinite(lowest) else 0.0


def _exact_pair_steps(local: LocalProblem, tol: float, limit: int) -> tuple[int, float]:
    s = local
    return exact_loops.exact_pair_steps(
        s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, s.positive, tol, limit
    )  # fmt: skip
