"""Newton's method in function space, for every smooth loss.

Problem   minimise  1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i))  over  f(x) = <w, phi(x)> + c
Given     a Gram matrix K, a smooth loss of one or several outputs, targets, penalties
Result    coefficients b of the expansion and intercepts c: b_i = -C_i slope(y_i, f_i), with sum(b) = 0
Source    Chapelle, Training a support vector machine in the primal (2007), for the steps; preconditioned conjugate
          gradients after Diaz, Epperly, Frangella, Tropp and Webber (2023)

With R_i = S_i S_i' the curvature of C_i loss in f_i, a step solves (1 + S'KS) v = -S'K r for the residual
r = -(b + C slope), and moves b by r + S v (`system`). One low-rank factor F F' of K, computed once, preconditions every
step. A step depends on f alone, so the solution on every eighth object is a good start. If C K is so large that
rounding defeats the steps, the run ends as stalled: see `factored`.
"""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.errors import TimeLimitError
from mercer.gram.contract import Gram
from mercer.gram.lowrank import low_rank
from mercer.gram.make import gram_of_values
from mercer.solvers.drive import Limits, OnChunk, drive
from mercer.solvers.numerics.newton import NewtonRun
from mercer.solvers.numerics.thinning import thinned
from mercer.solvers.problem import LossProblem
from mercer.solvers.smooth.system import NewtonSystem
from mercer.solvers.solution import Solution, Stats, Status

_RANK, _RANK_OF_SEVERAL = 300, 100
"""Rank of the preconditioner. Its cost for each output grows with the square of the rank, while each further rank saves
fewer products; so the rank is lower if there are several outputs."""
MOST_FACTORED = 2000
"""Up to this many objects, a run that is defeated by rounding stops at once: `factored` takes over."""
_IDLE_STEPS = 10
"""Steps in a row without progress before the run ends as stalled."""
_ROUGHEST = 0.1
"""The violation that a step may leave, as a fraction: far from the solution, a rough step is as good as an exact one
..."""
_OF_TOL = 0.3
"""... and no step needs to be better than this fraction of the tolerance."""
_STRIDE = 8
"""Stride between the objects of a rough start, whose matrix has 1/64 of the entries."""
_OBJECTS_FOR_A_START = 4096
"""With fewer objects, products with the whole matrix cost less than a second problem, so there is no rough start."""
_START_TOL = 1e-2
"""Tolerance of a rough start: the optimum of the full problem is farther away than this."""
_HALVINGS = 30
"""Accuracy of the initial constant, relative to the range of the targets."""

Point = tuple[Float64, Float64]
"""Coefficients (objects x outputs) and intercepts."""


class FunctionSpaceRun(NewtonRun):
    """One minimisation in progress; an iteration is one conjugate-gradient product with K."""

    first_chunk = 64
    _system: NewtonSystem

    def __init__(self, gram: Gram, problem: LossProblem, start: Point | None, tol: float) -> None:
        super().__init__(tol, _IDLE_STEPS)
        self._gram, self._problem = gram, problem
        shape = (len(problem.C), problem.outputs)
        self.b, self.c = (np.zeros(shape), np.zeros(problem.outputs)) if start is None else start
        self._Kb = np.zeros(shape) if start is None else gram.matvec(self.b)
        rank = _RANK if problem.outputs == 1 else _RANK_OF_SEVERAL  # each output has its own system to invert
        self._at: Float64 | None = None  # the point at which outputs were last recomputed
        self._factor = low_rank(gram, min(rank, shape[0])).factor
        self._judge()

    # ----------------------------------------------------------------------------------------------------- evaluation

    def _value(self, Kb: Float64, c: Float64, squared: float) -> float:
        problem = self._problem
        return 0.5 * squared + float(problem.C @ problem.loss.value(problem.y, _flat(Kb + c)))

    def _judge(self) -> None:
        """The residual (how far b_i / C_i is from minus the slope), and the largest violation of optimality."""
        problem = self._problem
        slope = _columns(problem.loss.slope(problem.y, _flat(self._Kb + self.c)))
        self._slope = problem.C[:, None] * slope
        self._residual: Float64 = -(self.b + self._slope)
        self.gap = float((np.abs(self._residual) / problem.C[:, None]).max(initial=0.0))
        if problem.intercept:
            self.gap = max(self.gap, float(np.abs(self.b.sum(axis=0)).max() / problem.C.sum()))

    # ----------------------------------------------------------------------------------------------------------- steps

    def _begin(self) -> bool:
        problem = self._problem
        root = problem.loss.curvature_root(problem.y, _flat(self._Kb + self.c)).times(np.sqrt(problem.C))
        goal = max(min(_ROUGHEST, self.gap) * self.gap, _OF_TOL * self._tol)
        self._system = NewtonSystem(
            root, self._factor, self.b, self._residual, problem.C,
            intercept=problem.intercept, goal=goal, product=self._gram.matvec,
        )  # fmt: skip
        return True

    def _improve(self) -> bool:
        self.iterations += 1
        return self._system.iterate()

    def _take(self) -> bool:
        if self._system.lost and len(self.b) <= MOST_FACTORED:
            return False
        db, Kdb, dc = self._system.direction()
        before = float((self.b * self._Kb).sum())
        across = float((self.b * Kdb).sum())
        along = float((db * Kdb).sum())

        def value_at(size: float) -> float:
            squared = before + 2 * size * across + size * size * along
            return self._value(self._Kb + size * Kdb, self.c + size * dc, squared)

        size = self._descend(value_at, value_at(0.0), across + float((self._slope * (Kdb + dc)).sum()))
        if size is not None:
            self.b = self.b + size * db
            self.c = self.c + size * dc
            self._Kb = self._Kb + size * Kdb
            self._judge()
        if size is None or self.gap <= self._tol:
            self._afresh()
        return size is not None

    def _afresh(self) -> None:
        """Recompute outputs, without the rounding errors of many steps, and for the kernel itself if the matrix is
        float32."""
        self._Kb = self._gram.refined().matvec(self.b)
        self._judge()
        self._at = self.b

    def finish(self, status: Status, stats: Stats) -> Solution:
        problem = self._problem
        if self._at is not self.b and self._gram.dtype is np.float32:
            self._afresh()
        value = self._value(self._Kb, self.c, float((self.b * self._Kb).sum()))
        single = problem.outputs == 1
        return Solution(
            self.b[:, 0] if single else self.b,
            self._Kb[:, 0] if single else self._Kb,
            float(self.c[0]) if single else self.c,
            value,
            status,
            stats,
        )


