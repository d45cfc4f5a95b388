"""Coordinate ascent on the box, for problems without the sum constraint: machines without an intercept.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper
Given     a Gram matrix K and a `BoxProblem` whose total is None
Result    b, and the largest violation of the optimality conditions; the intercept is zero
Source    Hsieh et al., A dual coordinate descent method (2008), with greedy choice of the coordinate

Each step moves the one coefficient that gains most to the best point of its interval.
"""

from __future__ import annotations

from typing import final

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.solvers.box import choice
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import Singles
from mercer.solvers.drive import Run, Solver


@final
class CoordinateAscent(Solver):
    """One coefficient at a time."""

    def init(self, gram: Gram, problem: BoxProblem, *, start: Float64 | None, tol: float) -> Run:
        if problem.total is not None:
            raise ValueError("coordinate ascent keeps no sum: the total must be None")
        return choice.run(gram, problem, choice.feasible(problem) if start is None else start, tol, Singles())
