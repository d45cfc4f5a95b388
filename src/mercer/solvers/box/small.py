"""Small problems: steps over one contiguous matrix, from the first to the last.

Problem   a `BoxProblem` small enough that its whole matrix is at hand
Given     a Gram matrix, and the kind of steps
Result    b, with F recomputed from scratch before convergence is claimed
Source    see `pair_loops`, `nu_loops` and `single_loops`
"""

from __future__ import annotations

from typing import final

import numpy as np

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.solvers.box.local import LocalProblem
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.row_supply import subtract_rows
from mercer.solvers.box.step_budget import StepBudget
from mercer.solvers.box.step_rules import StepRule
from mercer.solvers.drive import Run
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.stall import NOISE, StallDetector

_CLAIMS = 20
"""How often a gap that F says is closed may turn out to be open, once F is recomputed. Rounding explains a few."""
_STALL_STEPS = 64
"""After so many steps per coefficient, and some, in which nothing has become better, nothing will. Fewer would give up
on problems whose linear systems help only now and then; more only delay the answer."""
_SOME = 16_384


@final
class DenseRun(Run):
    """All coefficients at once."""

    first_chunk = 1024  # a few milliseconds; short calls make threads wait for each other

    def __init__(self, gram: Gram, problem: BoxProblem, start: Float64, tol: float, rule: StepRule) -> None:
        self._problem = problem
        self._tol = tol
        self._rule = rule
        self._local = LocalProblem(gram.lazy_rows(), gram.diagonal(), start.copy(), -problem.linear, problem)
        self._local.F[:] = self._fresh()
        self._claims = 0
        self._exact = False
        self._budget = StepBudget(len(start))
        self._stall = StallDetector(_STALL_STEPS * len(start) + _SOME)
        self._judged = 0

    def _fresh(self) -> Float64:
        """-(Kb + linear), added up in float64."""
        local = self._local
        used = np.flatnonzero(local.b)
        values = -self._problem.linear
        local.pair.ensure(used)
        subtract_rows(values, local.pair.square, used, local.b[used], 0, len(values))
        return values

    def step(self, iterations: int) -> None:
        # Once a claim turned out to be wrong, or float32 cannot order what is left, the rest is done in float64.
        self._exact = self._exact or self._claims > 0 or self._local.beyond_single(self.gap)
        steps = self._rule.exact_steps if self._exact else self._rule.steps
        limit = self._budget.cut(iterations)
        did, self.gap = steps(self._local, self._tol, limit)
        self.iterations += did
        used_up = self._budget.spend(did)
        if did < limit or self.gap <= self._tol:
            self._refresh()
            self._claims += 1
            if self.gap > self._tol and self._claims > _CLAIMS:
                self.done, self.status = True, Status.STALLED
        elif used_up:
            self._budget.solve_systems(self._local)
            self._refresh()
            if not self.done and self._stalls():
                self.done, self.status = True, Status.STALLED

    def _refresh(self) -> None:
        self._local.F[:] = self._fresh()
        self.gap = self._rule.gap(*self._rule.extremes(self._local.b, self._local.F, self._problem))
        self.done = self.gap <= self._tol

    def _stalls(self) -> bool:
        """Whether linear systems and all the steps between them have stopped helping."""
        b = self._local.b
        objective = self._problem.objective(b, self._local.F)
        rounding = float(np.finfo(float).eps * np.abs(self._local.diagonal).max(initial=0.0) * np.abs(b).sum() ** 2)
        steps, self._judged = self.iterations - self._judged, self.iterations
        return self._stall.update(self.gap, objective, max(NOISE * abs(objective), rounding), steps)

    def finish(self, status: Status, stats: Stats) -> Solution:
        b, F, problem = self._local.b, self._local.F, self._problem
        objective = problem.objective(b, F)
        return Solution(b, -F - problem.linear, self._rule.intercept(b, F, problem), objective, status, stats)