def solve(
    gram: Gram,
    problem: LossProblem,
    *,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """Minimise to within `tol`, or as far as the limits allow."""
    began = time.monotonic()
    limits = limits or Limits()
    with single_threaded_blas():  # small products between large ones: BLAS threads would mostly wait
        start = _start(gram, problem, limits)
        try:
            run = FunctionSpaceRun(gram, problem, start, tol)
            return drive(run, tol, limits, on_chunk, began)
        except TimeLimitError:
            if start is None or not start[0].any():
                raise  # a constant alone is not a usable machine
            return _rough(problem, start, began)


def _start(gram: Gram, problem: LossProblem, limits: Limits) -> Point | None:
    """The rough solution on a subset of many objects, with penalties scaled to stand for the others; otherwise a
    constant."""
    n, classes = len(problem.C), problem.y if problem.loss.classifies else None
    thin = thinned(problem.C, _STRIDE, classes) if n >= _OBJECTS_FOR_A_START else None
    if thin is None:
        return _constant(problem)
    few, C = np.arange(n)[thin[0]], thin[1]
    part = dataclasses.replace(problem, y=problem.y[few], C=C)
    sampled = gram.view(few)
    block = gram_of_values(sampled.dense(), sampled.diagonal(), gram)
    rougher = _start(block, part, limits)
    b = np.zeros((n, problem.outputs))
    try:
        rough = FunctionSpaceRun(block, part, rougher, _START_TOL).driven(_START_TOL, limits)
        b[few], c = rough.b, rough.c
    except TimeLimitError:
        if rougher is None:
            raise
        b[few], c = rougher
    return b, c


def _rough(problem: LossProblem, start: Point, began: float) -> Solution:
    """The solution on the subset, extended to all objects, if there was no time for the others."""
    (b, c), stats = start, Stats(0, math.inf, time.monotonic() - began)
    coefficients, intercept = (b[:, 0], float(c[0])) if problem.outputs == 1 else (b, c)
    return Solution(coefficients, np.zeros(0), intercept, math.inf, Status.OF_A_PART, stats)


def _constant(problem: LossProblem) -> Point | None:
    """The constant that fits the targets best: far from them a loss may have no curvature, and no step would lead
    there."""
    if problem.loss.classifies or not problem.intercept:
        return None
    low, high = float(problem.y.min()), float(problem.y.max())
    for _ in range(_HALVINGS):
        middle = low + 0.5 * (high - low)
        if problem.C @ problem.loss.slope(problem.y, np.full_like(problem.y, middle)) < 0:
            low = middle
        else:
            high = middle
    return np.zeros((len(problem.y), 1)), np.array([low + 0.5 * (high - low)])


def _flat(f: Float64) -> Float64:
    return f[:, 0] if f.shape[1] == 1 else f


def _columns(values: Float64) -> Float64:
    return values[:, None] if values.ndim == 1 else values
