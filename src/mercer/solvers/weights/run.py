"""What Newton's methods on the weights of a linear machine share: evaluation in one pass, line search, the gap.

With b_i = -C_i slope(y_i, f_i), Fenchel's inequality is an equality at each row, and what is left of the duality gap is
1/2 |w - X'b|^2, half the squared gradient. So it comes for free.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from mercer._types import Float64
from mercer.solvers.drive import Limits, OnChunk, Run, StallDetector, drive
from mercer.solvers.numerics.line_search import backtrack, flat_point
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, bounds
from mercer.solvers.weights.row_products import RowProducts

_ROUNDING = 1e-13
"""The rounding error of an objective that is a sum over many rows, as a share of it."""
_FINE = 1e-7
"""With tolerances below this, rounding in outputs that were added up step by step would count."""
_IDLE_STEPS = 8
"""Steps in a row that bring nothing but rounding, before the run ends: one or two also occur on the way."""
_LESS = 0.9
"""A step within rounding of the optimum must bring the gap down to this share."""


class PrimalRun(Run):
    """One minimisation under way; an iteration is one Newton step. `theta` is w, and then c where there is one."""

    def __init__(self, problem: LinearProblem, rows: RowProducts, start: Float64 | None, tol: float) -> None:
        self._problem, self._rows, self._tol = problem, rows, tol
        n, d = rows.shape
        self._has_intercept = problem.intercept_scale > 0
        self._penalty = np.ones(d + self._has_intercept)
        if self._has_intercept:
            self._penalty[d] = problem.intercept_scale**-2.0
        self.theta = np.zeros(len(self._penalty)) if start is None else start.copy()
        self._f = np.empty(n)
        self._slope = np.empty(n)
        self._curvature = np.zeros(n)
        self._stall = StallDetector(_IDLE_STEPS)
        self._evaluate(self.theta)

    @property
    def w(self) -> Float64:
        return self.theta[: self._rows.shape[1]]

    @property
    def c(self) -> float:
        return float(self.theta[-1]) if self._has_intercept else 0.0

    @abstractmethod
    def _direction(self) -> Float64:
        """The step that minimises the quadratic model at theta, or nearly so."""

    def _note_curvature(self, number: int, curvature: Float64) -> None:
        """Called while the rows of a block are in cache, with their curvatures; they are kept afterwards."""

    def _judge(self, block: slice, f: Float64, slope: Float64, curvature: Float64) -> float:
        """The sum of the weighted losses of some rows; writes their weighted slopes and curvatures into the arrays."""
        loss, y, C = self._problem.loss, self._problem.y[block], self._problem.C[block]
        np.multiply(C, loss.slope(y, f), out=slope)
        np.multiply(C, loss.curvature(y, f), out=curvature)
        return float(C @ loss.value(y, f))

    def _pull(self, f: Float64, change: Float64, size: float) -> float:
        """The derivative of the weighted losses in the size of a step that changes the outputs f by size * change."""
        problem = self._problem
        return float((problem.C * problem.loss.slope(problem.y, f + size * change)) @ change)

    def _evaluate(self, theta: Float64, f: Float64 | None = None) -> None:
        """Value, gradient and curvatures at theta, whose outputs are f if they are known already."""
        rows = self._rows
        d = rows.shape[1]
        w, c = theta[:d], float(theta[d]) if self._has_intercept else 0.0
        values = np.zeros(len(rows.blocks))
        gradients = np.zeros((len(rows.blocks), len(theta)))

        def visit(number: int) -> None:
            block = rows.blocks[number]
            own, slope = self._f[block], self._slope[block]
            if f is None:
                rows.outputs(block, w, own)
                own += c
            else:
                own[:] = f[block]
            curvature = np.empty(len(own))
            values[number] = self._judge(block, own, slope, curvature)
            rows.add_combination(block, slope, gradients[number, :d])
            if self._has_intercept:
                gradients[number, d] = slope.sum()
            self._note_curvature(number, curvature)
            self._curvature[block] = curvature

        rows.each(visit)
        self._value = 0.5 * float(self._penalty @ (theta * theta)) + float(values.sum())
        self._gradient = self._penalty * theta + gradients.sum(axis=0)
        self.gap = self._relative_gap(c)

    def _relative_gap(self, c: float) -> float:
        """The duality gap, relative to the objective; about that where an intercept is not penalised."""
        penalised = self._penalty > 0
        gap = 0.5 * float((self._gradient[penalised] ** 2 / self._penalty[penalised]).sum())
        if not penalised.all():
            gap += abs(float(self._gradient[-1])) * (1.0 + abs(c))
        return gap / max(self._value, np.finfo(float).tiny)

    def step(self, iterations: int) -> None:
        del iterations  # one is enough for a chunk
        if self.gap <= self._tol:
            self.done = True
            return
        self.iterations += 1
        noise = _ROUNDING * abs(self._value)
        size, direction = self._search(noise)
        if size is None:
            self._evaluate(self.theta)
            self.done, self.status = True, Status.STALLED
            return
        self.theta = self.theta + size * direction
        if self.gap <= self._tol < _FINE:
            self._evaluate(self.theta)  # outputs that were added up step by step are not that exact
        self.done = self.gap <= self._tol
        if self._stall.update(self.gap, self._value, noise) and not self.done:
            self.done, self.status = True, Status.STALLED

    def _search(self, noise: float) -> tuple[float | None, Float64]:
        """How far to go in which direction, with everything evaluated there; None where nothing is lower."""
        theta, value, gap, f = self.theta, self._value, self.gap, self._f.copy()
        direction = self._direction()
        descent = float(direction @ self._gradient)
        change = self._rows.all_outputs(direction[: self._rows.shape[1]])
        if self._has_intercept:
            change += direction[-1]

        def value_at(size: float) -> float:
            self._evaluate(theta + size * direction, f + size * change)
            return self._value

        if -descent > noise:
            size = self._along(theta, direction, f, change, descent)
            return backtrack(value_at, value, descent, noise=noise, size=size), direction
        # Within rounding of the optimum values tell nothing any more; then a step must bring the gradient down.
        lower = descent < 0.0 and value_at(1.0) <= value + noise and self.gap < _LESS * gap
        return 1.0 if lower else None, direction

    def _along(self, theta: Float64, direction: Float64, f: Float64, change: Float64, descent: float) -> float:
        """About the best size of a step that changes the outputs f by `change`; this takes no pass over the rows.

        Many rows may cross a kink of the slope in one step, so the quadratic model of all of them may mislead.
        """
        at, across = float((self._penalty * theta) @ direction), float((self._penalty * direction) @ direction)
        return flat_point(lambda size: at + size * across + self._pull(f, change, size), descent)

    def finish(self, status: Status, stats: Stats) -> Solution:
        return Solution(-self._slope, self._f, self.c, self._value, status, stats)

    def solution(self, limits: Limits, on_chunk: OnChunk | None, began: float) -> LinearSolution:
        """Run to the end."""
        found = drive(self, self._tol, limits, on_chunk, began)
        w, b = self.w, self._problem.feasible(found.coefficients)
        image = w - self._gradient[: len(w)] if b is found.coefficients else self._rows.combination(b)
        primal, dual = bounds(self._problem, w, self.c, found.outputs, b, image)
        enough = found.status is Status.STALLED and primal - dual <= self._tol * abs(primal)
        status = Status.CONVERGED if enough else found.status
        return LinearSolution(w, self.c, b, primal, dual, status, found.stats)
