"""What Newton's methods on the weights of a linear machine share: evaluation in one pass, line search, the gap.

With b_i = -C_i slope(y_i, f_i) the duality gap is half the squared gradient, so that it comes for free: Fenchel's
inequality is an equality at each row, and what remains is 1/2 |w - X'b|^2.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from mercer._types import Float64
from mercer.solvers.drive import Limits, OnChunk, Run, drive
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, balanced, bounds
from mercer.solvers.weights.row_products import Rows

_ARMIJO = 1e-4
_SHORTEST_STEP = 2.0**-30
_ROUNDING = 1e-13
_FLAT = 0.1
_FINE = 1e-7
"""Of tolerances below this, rounding in the outputs could be a part."""
_LONGEST_STEP = 16.0
_SECTIONS = 12
_IDLE = 8
"""After so many steps that bring nothing but rounding, nothing is to be had any more."""


class PrimalRun(Run):
    """One minimisation under way; an iteration is one Newton step. `theta` is w, and then c where there is one."""

    def __init__(self, problem: LinearProblem, rows: Rows, start: Float64 | None, tol: float) -> None:
        self._problem = problem
        self._rows = rows
        self._tol = tol
        n, d = rows.shape
        self._has_intercept = problem.freedom > 0
        self._penalty = np.ones(d + self._has_intercept)
        if self._has_intercept:
            self._penalty[d] = problem.freedom**-2.0
        self.theta = np.zeros(len(self._penalty)) if start is None else start.copy()
        self._f = np.empty(n)
        self._slope = np.empty(n)
        self._curvature = np.zeros(n)
        self._idle = 0
        self._evaluate(self.theta)

    @property
    def c(self) -> float:
        return float(self.theta[-1]) if self._has_intercept else 0.0

    @abstractmethod
    def _direction(self) -> Float64:
        """The step that minimises the quadratic model at theta, or nearly so."""

    def _note_curvature(self, number: int, curvature: Float64) -> None:
        """Called while the rows of a block are in cache, with their curvatures; they are kept afterwards."""

    def _judge(self, y: Float64, C: Float64, f: Float64, slope: Float64, curvature: Float64) -> float:
        """The losses of some rows, weighted and added up; their slopes and curvatures, weighted, go into the arrays."""
        loss = self._problem.loss
        np.multiply(C, loss.slope(y, f), out=slope)
        np.multiply(C, loss.curvature(y, f), out=curvature)
        return float(C @ loss.value(y, f))

    def _pull(self, f: Float64, change: Float64, size: float) -> float:
        """The derivative of the weighted losses in the size of a step that changes the outputs f by size * change."""
        problem = self._problem
        return float((problem.C * problem.loss.slope(problem.y, f + size * change)) @ change)

    def _evaluate(self, theta: Float64, f: Float64 | None = None) -> None:
        """Value, gradient and curvatures at theta, whose outputs are f if they are known already."""
        problem, rows = self._problem, self._rows
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
            values[number] = self._judge(problem.y[block], problem.C[block], own, slope, curvature)
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
        theta, value, gap, f = self.theta, self._value, self.gap, self._f.copy()
        direction = self._direction()
        descent = float(direction @ self._gradient)
        # Within rounding of the optimum values tell nothing any more; then a step must bring the gradient down.
        noise = _ROUNDING * abs(value)
        change = self._change(direction)
        size = self._along(theta, direction, f, change, descent) if -descent > noise else 1.0
        while size > _SHORTEST_STEP and descent < 0:
            self._evaluate(theta + size * direction, f + size * change)
            if self._value <= value + _ARMIJO * size * descent + noise and (-descent > noise or self.gap < 0.9 * gap):
                self.theta = theta + size * direction
                if self.gap <= self._tol < _FINE:
                    self._evaluate(self.theta)  # outputs that were added up step by step are not that exact
                self.done = self.gap <= self._tol
                self._idle = 0 if self._value < value - noise or self.gap < 0.9 * gap else self._idle + 1
                if self._idle > _IDLE and not self.done:
                    self.done, self.status = True, Status.STALLED
                return
            if -descent <= noise:
                break
            size *= 0.5
        self._evaluate(theta)
        self.done, self.status = True, Status.STALLED

    def _change(self, direction: Float64) -> Float64:
        """By how much a step changes the outputs."""
        change = self._rows.all_outputs(direction[: self._rows.shape[1]])
        if self._has_intercept:
            change += direction[-1]
        return change

    def _along(self, theta: Float64, direction: Float64, f: Float64, change: Float64, descent: float) -> float:
        """About the best size of a step that changes the outputs f by `change`; this takes no pass over the rows.

        Many rows may cross a kink of the slope in one step, so that the quadratic model of all of them misleads.
        """
        at, across = float((self._penalty * theta) @ direction), float((self._penalty * direction) @ direction)

        def slope(size: float) -> float:
            return at + size * across + self._pull(f, change, size)

        return flat_point(slope, descent)

    def finish(self, status: Status, stats: Stats) -> Solution:
        return Solution(-self._slope, self._f, self.c, self._value, status, stats)

    def solution(self, limits: Limits, on_chunk: OnChunk | None, began: float) -> LinearSolution:
        """Run to the end."""
        found = drive(self, self._tol, limits, on_chunk, began)
        w, b = self.theta[: self._rows.shape[1]], found.coefficients
        image = w - self._gradient[: len(w)]
        if math.isinf(self._problem.freedom):
            b = balanced(b)
            image = self._rows.combination(b)
        primal, dual = bounds(self._problem, w, self.c, found.outputs, b, image)
        enough = found.status is Status.STALLED and primal - dual <= self._tol * abs(primal)
        status = Status.CONVERGED if enough else found.status
        return LinearSolution(w, self.c, b, primal, dual, status, found.stats)


def flat_point(slope: Callable[[float], float], at_start: float) -> float:
    """About where a convex function of one variable is least, from its slope there, which is `at_start` < 0 at zero."""
    low, high, at_low, at_high = 0.0, 1.0, at_start, slope(1.0)
    enough = _FLAT * abs(at_low)
    while at_high < -enough and high < _LONGEST_STEP:
        low, high, at_low = high, 2.0 * high, at_high
        at_high = slope(high)
    if abs(at_high) <= enough or at_high < 0.0:
        return high
    for _ in range(_SECTIONS):
        # Where a line through both ends crosses zero, but well inside: slopes are monotone, though seldom straight.
        share = min(max(at_low / (at_low - at_high), 0.1), 0.9)
        middle = low + share * (high - low)
        at_middle = slope(middle)
        if abs(at_middle) <= enough:
            return middle
        low, at_low, high, at_high = (
            (middle, at_middle, high, at_high) if at_middle < 0 else (low, at_low, middle, at_middle)
        )
    return low if low > 0.0 else high
