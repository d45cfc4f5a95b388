"""Sequential minimal optimisation with second-order working sets, for problems with the sum constraint.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper,  sum(b) = total
Given     a Gram matrix K and a `BoxProblem` with a total
Result    b, the intercept, and the largest violation of the optimality conditions
Source    Fan, Chen and Lin, Working set selection using second order information (2005), algorithm 2, written for
          signed coefficients b_i = y_i alpha_i

With F = -(Kb + linear), a point is optimal when max F over {b < upper} does not exceed min F over {b > lower}. Each
step moves one coefficient up and one down along the pair with the largest guaranteed gain. Small problems are solved as
a whole, large ones by sub-problems (`large`), very large ones by a start from cells and nested problems (`nested`). K
may be float32, F is float64, and is recomputed from scratch before convergence is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.gram.pairs import LARGEST
from mercer.gram.stored import lazy_rows
from mercer.solvers.box import nested
from mercer.solvers.box.hard_margin import HardMarginRun
from mercer.solvers.box.large import WorkingSetRun
from mercer.solvers.box.local import LocalProblem
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import SOME, STEPS, StepBudget, StepRule, rule_for
from mercer.solvers.drive import NOISE, Run, Solver, StallDetector
from mercer.solvers.solution import Solution, Stats, Status

DENSE = 2048
"""Up to this many coefficients, computing the whole matrix is cheaper than finding out which part is needed."""
STEPPED = 12_288
"""The same if the matrix is stored and most coefficients that move end on a bound: each is visited about once, which
costs less than bringing it into a working set."""
_FEW_FREE = 0.3
"""If fewer than this fraction of the coefficients are free at the start, a working set is used. With more, the set
would have to hold nearly everything; with a lower limit it would hardly ever be used."""
_ROWS_NEEDED = 0.25
"""The fraction of the rows of a large pair of classes that its solver computes, as measured ..."""
_COPY = 0.15
"""... and the cost of copying an entry relative to computing one. Both only weigh storing against recomputing."""
_CLAIMS = 20
"""How often a gap may turn out to be open once F is recomputed. A few times are explained by rounding."""
_FACTORS = 4.0
"""The cost of steps, in factorisations of the matrix, after which a factorisation is tried."""
_STALL_STEPS = 64
"""The run is stalled after this many steps per coefficient (plus a constant) without progress. Fewer would give up on
problems whose linear systems help only occasionally; more only delay the answer."""
_SOME = 16_384
"""The constant: steps that every problem may take before its progress is judged, so small ones are not given up too
soon."""


@final
class SMO(Solver):
    """Moves pairs of coefficients; single ones if no sum is fixed."""

    def init(self, gram: Gram, problem: BoxProblem, *, start: Float64 | None, tol: float) -> Run:
        if problem.is_hard_margin:
            return HardMarginRun(gram, problem, tol)
        if nested.suits(gram, problem):
            return nested.NestedRun(gram, problem, start, tol, rule_for(problem), run)
        begin = feasible(problem) if start is None else start
        return run(gram, problem, begin, tol, rule_for(problem))


@final
class DenseRun(Run):
    """All coefficients at once, over one contiguous matrix."""

    first_chunk = 1024  # a few milliseconds: shorter calls would make threads wait for each other

    def __init__(self, gram: Gram, problem: BoxProblem, start: Float64, tol: float, rule: StepRule) -> None:
        self._problem = problem
        self._tol = tol
        self._rule = rule
        self._local = LocalProblem(lazy_rows(gram), gram.diagonal(), start.copy(), -problem.linear, problem)
        self._local.F[:] = self._local.fresh()
        self._claims = 0
        self._exact = False
        self._budget = StepBudget(len(start))
        self._stall = StallDetector(_STALL_STEPS * len(start) + _SOME)
        self._judged = 0

    def step(self, iterations: int) -> None:
        # After a false claim of convergence, or if float32 cannot rank the candidates, the rest is done in float64.
        self._exact = self._exact or self._claims > 0 or self._local.beyond_single(self.gap)
        steps = self._rule.exact_steps if self._exact else self._rule.steps
        limit = self._budget.cut(iterations)
        did, self.gap = steps(self._local, self._tol, limit)
        self.iterations += did
        used_up = self._budget.spend(did)
        if did < limit or self.gap <= self._tol:
            self._refresh()
            self._claims += 1
            if not self.gap <= self._tol and self._claims > _CLAIMS:  # also if it is no number
                self.done, self.status = True, Status.STALLED
        elif used_up:
            self._budget.solve_systems(self._local)
            self._refresh()
            if not self.done and self._stalls():
                self.done, self.status = True, Status.STALLED

    def _refresh(self) -> None:
        self._local.F[:] = self._local.fresh()
        self.gap = self._rule.gap(*self._rule.extremes(self._local.b, self._local.F, self._problem))
        self.done = self.gap <= self._tol

    def _stalls(self) -> bool:
        """Whether linear systems and the steps between them no longer make progress."""
        b = self._local.b
        objective = self._problem.objective(b, self._local.F)
        rounding = float(np.finfo(float).eps * np.abs(self._local.diagonal).max(initial=0.0) * np.abs(b).sum() ** 2)
        steps, self._judged = self.iterations - self._judged, self.iterations
        return self._stall.update(self.gap, objective, max(NOISE * abs(objective), rounding), steps)

    def finish(self, status: Status, stats: Stats) -> Solution:
        b, F, problem = self._local.b, self._local.F, self._problem
        objective = problem.objective(b, F)
        return Solution(b, -F - problem.linear, self._rule.intercept(b, F, problem), objective, status, stats)


def run(gram: Gram, problem: BoxProblem, start: Float64, tol: float, rule: StepRule) -> Run:
    """The run that suits the size of the problem."""
    n = len(problem.linear)
    most = STEPPED if many_at_bounds(problem) else LARGEST
    if n <= DENSE or (n <= most and gram.in_memory and not _nearly_there(problem, start)):
        return DenseRun(gram, problem, start, tol, rule)
    return WorkingSetRun(gram, problem, start, tol, rule)


def patience(problem: BoxProblem) -> int:
    """The number of steps after which another method should be considered; -1 if there is none.

    At least the number of steps before linear systems are tried, and enough to cost several factorisations of the
    matrix, an estimate of the cost of the other method.
    """
    n = len(problem.linear)
    if problem.absolute_sum is not None or not problem.bounded:
        return -1
    return int(STEPS * n + SOME + _FACTORS * n**3 / 3 * cost.FACTOR / (n * cost.STEP + cost.STEP_CALL))


def many_at_bounds(problem: BoxProblem) -> bool:
    """Whether it is known in advance that many coefficients will end on a bound other than zero."""
    return problem.kink is not None or problem.absolute_sum is not None


def _nearly_there(problem: BoxProblem, start: Float64) -> bool:
    """Whether a start is close to a solution with few free coefficients, which make a small working set."""
    free = int(np.count_nonzero((start > problem.lower) & (start < problem.upper)))
    return 2 < free < _FEW_FREE * len(start)  # up to two may be free because the starting point meets its sums


def worth_storing(groups: Sequence[int]) -> bool:
    """Whether the problems of all pairs of groups of these sizes should share one stored matrix.

    Storing computes half a square once and copies each part from it. Otherwise small pairs compute every entry once
    (`gram.pairs`), and a large pair computes the rows that it needs, whether or not others have computed them.
    """
    large = [(a + b) ** 2 for a, b in combinations(groups, 2) if a + b > LARGEST]
    small = sum(a * b for a, b in combinations(groups, 2) if a + b <= LARGEST)
    return 0.5 * sum(groups) ** 2 + _COPY * sum(large) < small + _ROWS_NEEDED * sum(large)


def feasible(problem: BoxProblem) -> Float64:
    """A point of the box with the required sum: zero if possible, otherwise with the first coefficients at their
    bounds."""
    b = np.clip(np.zeros(len(problem.linear)), problem.lower, problem.upper)
    if problem.total is None:
        return b
    if problem.absolute_sum is None:
        _shift(b, problem, problem.total, np.arange(len(b)))
        return b
    _shift(b, problem, (problem.absolute_sum + problem.total) / 2, np.flatnonzero(problem.upper > 0))
    _shift(b, problem, (problem.total - problem.absolute_sum) / 2, np.flatnonzero(problem.upper <= 0))
    return b


def _shift(b: Float64, problem: BoxProblem, total: float, ids: npt.NDArray[np.intp]) -> None:
    """Move the first of these coefficients until they have this sum."""
    missing = total - float(b[ids].sum())
    if missing == 0.0:
        return
    room = (problem.upper if missing > 0 else problem.lower)[ids] - b[ids]
    filled = np.cumsum(room)
    most = abs(float(filled[-1])) if len(ids) else 0.0
    # The sum exceeds all bounds only by rounding: move every coefficient to its bound.
    if abs(missing) > most * (1 + 1e-12):
        raise ValueError(f"no point of the box sums to {total:g}; at most {most:g} can be shifted")
    last = min(int(np.searchsorted(np.abs(filled), abs(missing))), len(ids) - 1)
    b[ids[:last]] += room[:last]
    b[ids[last]] += missing - float(filled[last] - room[last])
    np.clip(b, problem.lower, problem.upper, out=b)
