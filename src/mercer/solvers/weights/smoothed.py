"""Newton's method for losses with kinks, through increasingly close smooth losses; for linear machines with few
features.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c)
Given     a `LinearProblem` whose loss has a box as its dual, of up to about a thousand features
Result    w, c, dual coefficients, and the duality gap for the loss with its kinks
Source    Rockafellar, Augmented Lagrangians and applications of the proximal point algorithm (1976), on the dual; Yan
          and Li, An efficient augmented Lagrangian method for support vector machine (2020), for its Newton steps

A loss with a box as its dual is piecewise linear: with e_i the part of f_i + linear_i beyond the tube [-kink_i,
kink_i], C_i loss is -upper_i e_i below the tube and -lower_i e_i above it. With a price of width / C_i (b_i -
centre_i)^2 / 2 on coefficients in the dual, each kink becomes a parabola of that width, whose slopes lie within those
of the loss: minus the slopes, weighted, are feasible for the dual of the loss itself, and the gap that ends the method
is the true one. The centre is where the last round ended, so the price vanishes at the optimum however wide the
parabolas still are. They are narrowed while rounds gain little. If they were narrow from the start, too few rows would
have curvature, and steps would hardly move.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.solvers.drive import Limits
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.newton import PrimalNewtonRun, few_of
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, proven, relative_gap
from mercer.solvers.weights.row_products import rows_of
from mercer.solvers.weights.run import LinearRun
from mercer.solvers.weights.terms import DualTerms

_WIDEST = 2.0
"""The first width, in units in which a width of 1 reaches every row from the zero function."""
_NARROWER = 4.0
"""The ratio of successive widths. With larger steps more rows change sides at once; with smaller ones more intermediate
optima are computed."""
_GAINS = 0.5
"""A round that leaves less than this fraction of the gap is followed by another of the same width."""
_BETTER = 0.9
"""One that leaves more than this fraction made no progress ..."""
_IDLE_ROUNDS = 6
"""... and after this many of these, ended by rounding, the run has stalled."""
_NARROWEST = 1e-12
"""Narrower parabolas are lost to rounding; in the same units."""
_WIDER = 2.0
"""A start on a subset of rows continues at a wider width than it ended with, as the optimum of all rows lies
elsewhere."""
_START_TOL = 3e-2
"""Tolerance of a rough start: the optimum of the full problem is farther away than this."""
_SHARE_OF_TOL = 0.2
"""The fraction of the tolerance allowed for the optimum of one width; the width itself takes the rest."""
RULES = (_WIDEST, _NARROWER, _GAINS, _BETTER, _IDLE_ROUNDS, _NARROWEST, _SHARE_OF_TOL)
"""All of these constants, for compiled loops that do the same."""


@dataclass(frozen=True, eq=False)
class Proof:
    """Coefficients within their bounds, weights, an intercept, and both objectives."""

    b: Float64
    w: Float64
    c: float
    primal: float
    dual: float
    gap: float
    """The relative duality gap, or the violation of optimality."""


class SmoothedRun(LinearRun):
    """Rounds of parabolas, each minimised from where the last one ended; an iteration is one Newton step."""

    first_chunk = 1

    def __init__(self, problem: LinearProblem, dual: Dual, theta: Float64 | None, width: float, tol: float) -> None:
        self._problem, self._dual, self._tol = problem, dual, tol
        self._rows = rows_of(problem.rows)
        self._idle = 0
        self._centre = np.zeros(len(problem.y))
        self._minimise(theta, width)
        self._best, self._best_theta = self._proven(), self.newton.theta
        self.gap = self._best.gap

    @classmethod
    def begin(cls, problem: LinearProblem, tol: float, limits: Limits, seed: int = 0) -> Self:
        """Start from the rough solution on a subset of many rows, or from zero."""
        dual, few = problem.dual, few_of(problem)
        assert dual is not None, "a loss without a quadratic dual"
        if few is None:
            return cls(problem, dual, None, _WIDEST * _scale(dual), tol)
        rough = SmoothedRun.begin(few, _START_TOL, limits).driven(_START_TOL, limits)
        return cls(problem, dual, rough.newton.theta, _WIDER * rough.width, tol)

    def _minimise(self, theta: Float64 | None, width: float) -> None:
        """Start a round with parabolas of this width."""
        self.width, ridge = width, width / self._problem.C
        terms = DualTerms.of(
            dataclasses.replace(self._dual, ridge=ridge, linear=self._dual.linear - ridge * self._centre)
        )
        self.newton = self._newton(terms, theta)

    def _newton(self, terms: DualTerms, theta: Float64 | None) -> PrimalNewtonRun:
        return PrimalNewtonRun(self._problem, self._rows, terms, theta, _SHARE_OF_TOL * self._tol)

    def _proven(self) -> Proof:
        """What the current coefficients of the round prove for the loss with its kinks."""
        found, w = self.newton.finish(Status.CONVERGED, Stats(0, 0.0, 0.0)), self.newton.w
        b, f, c = found.coefficients, found.outputs, found.intercept
        b, primal, dual = proven(self._problem, self._rows, w, c, f, b, self._rows.combination(b))
        return Proof(b, w, c, primal, dual, relative_gap(primal, dual))

    def step(self, iterations: int) -> None:
        before = self.newton.iterations
        self.newton.step(iterations)
        self.iterations += self.newton.iterations - before
        if self.newton.done:
            self._end_round()

    def _end_round(self) -> None:
        proof, last = self._proven(), self._best.gap
        lost = self.newton.status is Status.STALLED or self.width <= _NARROWEST * _scale(self._dual)
        self._idle = 0 if proof.gap < _BETTER * last else self._idle + lost
        if proof.gap < last:
            self._best, self._best_theta = proof, self.newton.theta
        self.gap = self._best.gap
        self.done = self.gap <= self._tol or self._idle >= _IDLE_ROUNDS
        if self.done:
            self.status = Status.CONVERGED if self.gap <= self._tol else Status.STALLED
        elif lost and proof.gap > last:
            self._centre = self._best.b  # too narrow for rounding, or for too few rows
            self._minimise(self._best_theta, _NARROWER**2 * self.width)
        else:
            self._centre = proof.b
            self._minimise(self.newton.theta, self.width if proof.gap < _GAINS * last else self.width / _NARROWER)

    def finish(self, status: Status, stats: Stats) -> Solution:
        if not self.done:
            proof = self._proven()
            if proof.gap < self._best.gap:
                self._best, self._best_theta = proof, self.newton.theta
            self.gap = self._best.gap
        best, status = self._best, Status.CONVERGED if self.gap <= self._tol else status
        return Solution(best.b, self._rows.all_outputs(best.w) + best.c, best.c, best.primal, status, stats)

    @final
    def solution(self, found: Solution) -> LinearSolution:
        best = self._best
        return LinearSolution(best.w, best.c, best.b, best.primal, best.dual, found.status, found.stats)


solve = SmoothedRun.solve


def _scale(dual: Dual) -> float:
    """How far the zero function is beyond the kinks: parabolas this wide contain every row at first."""
    return float(np.abs(dual.linear).max(initial=0.0)) or 1.0
