"""Small problems: steps over one contiguous matrix, from the first to the last.

Problem   a `BoxProblem` small enough that its whole matrix is at hand
Given     a Gram matrix, and the kind of steps
Result    b, with F recomputed from scratch before convergence is claimed
Source    see `smo_loops` and `box_loops`
"""

from __future__ import annotations

from typing import final

import numpy as np

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.row_supply import subtract_rows
from mercer.solvers.box.step_budget import Patience
from mercer.solvers.box.step_rules import Local, Moves, beyond_single
from mercer.solvers.drive import Run
from mercer.solvers.solution import Solution, Stats, Status

_CLAIMS = 20
_IDLE = 64
"""After so many steps per coefficient, and some, in which nothing has become better, nothing will."""
_SOME = 16_384


@final
class DenseRun(Run):
    """All coefficients at once."""

    first_chunk = 1024  # a few milliseconds; short calls make threads wait for each other

    def __init__(self, gram: Gram, problem: BoxProblem, start: Float64, tol: float, moves: Moves) -> None:
        self._problem = problem
        self._tol = tol
        self._moves = moves
        self._local = Local(
            gram.lazy_rows(), gram.diagonal(), start.copy(), -problem.linear, problem.lower, problem.upper, problem.kink
        )
        self._local.F[:] = self._fresh()
        self._claims = 0
        self._exact = False
        self._patience = Patience(len(start))
        self._best_gap, self._best_objective, self._best_at = np.inf, np.inf, 0

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
        self._exact = self._exact or self._claims > 0 or beyond_single(self._local.F, self.gap)
        steps = self._moves.exact_steps if self._exact else self._moves.steps
        limit = self._patience.cut(iterations)
        did, self.gap = steps(self._local, self._tol, limit)
        self.iterations += did
        tried = self._patience.made(did)
        if did < limit or self.gap <= self._tol:
            self._refresh()
            self._claims += 1
            if self.gap > self._tol and self._claims > _CLAIMS:
                self.done, self.status = True, Status.STALLED
        elif tried:
            self._patience.polish(self._moves, self._local)
            self._refresh()
            if not self.done and self._stalls():
                self.done, self.status = True, Status.STALLED

    def _refresh(self) -> None:
        self._local.F[:] = self._fresh()
        self.gap = self._moves.gap(*self._moves.extremes(self._local.b, self._local.F, self._problem))
        self.done = self.gap <= self._tol

    def _stalls(self) -> bool:
        """Whether linear systems and all the steps between them have stopped to help."""
        b = self._local.b
        objective = self._problem.objective(b, self._local.F)
        noise = float(np.finfo(float).eps * np.abs(self._local.diagonal).max(initial=0.0) * np.abs(b).sum() ** 2)
        better = objective < self._best_objective - max(1e-10 * abs(objective), noise)
        better = better or self.gap < 0.99 * self._best_gap
        self._best_at = self.iterations if better else self._best_at
        self._best_objective = min(objective, self._best_objective)
        self._best_gap = min(self.gap, self._best_gap)
        return self.iterations - self._best_at > _IDLE * len(b) + _SOME

    def finish(self, status: Status, stats: Stats) -> Solution:
        b, F, problem = self._local.b, self._local.F, self._problem
        objective = problem.objective(b, F)
        return Solution(b, -F - problem.linear, self._moves.intercept(b, F, problem), objective, status, stats)
