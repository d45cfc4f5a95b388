"""Sequential minimal optimisation with second-order working sets, for problems with the sum constraint.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper,  sum(b) = total
Given     a Gram matrix K and a `BoxProblem` with a total
Result    b, the intercept, and the largest violation of the optimality conditions
Source    Fan, Chen and Lin, Working set selection using second order information (2005), algorithm 2, written for
          signed coefficients b_i = y_i alpha_i

With F = -(Kb + linear), a point is optimal when max F over {b < upper} does not exceed min F over {b > lower}. Each
step moves one coefficient up and one down along the pair with the largest guaranteed gain. Small problems are stepped
through as they are (`dense`), large ones by sub-problems (`workingset`). K may be float32, F is float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.gram.pairs import LARGEST
from mercer.solvers.box import hard_margin
from mercer.solvers.box.kinked import KinkedPairs
from mercer.solvers.box.large import WorkingSetRun
from mercer.solvers.box.nu import SidedPairs
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.small import DenseRun
from mercer.solvers.box.step_rules import Moves, Pairs, Singles
from mercer.solvers.drive import Run, Solver

DENSE = 2048
"""Up to so many coefficients the whole matrix is cheaper than to ask which part of it is needed."""
STEPPED = 12_288
"""Up to so many, where the matrix is stored and most coefficients that move end on a bound: each of them is visited
about once, which costs less than to bring it into a working set."""
_FEW_FREE = 0.3
_ROWS_NEEDED = 0.25
_COPY = 0.15


@final
class SMO(Solver):
    """Pairs of coefficients at a time; without a sum to keep, single ones."""

    def init(self, gram: Gram, problem: BoxProblem, *, start: Float64 | None, tol: float) -> Run:
        if hard_margin.applies(problem):
            return hard_margin.HardMarginRun(gram, problem, tol)
        begin = feasible(problem) if start is None else start
        return run(gram, problem, begin, tol, _moves(problem))


def _moves(problem: BoxProblem) -> Moves:
    if problem.mass is not None:
        return SidedPairs()
    if problem.total is None:
        return Singles()
    return Pairs() if problem.kink is None else KinkedPairs()


def run(gram: Gram, problem: BoxProblem, start: Float64, tol: float, moves: Moves) -> Run:
    """The run that suits the size of the problem."""
    n = len(problem.linear)
    most = STEPPED if many_at_bounds(problem) else LARGEST
    if n <= DENSE or (n <= most and gram.in_memory and not _nearly_there(problem, start)):
        return DenseRun(gram, problem, start, tol, moves)
    return WorkingSetRun(gram, problem, start, tol, moves)


def many_at_bounds(problem: BoxProblem) -> bool:
    """Whether a problem tells beforehand that many of its coefficients will end on a bound other than zero."""
    return problem.kink is not None or problem.mass is not None


def _nearly_there(problem: BoxProblem, start: Float64) -> bool:
    """Whether a start is near a solution in which few coefficients are free: those few are a small working set."""
    free = int(np.count_nonzero((start > problem.lower) & (start < problem.upper)))
    return 2 < free < _FEW_FREE * len(start)  # up to two are where a first point meets its sums


def worth_storing(groups: Sequence[int]) -> bool:
    """Whether the problems of all pairs of groups of these sizes had better share one stored matrix.

    Storing computes half a square once, and copies each part from it. Without, small pairs compute every entry once
    (`gram.pairs`), and a large one computes the rows that it turns out to need, whatever others computed.
    """
    large = [(a + b) ** 2 for a, b in combinations(groups, 2) if a + b > LARGEST]
    small = sum(a * b for a, b in combinations(groups, 2) if a + b <= LARGEST)
    return 0.5 * sum(groups) ** 2 + _COPY * sum(large) < small + _ROWS_NEEDED * sum(large)


def feasible(problem: BoxProblem) -> Float64:
    """A point of the box with the right sum: nothing where possible, then the first coefficients to their bounds."""
    b = np.clip(np.zeros(len(problem.linear)), problem.lower, problem.upper)
    if problem.total is None:
        return b
    if problem.mass is None:
        _shift(b, problem, problem.total, np.arange(len(b)))
        return b
    _shift(b, problem, (problem.mass + problem.total) / 2, np.flatnonzero(problem.upper > 0))
    _shift(b, problem, (problem.total - problem.mass) / 2, np.flatnonzero(problem.upper <= 0))
    return b


def _shift(b: Float64, problem: BoxProblem, total: float, ids: npt.NDArray[np.intp]) -> None:
    """Move the first of these coefficients until they have this sum."""
    missing = total - float(b[ids].sum())
    if missing == 0.0:
        return
    room = (problem.upper if missing > 0 else problem.lower)[ids] - b[ids]
    filled = np.cumsum(room)
    most = abs(float(filled[-1])) if len(ids) else 0.0
    # What rounding alone makes too much is all there is: every one to its bound.
    if abs(missing) > most * (1 + 1e-12):
        raise ValueError(f"no point of the box sums to {total:g}; at most {most:g} can be shifted")
    last = min(int(np.searchsorted(np.abs(filled), abs(missing))), len(ids) - 1)
    b[ids[:last]] += room[:last]
    b[ids[last]] += missing - float(filled[last] - room[last])
    np.clip(b, problem.lower, problem.upper, out=b)
