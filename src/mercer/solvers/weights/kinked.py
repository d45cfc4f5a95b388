"""Dual coefficients of machines with kinked losses, trained on few features.

Problem   minimise  1/2 b'Kb + linear'b + kink'|b|  over  lower <= b <= upper, and sum(b) = 0 with an intercept
Given     the rows X with K = XX', as a `LinearProblem`
Result    b, and the largest violation of the optimality conditions, in units of the decision function
Source    as in `smoothed`, whose rounds are used here

The weights are exactly X'b, so the gradient left by a round changes outputs by up to the length of the longest row
times the gradient. Coefficients on a bound or a kink must stay exactly there, or they would count as free; so a sum
fixed by an intercept is corrected by free coefficients only.
"""

from __future__ import annotations

import math
import time
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.gram.block_rows import BlockRows
from mercer.inputs.vectors import squared_lengths
from mercer.losses.dual import Dual
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import rule_for
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Stats, Status
from mercer.solvers.weights import small
from mercer.solvers.weights.newton import PrimalNewtonRun
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, bounds
from mercer.solvers.weights.row_products import RowProducts, rows_of
from mercer.solvers.weights.smoothed import Proof, SmoothedRun
from mercer.solvers.weights.terms import DualTerms

_SHARE = 0.2
"""How far the gradient of a round may move outputs, relative to the violation that the round should leave."""
_EXCESS = 1e-6
"""The error of the sum of coefficients, in units of their bounds, up to which free coefficients correct it ..."""
_OFF = 1e-12
"""... and the error allowed afterwards, relative to their sizes: rounding."""
_MENDS = 4
"""Rounds of correcting a sum: a free coefficient may meet a bound, and the others then share the rest."""
_RULES = (_SHARE, _EXCESS, _MENDS, _OFF)
"""All of these constants, for compiled loops that do the same."""


@final
class _Newton(PrimalNewtonRun):
    """Ends when its gradient moves no output by more than `goal`."""

    longest: float = 1.0
    goal: float = 0.0

    def _optimal(self) -> bool:
        d = self._rows.shape[1]
        off = self.longest * math.sqrt(float(self._gradient[:d] @ self._gradient[:d]))
        if not self._has_intercept:
            return off <= self.goal
        excess = abs(float(self._gradient[d]))  # of the sum of coefficients
        return off + self.longest**2 * excess <= self.goal and excess <= _EXCESS * float(self._problem.C.mean())


@final
class KinkedRun(SmoothedRun):
    """Rounds of parabolas until no coefficient violates optimality by more than the tolerance."""

    def __init__(self, problem: LinearProblem, dual: Dual, theta: Float64 | None, width: float, tol: float) -> None:
        self._box = BoxProblem.of(_loss_problem(problem))
        self._longest = math.sqrt(float(squared_lengths(problem.rows).max(initial=0.0)))
        super().__init__(problem, dual, theta, width, tol)

    def _newton(self, terms: DualTerms, theta: Float64 | None) -> PrimalNewtonRun:
        newton = _Newton(self._problem, self._rows, terms, theta, 0.0)
        newton.longest = self._longest
        newton.goal = _SHARE * max(min(self.width, self.gap), self._tol)
        return newton

    def _proven(self) -> Proof:
        problem, rows, box = self._problem, self._rows, self._box
        b = self.newton.finish(Status.CONVERGED, Stats(0, 0.0, 0.0)).coefficients
        b = with_zero_sum(b, box) if problem.free_intercept else b
        w, c, primal, dual, violation = _machine(problem, box, rows, b)
        feasible = not problem.free_intercept or abs(float(b.sum())) <= _OFF * float(np.abs(b).sum())
        return Proof(b, w, c, primal, dual, violation if feasible else math.inf)


def with_zero_sum(b: Float64, box: BoxProblem) -> Float64:
    """Coefficients that sum to zero, as far as moving the free ones allows."""
    b = b.copy()
    for _ in range(_MENDS):
        free, excess = np.flatnonzero(box.free(b)), float(b.sum())
        if excess == 0.0 or not len(free):
            break
        low, high = box.ends(b)
        room = b[free] - low[free] if excess > 0 else high[free] - b[free]
        share = min(abs(excess) / max(float(room.sum()), np.finfo(float).tiny), 1.0)
        b[free] -= math.copysign(share, excess) * room
        if share == 1.0:
            b[free] = (low if excess > 0 else high)[free]
    return b


def solve(
    problem: LinearProblem, *, tol: float, limits: Limits | None = None, on_chunk: OnChunk | None = None
) -> LinearSolution:
    """Minimise until no coefficient violates optimality by more than `tol`, or as far as the limits allow."""
    began, limits = time.monotonic(), limits or Limits()
    found = None if isinstance(problem.rows, BlockRows) else small.coefficients(problem, _RULES, tol, limits)
    if found is None:
        return KinkedRun.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)
    b, violation, steps = found
    w, c, primal, dual, _ = _machine(problem, BoxProblem.of(_loss_problem(problem)), rows_of(problem.rows), b)
    stats = Stats(steps, violation, time.monotonic() - began)
    return LinearSolution(w, c, b, primal, dual, Status.CONVERGED, stats)


def _loss_problem(problem: LinearProblem) -> LossProblem:
    return LossProblem(problem.loss, problem.y, problem.C, intercept=problem.free_intercept)


def _machine(
    problem: LinearProblem, box: BoxProblem, rows: RowProducts, b: Float64
) -> tuple[Float64, float, float, float, float]:
    """Weights and intercept of coefficients, both objectives, and the violation of optimality."""
    w = rows.combination(b)
    f = rows.all_outputs(w)
    F = -(f + box.linear)
    c = rule_for(box).intercept(b, F, box)
    return w, c, *bounds(problem, w, c, f + c, b, w), box.violation(b, F)
