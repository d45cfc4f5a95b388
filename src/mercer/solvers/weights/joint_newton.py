"""Newton's method on the weights of a linear machine of several outputs.

Problem   minimise  1/2 |W|^2 + sum_i C_i loss(y_i, f_i)  over weights W and intercepts c, with f_i = W'x_i + c
Given     rows x_i, dense or CSR, of up to about a thousand features; a smooth loss of several outputs
Result    coefficients b_i = -C_i slope(y_i, f_i), one row per object, with X'b = W at the optimum, and c
Source    Chapelle, Training a support vector machine in the primal (2007), with steps by conjugate gradients, which are
          in `joint_system`

A preconditioner is reused for several steps, as long as conjugate gradients converge quickly with it. A start on every
sixteenth row saves most passes over all rows.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.gram.cost import MOST_FEATURES
from mercer.losses.curvature import CurvatureRoot
from mercer.solvers.drive import Limits, OnChunk, drive
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients
from mercer.solvers.numerics.newton import NewtonRun, RoughSystem
from mercer.solvers.numerics.thinning import thinned
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.joint_system import Preconditioner, hessian_product
from mercer.solvers.weights.newton import STRIDE
from mercer.solvers.weights.recovery import recover_coefficients
from mercer.solvers.weights.row_products import rows_of

_IDLE_STEPS = 5
"""Steps in a row without progress, before the run ends as stalled."""
_OF_TOL = 0.3
"""The fraction of the tolerance that a step may leave: no step needs to be more accurate."""
_SOON, _VERY_SOON = 12, 4
"""A preconditioner is replaced once a step takes more products than this; fewer if there are so few features that a new
one is cheap."""
_LEVELLINGS = 8
"""Newton steps on the intercepts alone; each roughly squares the remaining error."""
_NOTHING = 1e-10
"""Intercepts are not moved in directions whose curvature is below this fraction of the largest."""
_ROWS_FOR_A_START = 4000
"""With fewer rows, passes over all of them cost less than a second problem, so there is no rough start."""
_START_TOL = 1e-2
"""Tolerance of a rough start: the optimum of the full problem is farther away than this."""
_MOST_ENTRIES = 1 << 25
"""Maximum entries of the preconditioner over all outputs: a quarter of a gigabyte."""


class JointRun(NewtonRun):
    """One minimisation in progress; an iteration is one product with the Hessian.

    `theta` holds the weights W, a column for each output, and then the intercepts c where there are any.
    """

    _system: RoughSystem

    def __init__(self, matrix: Any, problem: LossProblem, start: Float64 | None, tol: float) -> None:
        super().__init__(tol, _IDLE_STEPS)
        self._matrix, self._problem = matrix, problem
        self._rows = rows_of(matrix)
        n, d = self._rows.shape
        self.theta = np.zeros((d + problem.intercept, problem.outputs)) if start is None else start
        self._f = self._outputs_of(self.theta)
        self._soon = _VERY_SOON if 2 * d**2 <= n else _SOON
        self._first_length = 0.0
        self._preconditioner: Preconditioner | None = None
        self._here: float | None = None
        """The objective at the current point, if known."""
        self._last = 0.0
        """The last objective computed."""
        self._judge()

    @property
    def weights(self) -> Float64:
        return self.theta[: self._rows.shape[1]]

    @property
    def c(self) -> Float64:
        return self.theta[-1] if self._problem.intercept else np.zeros(self.theta.shape[1])

    # ----------------------------------------------------------------------------------------------------- evaluation

    def _outputs_of(self, theta: Float64) -> Float64:
        outputs = self._rows.all_outputs(theta[: self._rows.shape[1]])
        return outputs + theta[-1] if self._problem.intercept else outputs

    def _judge(self) -> None:
        """Slopes and gradients at the point, and how far b = -C slope is from optimal."""
        problem, d = self._problem, self._rows.shape[1]
        self._slope = problem.C[:, None] * self._slopes(self._f)
        self._gradient = np.empty_like(self.theta)
        self._gradient[:d] = self.weights + self._rows.combination(self._slope)
        if problem.intercept:
            self._gradient[d] = self._slope.sum(axis=0)
        # The machine of b has the weights X'b = W - gradient.
        self._outputs = self._f - self.c - self._rows.all_outputs(self._gradient[:d])
        off = self._slopes(self._outputs + self.c) - self._slope / problem.C[:, None]
        pull = float(np.abs(self._gradient[d:]).max(initial=0.0)) / float(problem.C.sum())
        self.gap = max(float(np.abs(off).max(initial=0.0)), pull)

    def _slopes(self, f: Float64) -> Float64:
        out = np.empty_like(f)
        self._each_block(self._problem.loss.slope, f, out)
        return out

    def _value(self, theta: Float64, f: Float64) -> float:
        W, values = theta[: self._rows.shape[1]], np.empty(len(f))
        self._each_block(self._problem.loss.value, f, values)
        return 0.5 * float((W * W).sum()) + float(self._problem.C @ values)

    def _each_block(self, part: Callable[[Float64, Float64], Float64], f: Float64, out: Float64) -> None:
        """Apply a function of targets and outputs block by block on all threads: exponentials are slow."""

        def visit(number: int) -> None:
            block = self._rows.blocks[number]
            out[block] = part(self._problem.y[block], f[block])

        self._rows.each(visit)

    def _root(self) -> CurvatureRoot:
        return self._problem.loss.curvature_root(self._problem.y, self._f).times(np.sqrt(self._problem.C))

    # ----------------------------------------------------------------------------------------------------------- steps

    def _optimal(self) -> bool:
        if self.gap <= self._tol:
            self._level()
        return self.gap <= self._tol

    def _begin(self) -> bool:
        intercept = self._problem.intercept
        if self._preconditioner is None:  # as expensive as many products
            self._preconditioner = Preconditioner(self._matrix, self._root(), intercept=intercept)
            return False
        product = hessian_product(self._rows, self._root(), intercept=intercept)
        system = ConjugateGradients(product, self._preconditioner, -self._gradient)
        self._system = RoughSystem(system, self._first_length, _OF_TOL * self._tol / self.gap)
        self._first_length = self._system.first_length
        return True

    def _improve(self) -> bool:
        self.iterations += 1
        return self._system.improve()

    def _take(self) -> bool:
        """Move along a step as far as the objective falls."""
        direction = self._system.direction
        change = self._outputs_of(direction)

        def value_at(size: float) -> float:
            self._last = self._value(self.theta + size * direction, self._f + size * change)
            return self._last

        here = value_at(0.0) if self._here is None else self._here
        size = self._descend(value_at, here, float((self._gradient * direction).sum()))
        if self._system.products > self._soon:
            self._preconditioner = None
        if size is None:
            return False
        self.theta = self.theta + size * direction
        self._f = self._outputs_of(self.theta)  # recomputed, so that rounding errors do not accumulate
        self._judge()
        self._here = self._last
        return True

    def _level(self) -> None:
        """Newton's method on the intercepts alone: b must sum to zero to prove a bound."""
        if not self._problem.intercept:
            return
        excess, C = self._gradient[-1], self._problem.C[:, None]
        for _ in range(_LEVELLINGS):
            change = -np.linalg.lstsq(self._root().total(), excess, rcond=_NOTHING)[0]
            self.theta = self.theta.copy()
            self.theta[-1] += change
            self._f = self._f + change
            left = (C * self._slopes(self._f)).sum(axis=0)
            enough = not np.abs(left).max() < 0.5 * np.abs(excess).max()
            excess = left
            if enough:
                break
        self._here = None
        self._judge()

    def finish(self, status: Status, stats: Stats) -> Solution:
        if self._under_way:
            self._take()  # an unfinished step is still a descent direction
        b, problem = -self._slope, self._problem
        losses = problem.loss.value(problem.y, self._outputs + self.c)
        objective = 0.5 * float((b * self._outputs).sum()) + float(problem.C @ losses)
        return Solution(b, self._outputs, self.c, objective, status, stats)


