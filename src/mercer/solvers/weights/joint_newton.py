"""Newton's method on the weights of a linear machine of several outputs.

Problem   minimise  1/2 |W|^2 + sum_i C_i loss(y_i, f_i)  over weights W and intercepts c, with f_i = W'x_i + c
Given     rows x_i, dense or CSR, of up to about a thousand features; a smooth loss of several outputs
Result    coefficients b_i = -C_i slope(y_i, f_i), one row per object, with X'b = W at the optimum, and c
Source    Chapelle, Training a support vector machine in the primal (2007), with steps by conjugate gradients, which are
          in `joint_system`

One preconditioner is used for several steps, as long as conjugate gradients end soon with it. A start on every
sixteenth row saves most passes over all of them.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.gram.executors import single_threaded_blas
from mercer.losses.base import VectorLoss
from mercer.losses.curvature import CurvatureRoot
from mercer.solvers.drive import Limits, OnChunk, Run, drive
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.stall import Idleness
from mercer.solvers.weights.joint_system import JointSystem, Point, Preconditioner
from mercer.solvers.weights.recovery import settled
from mercer.solvers.weights.row_products import rows_of

_ARMIJO = 1e-4
_SHORTEST_STEP = 2.0**-30
_NOISE = 1e-14
_IDLE_STEPS = 5
_ROUGH = 0.3
_OF_TOL = 0.3
_SOON, _VERY_SOON = 12, 4
_LEVELLINGS = 8
_NOTHING = 1e-10
_STRIDE = 16
_ROWS_FOR_A_START = 16_000
_START_TOL = 1e-2
_MOST_FEATURES = 1000
_MOST_ENTRIES = 1 << 25


class JointRun(Run):
    """One minimisation under way; an iteration is one product with the Hessian."""

    first_chunk = 1

    def __init__(self, matrix: Any, problem: LossProblem, start: Point | None, tol: float) -> None:
        assert isinstance(problem.loss, VectorLoss)
        self._loss: VectorLoss = problem.loss
        self._matrix, self._problem, self._tol = matrix, problem, tol
        self._rows = rows_of(matrix)
        shape = (self._rows.shape[1], problem.outputs)
        self.W, self.c = (np.zeros(shape), np.zeros(problem.outputs)) if start is None else start
        self._f = self._rows.all_outputs(self.W) + self.c
        n, d = self._rows.shape
        self._soon = _VERY_SOON if 2 * d**2 <= n else _SOON  # a preconditioner of few features costs little
        self._first_length = 0.0
        self._preconditioner: Preconditioner | None = None
        self._system: JointSystem | None = None
        self._idleness = Idleness(_IDLE_STEPS)
        self._judge()

    # ----------------------------------------------------------------------------------------------------- evaluation

    def _judge(self) -> None:
        """Slopes and gradients at the point, and how far b = -C slope is from optimal."""
        problem = self._problem
        self._slope = problem.C[:, None] * self._slopes(self._f)
        self._gradient = self.W + self._rows.combination(self._slope)
        self._pull = self._slope.sum(axis=0) if problem.intercept else np.zeros_like(self.c)
        # The machine of b has the weights X'b = W - gradient.
        self._outputs = self._f - self.c - self._rows.all_outputs(self._gradient)
        off = self._slopes(self._outputs + self.c) - self._slope / problem.C[:, None]
        self.gap = max(float(np.abs(off).max(initial=0.0)), float(np.abs(self._pull).max()) / float(problem.C.sum()))

    def _slopes(self, f: Float64) -> Float64:
        """Of the loss, block by block, as exponentials take long."""
        out = np.empty_like(f)

        def visit(number: int) -> None:
            block = self._rows.blocks[number]
            out[block] = self._loss.slope(self._problem.y[block], f[block])

        self._rows.each(visit)
        return out

    def _value(self, W: Float64, f: Float64) -> float:
        values = np.empty(len(f))

        def visit(number: int) -> None:
            block = self._rows.blocks[number]
            values[block] = self._loss.value(self._problem.y[block], f[block])

        self._rows.each(visit)
        return 0.5 * float((W * W).sum()) + float(self._problem.C @ values)

    def _root(self) -> CurvatureRoot:
        return self._loss.curvature_root(self._problem.y, self._f).times(np.sqrt(self._problem.C))

    # ----------------------------------------------------------------------------------------------------------- steps

    def step(self, iterations: int) -> None:
        for _ in range(max(1, iterations)):
            if self._system is None:
                if self.gap <= self._tol:
                    self._level()
                if self.gap <= self._tol:
                    self.done, self.status = True, Status.CONVERGED
                    return
                if self._preconditioner is None:  # which takes as long as many products
                    self._preconditioner = Preconditioner(self._matrix, self._root(), intercept=self._problem.intercept)
                    return
                self._system = self._begun()
            self.iterations += 1
            if self._system.iterate(self._enough):
                self._move(*self._system.direction())
                if self._system.products > self._soon:
                    self._preconditioner = None
                self._system = None
                return

    def _begun(self) -> JointSystem:
        root, intercept = self._root(), self._problem.intercept
        assert self._preconditioner is not None
        system = JointSystem(self._rows, root, (self._gradient, self._pull), self._preconditioner, intercept=intercept)
        self._first_length = self._first_length or system.length or 1.0
        # Far from the solution a rough step is as good as an exact one; and none need be better than the tolerance.
        rough = min(_ROUGH, float(np.sqrt(system.length / self._first_length)))
        self._enough = max(rough, _OF_TOL * self._tol / self.gap)
        return system

    def _move(self, V: Float64, u: Float64) -> None:
        """As far along a step as lowers the objective."""
        value = self._value(self.W, self._f)
        descent = float((self._gradient * V).sum() + self._pull @ u)
        change = self._rows.all_outputs(V) + u
        noise = _NOISE * abs(value)
        size = 1.0
        while size > _SHORTEST_STEP:
            if self._value(self.W + size * V, self._f + size * change) <= value + _ARMIJO * size * descent + noise:
                break
            size *= 0.5
        if descent >= 0 or size <= _SHORTEST_STEP or self._idleness.after(self.gap, value):
            self.done, self.status = True, Status.STALLED
            return
        self.W, self.c = self.W + size * V, self.c + size * u
        self._f = self._rows.all_outputs(self.W) + self.c  # afresh: rounding of many steps never adds up
        self._judge()

    def _level(self) -> None:
        """Newton's method on the intercepts alone: b is to sum to zero, or it proves no bound."""
        for _ in range(_LEVELLINGS if self._problem.intercept else 0):
            pull = np.abs(self._pull).max()
            change = -np.linalg.lstsq(self._root().total(), self._pull, rcond=_NOTHING)[0]
            self.c, self._f = self.c + change, self._f + change
            self._judge()
            if not np.abs(self._pull).max() < 0.5 * pull:
                return

    def finish(self, status: Status, stats: Stats) -> Solution:
        if self._system is not None and self._system.products:
            self._move(*self._system.direction())  # a step that is not finished still leads downhill
        return Solution(-self._slope, self._outputs, self.c, self._value(self.W, self._f), status, stats)


