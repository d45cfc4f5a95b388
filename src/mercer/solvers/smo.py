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

from mercer.gram.matrix import Gram
from mercer.gram.pairs import LARGEST
from mercer.solvers import hardmargin
from mercer.solvers.dense import DenseRun
from mercer.solvers.drive import Run, Solver
from mercer.solvers.moves import Moves, Pairs, Singles
from mercer.solvers.problem import BoxProblem
from mercer.solvers.solution import Float64
from mercer.solvers.workingset import WorkingSetRun

DENSE = 2048
"""Up to so many coefficients the whole matrix is cheaper than to ask which part of it is needed."""
_FEW_FREE = 0.3
_ROWS_NEEDED = 0.25
_COPY = 0.15


@final
class SMO(Solver):
    """Pairs of coefficients at a time; without a sum to keep, single ones."""

    def init(self, gram: Gram, problem: BoxProblem, *, start: Float64 | None, tol: float) -> Run:
        if hardmargin.applies(problem):
            return hardmargin.HardMarginRun(gram, problem, tol)
        begin = feasible(problem) if start is None else start
        return run(gram, problem, begin, tol, Singles() if problem.total is None else Pairs())


def run(gram: Gram, problem: BoxProblem, start: Float64, tol: float, moves: Moves) -> Run:
    """The run that suits the size of the problem."""
    n = len(problem.linear)
    if n <= DENSE or (n <= LARGEST and gram.stored is not None and not _nearly_there(problem, start)):
        return DenseRun(gram, problem, start, tol, moves)
    return WorkingSetRun(gram, problem, start, tol, moves)


def _nearly_there(problem: BoxProblem, start: Float64) -> bool:
    """Whether a start is near a solution in which few coefficients are free: those few are a small working set."""
    free = int(np.count_nonzero((start > problem.lower) & (start < problem.upper)))
    return 0 < free < _FEW_FREE * len(start)


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
    missing = problem.total - float(b.sum())
    room = problem.upper - b if missing > 0 else problem.lower - b
    filled = np.cumsum(room)
    if missing == 0.0:
        return b
    enough = np.flatnonzero(np.abs(filled) >= abs(missing))
    if not len(enough):
        raise ValueError(f"no point of the box sums to {problem.total:g}; at most {abs(filled[-1]):g} can be shifted")
    last = int(enough[0])
    b[:last] += room[:last]
    b[last] += missing - float(filled[last] - room[last])
    return b
