"""Newton's method for losses with kinks, through ever closer smooth ones; for linear machines of few features.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c)
Given     a `LinearProblem` whose loss has a box as its dual, of up to about a thousand features
Result    w, c, dual coefficients, and the duality gap for the loss with its kinks
Source    Moreau's envelope as the smooth loss; continuation in its width as usual for interior paths

A loss with a box as its dual is made of straight pieces: with e_i the part of f_i + linear_i beyond the tube
[-kink_i, kink_i], C_i loss is -upper_i e_i below the tube and -lower_i e_i above it. The envelope of width d,
min over u of loss(u) + (f - u)^2 / (2 d), replaces each kink by a parabola of that width. Its slopes lie within those
of the loss: minus the slopes, weighted, are feasible for the dual of the loss itself, and the gap that ends the method
is the true one.
"""

from __future__ import annotations

import dataclasses
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
"""The first width, in units in which it takes one to reach every row from the zero function."""
NARROWER = 8.0
"""The ratio of successive widths: with larger ones more rows change sides at a time, with smaller ones more optima are
found that nobody needs."""
_WIDER = 2.0
"""A start on a few rows is continued at a wider width than it ended with, as the optimum of all rows lies elsewhere."""
_START_TOL = 3e-2
"""A rough start need be no better."""
NARROWEST = 1e-12
"""Narrower parabolas are lost in rounding."""
SHARE_OF_TOL = 0.2
"""The share of the tolerance that the optimum of one width may be off; the width itself takes the rest."""


@final
class SmoothedRun(LinearRun):
    """Ever narrower parabolas, each minimised from where the last one ended; an iteration is one Newton step."""

    first_chunk = 1

    def __init__(self, problem: LinearProblem, dual: Dual, theta: Float64 | None, width: float, tol: float) -> None:
        self._problem, self._dual, self._tol = problem, dual, tol
        self._rows = rows_of(problem.rows)
        self._narrowest = NARROWEST * _scale(dual)
        self._minimise(theta, width)

    @classmethod
    def begin(cls, problem: LinearProblem, tol: float, limits: Limits, seed: int = 0) -> Self:
        """From the rough solution on a few of many rows, or from nothing."""
        dual, few = problem.dual, few_of(problem)
        assert dual is not None, "a loss without a quadratic dual"
        if few is None:
            return cls(problem, dual, None, _WIDEST * _scale(dual), tol)
        rough = cls.begin(few, _START_TOL, limits).driven(_START_TOL, limits)
        return cls(problem, dual, rough.newton.theta, _WIDER * rough.width, tol)

    def _minimise(self, theta: Float64 | None, width: float) -> None:
        """Begin with parabolas of this width."""
        self.width = width
        terms = DualTerms(dataclasses.replace(self._dual, ridge=width / self._problem.C))
        self.newton = PrimalNewtonRun(self._problem, self._rows, terms, theta, SHARE_OF_TOL * self._tol)

    def step(self, iterations: int) -> None:
        before = self.newton.iterations
        self.newton.step(iterations)
        self.iterations += self.newton.iterations - before
        if not self.newton.done:
            return
        self._prove()
        self.done = self.gap <= self._tol
        if not self.done and (self.width <= self._narrowest or self.newton.status is Status.STALLED):
            self.done, self.status = True, Status.STALLED
        if not self.done:
            self._minimise(self.newton.theta, max(self.width / NARROWER, self._narrowest))

    def _prove(self) -> None:
        """The duality gap for the loss with its kinks."""
        found, w = self.newton.finish(Status.CONVERGED, Stats(0, 0.0, 0.0)), self.newton.w
        b, f, c = found.coefficients, found.outputs, found.intercept
        self._proof = proven(self._problem, self._rows, w, c, f, b, self._rows.combination(b))
        self.gap = relative_gap(*self._proof[1:])

    def finish(self, status: Status, stats: Stats) -> Solution:
        if not self.done:
            self._prove()
        status = Status.CONVERGED if self.gap <= self._tol else status
        return dataclasses.replace(self.newton.finish(status, stats), coefficients=self._proof[0])

    def solution(self, found: Solution) -> LinearSolution:
        return LinearSolution(self.newton.w, found.intercept, *self._proof, found.status, found.stats)


solve = SmoothedRun.solve


def _scale(dual: Dual) -> float:
    """How far the zero function is beyond the kinks: parabolas that wide hold every row at first."""
    return float(np.abs(dual.linear).max(initial=0.0)) or 1.0
