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
import time
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.solvers.drive import Limits, OnChunk, drive
from mercer.solvers.solution import Status
from mercer.solvers.weights import coordinate_descent
from mercer.solvers.weights.newton import PrimalNewtonRun, few_of
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, bounds, relative_gap
from mercer.solvers.weights.row_products import RowProducts, rows_of

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


class SmoothedRun(PrimalNewtonRun):
    """Newton's method on parabolas in place of kinks, with value, slope and curvature of a row in one pass."""

    def __init__(
        self, problem: LinearProblem, dual: Dual, width: float, rows: RowProducts, start: Float64 | None, tol: float
    ) -> None:
        self._pieces = dual.linear, dual.kink, dual.lower, dual.upper, problem.C / width
        super().__init__(problem, rows, start, tol)

    def _judge(self, block: slice, f: Float64, slope: Float64, curvature: Float64) -> float:
        linear, kink, lower, upper, steepness = (part[block] for part in self._pieces)
        return float(_parabolas(linear, kink, lower, upper, steepness, f, slope, curvature))

    def _pull(self, f: Float64, change: Float64, size: float) -> float:
        return float(_pull(*self._pieces, f, change, size))


@jit
def _beyond(error: float, kink: float) -> float:
    """The part of an error that lies beyond the tube."""
    return error - min(max(error, -kink), kink)


@jit
def _parabolas(
    linear: Array, kink: Array, lower: Array, upper: Array, steepness: Array, f: Array, slope: Array, curvature: Array
) -> float:
    """The sum of all envelopes, their slopes and curvatures; `steepness` is the curvature of each parabola."""
    total = 0.0
    for i in range(f.shape[0]):
        error = _beyond(f[i] + linear[i], kink[i])
        low, high = -upper[i], -lower[i]
        slope[i] = min(max(steepness[i] * error, low), high)
        total += slope[i] * (error - 0.5 * slope[i] / steepness[i])
        curved = low < slope[i] < high and (kink[i] == 0.0 or error != 0.0)  # within a tube there is no slope at all
        curvature[i] = steepness[i] if curved else 0.0
    return total


@jit
def _pull(
    linear: Array, kink: Array, lower: Array, upper: Array, steepness: Array, f: Array, change: Array, size: float
) -> float:
    """The derivative of the sum of all envelopes in the size of a step."""
    total = 0.0
    for i in range(f.shape[0]):
        error = _beyond(f[i] + size * change[i] + linear[i], kink[i])
        total += min(max(steepness[i] * error, -upper[i]), -lower[i]) * change[i]
    return total


def solve(
    problem: LinearProblem, *, tol: float = 1e-4, limits: Limits | None = None, on_chunk: OnChunk | None = None
) -> LinearSolution:
    """Minimise until the duality gap is at most `tol` of the objective, or as far as the limits allow."""
    began = time.monotonic()
    limits = limits or Limits()
    path = _Path(problem, tol, limits, on_chunk, began)
    solution = path.follow(*path.start())[0]
    if solution.status is not Status.STALLED:
        return solution
    # Penalties of very different size leave parabolas too narrow for float64: one coefficient at a time still works.
    return coordinate_descent.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)


@final
class _Path:
    """Ever narrower parabolas, each minimised from where the last one ended."""

    def __init__(
        self, problem: LinearProblem, tol: float, limits: Limits, on_chunk: OnChunk | None, began: float
    ) -> None:
        dual = problem.loss.dual(problem.y, problem.C)
        assert dual is not None
        self._problem, self._dual, self._tol = problem, dual, tol
        self._limits, self._on_chunk, self._began = limits, on_chunk, began
        self._rows = rows_of(problem.rows)
        self._scale = float(np.abs(dual.linear).max(initial=0.0)) or 1.0
        """How far the zero function is beyond the kinks: parabolas that wide hold every row at first."""
        self._iterations = 0

    def start(self) -> tuple[Float64 | None, float]:
        """Where to begin, and how wide: from the rough solution on a few of many rows, or from nothing."""
        few = few_of(self._problem)
        if few is None:
            return None, _WIDEST * self._scale
        path = _Path(few, _START_TOL, self._limits, None, self._began)
        _, theta, width = path.follow(*path.start())
        return theta, _WIDER * width

    def follow(self, theta: Float64 | None, width: float) -> tuple[LinearSolution, Float64, float]:
        """The solution, where it ended, and at which width."""
        narrowest = NARROWEST * self._scale
        while True:
            solution, theta = self._minimise(theta, width)
            limited = solution.status in (Status.OUT_OF_ITERATIONS, Status.OUT_OF_TIME)
            if solution.stats.gap <= self._tol:
                return dataclasses.replace(solution, status=Status.CONVERGED), theta, width
            if limited or width <= narrowest or solution.status is Status.STALLED:
                status = solution.status if limited else Status.STALLED
                return dataclasses.replace(solution, status=status), theta, width
            width = max(width / NARROWER, narrowest)

    def _minimise(self, theta: Float64 | None, width: float) -> tuple[LinearSolution, Float64]:
        problem, inner = self._problem, SHARE_OF_TOL * self._tol
        run = SmoothedRun(problem, self._dual, width, self._rows, theta, inner)
        most = self._limits.max_iter
        left = self._limits if most < 0 else dataclasses.replace(self._limits, max_iter=most - self._iterations)
        found = drive(run, inner, left, self._on_chunk, self._began)
        self._iterations += found.stats.iterations
        b = problem.feasible(found.coefficients)
        primal, dual = bounds(problem, run.w, run.c, found.outputs, b, self._rows.combination(b))
        stats = dataclasses.replace(found.stats, iterations=self._iterations, gap=relative_gap(primal, dual))
        return LinearSolution(run.w, run.c, b, primal, dual, found.status, stats), run.theta