def suits(features: int, outputs: int) -> bool:
    """Whether features are few enough for a matrix over them for each output; otherwise function space is better."""
    return features <= MOST_FEATURES and outputs * (features + 1) ** 2 <= _MOST_ENTRIES


def solve(
    matrix: Any,
    problem: LossProblem,
    *,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """Minimise to within `tol`, or as far as the limits allow."""
    began = time.monotonic()
    limits = limits or Limits()
    with single_threaded_blas():
        middle = _middle(matrix) if problem.intercept else None
        rows = matrix if middle is None else matrix - middle
        run = JointRun(rows, problem, _start(rows, problem, limits), tol)
        found = recover_coefficients(drive(run, tol, limits, on_chunk, began), run.weights, rows, problem)
        if middle is None:
            return found
        # b sums to zero, so the weights X'b are unchanged; their outputs at the middle go into the intercept.
        outputs = np.asarray(matrix @ (matrix.T @ found.coefficients), dtype=np.float64)
        intercept = found.intercept - middle @ (rows.T @ found.coefficients)
        return dataclasses.replace(found, outputs=outputs, intercept=intercept)


def _middle(matrix: Any) -> Float64 | None:
    """The mean of dense rows if they lie far from the origin: there weights and intercepts are strongly coupled."""
    if not isinstance(matrix, np.ndarray):
        return None
    middle = np.asarray(matrix.mean(axis=0, dtype=np.float64))
    squared = float(np.einsum("ij,ij->", matrix, matrix, dtype=np.float64)) / len(matrix)
    return middle if 2.0 * float(middle @ middle) > squared else None


def _start(matrix: Any, problem: LossProblem, limits: Limits) -> Float64 | None:
    """The rough solution on a subset of many rows, each standing for others with its target."""
    n, d = matrix.shape
    part = thinned(problem.C, STRIDE, problem.y) if n >= max(_ROWS_FOR_A_START, 2 * STRIDE * d) else None
    if part is None:
        return None
    few, C = part
    rows, thin = matrix[few], dataclasses.replace(problem, y=problem.y[few], C=C)
    return JointRun(rows, thin, _start(rows, thin, limits), _START_TOL).driven(_START_TOL, limits).theta