def suits(features: int, outputs: int) -> bool:
    """Whether features are few enough for a matrix over them for each output; else function space is the better."""
    return features <= _MOST_FEATURES and outputs * (features + 1) ** 2 <= _MOST_ENTRIES


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
        run = JointRun(rows, problem, _start(rows, problem, limits, began), tol)
        found = settled(drive(run, tol, limits, on_chunk, began), run.W, rows, problem)
        if middle is None:
            return found
        # b sums to zero, so that the weights X'b are the same; their outputs at the middle go to the intercept.
        outputs = np.asarray(matrix @ (matrix.T @ found.coefficients), dtype=np.float64)
        intercept = found.intercept - middle @ (rows.T @ found.coefficients)
        return dataclasses.replace(found, outputs=outputs, intercept=intercept)


def _middle(matrix: Any) -> Float64 | None:
    """The mean of dense rows that lie far from the origin: there weights and intercepts pull at each other."""
    if not isinstance(matrix, np.ndarray):
        return None
    middle = np.asarray(matrix.mean(axis=0, dtype=np.float64))
    squared = float(np.einsum("ij,ij->", matrix, matrix, dtype=np.float64)) / len(matrix)
    return middle if 2.0 * float(middle @ middle) > squared else None


def _start(matrix: Any, problem: LossProblem, limits: Limits, began: float) -> Point | None:
    """The rough solution on a few of many rows, each standing for others of its target."""
    n, d = matrix.shape
    if n < max(_ROWS_FOR_A_START, 2 * _STRIDE * d):
        return None
    few = np.sort(np.argsort(problem.y, kind="stable")[_STRIDE // 2 :: _STRIDE])
    if len(np.unique(problem.y[few])) < len(np.unique(problem.y)):
        return None  # nothing would hold the intercept of a class without objects
    C = problem.C[few] * (problem.C.sum() / problem.C[few].sum())
    part = dataclasses.replace(problem, y=problem.y[few], C=C)
    run = JointRun(matrix[few], part, _start(matrix[few], part, limits, began), _START_TOL)
    drive(run, _START_TOL, limits, None, began)
    return run.W, run.c
