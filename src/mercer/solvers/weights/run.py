"""Shared by solvers of linear machines: the entry point, and for Newton's methods evaluation, line search and the gap.

With b_i = -C_i slope(y_i, f_i), Fenchel's inequality is an equality at each row, and the duality gap is 1/2 |w -
X'b|^2, half the squared gradient, so it costs nothing.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import Float64, Floating
from mercer.gram.passes import Found
from mercer.solvers.drive import BETTER, Limits, OnChunk, Run, drive
from mercer.solvers.numerics.line_search import backtrack, flat_point
from mercer.solvers.numerics.newton import NewtonRun
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, proven, relative_gap
from mercer.solvers.weights.row_products import RowProducts, RowsInBlocks, weighted_normal
from mercer.solvers.weights.terms import Terms

_ROUNDING = 1e-13
"""The relative rounding error of an objective that is a sum over many rows."""
_FINE = 1e-7
"""With tolerances below this, rounding errors in outputs updated step by step would matter."""
_IDLE_STEPS = 8
"""Consecutive steps without real progress before the run ends: one or two also occur on the way."""
_LESS = 0.9
"""A step within rounding of the optimum must reduce the gap to this fraction."""
RULES = (_ROUNDING, _FINE, _IDLE_STEPS, _LESS, BETTER)
"""All of these constants, for compiled loops that do the same."""


class LinearRun(Run):
    """A method for training linear machines."""

    @classmethod
    @abstractmethod
    def begin(cls, problem: LinearProblem, tol: float, limits: Limits, seed: int) -> Self:
        """Prepare a run, within the limits; `seed` is for random choices."""

    @abstractmethod
    def solution(self, found: Solution) -> LinearSolution:
        """The machine, after the run has ended."""

    @final
    @classmethod
    def solve(
        cls,
        problem: LinearProblem,
        *,
        tol: float = 1e-4,
        limits: Limits | None = None,
        on_chunk: OnChunk | None = None,
        seed: int = 0,
    ) -> LinearSolution:
        """Minimise until the duality gap is at most `tol` of the objective, or as far as the limits allow."""
        began, limits = time.monotonic(), limits or Limits()
        run = cls.begin(problem, tol, limits, seed)
        return run.solution(drive(run, tol, limits, on_chunk, began))


@final
@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Losses, slopes and curvatures of rows at some weights, as the task of a pass.

    Sums are the losses, the combination of slopes with their total appended and, on request, the normal matrix of
    curvatures with their combination appended. Outputs, slopes and curvatures are kept.
    """

    w: Float64
    c: float
    known: bool
    """Whether outputs are given."""
    normal: bool

    def __call__(self, rows: Floating, terms: Terms, f: Float64 | None) -> Found:
        exact = rows.astype(np.float64)
        f = exact @ self.w + self.c if f is None else f
        slope, curvature = np.empty(len(f)), np.empty(len(f))
        value = terms.judge(slice(None), f, slope, curvature)
        sums = [np.array([value]), np.append(slope @ exact, slope.sum())]
        if self.normal:
            normal = weighted_normal(exact, curvature, mixed=False)
            sums.append(np.vstack([normal, curvature @ exact]))
        return tuple(sums), (f, slope, curvature)


class PrimalRun(NewtonRun, LinearRun):
    """One minimisation in progress; an iteration is one Newton step. `theta` is w, followed by c if there is one."""

    pieces_at_a_time = 1

    def __init__(
        self, problem: LinearProblem, rows: RowProducts, terms: Terms, start: Float64 | None, tol: float
    ) -> None:
        super().__init__(tol, _IDLE_STEPS)
        self._problem, self._rows, self._terms = problem, rows, terms
        n, d = rows.shape
        self._has_intercept = problem.intercept_scale > 0
        self._penalty = np.ones(d + self._has_intercept)
        if self._has_intercept:
            self._penalty[d] = problem.intercept_scale**-2.0
        self.theta = np.zeros(len(self._penalty)) if start is None else start.copy()
        self._f = np.empty(n)
        self._slope = np.empty(n)
        self._curvature = np.zeros(n)
        self._evaluate(self.theta)

    @property
    def w(self) -> Float64:
        return self.theta[: self._rows.shape[1]]

    @property
    def c(self) -> float:
        return float(self.theta[-1]) if self._has_intercept else 0.0

    @abstractmethod
    def _direction(self) -> Float64:
        """The step that (nearly) minimises the quadratic model at theta, once it is accurate enough."""

    def _note_curvature(self, number: int, part: slice, curvature: Float64) -> None:
        """Called while rows of a block are in cache, with their curvatures, which are kept afterwards."""

    def _evaluate(self, theta: Float64, f: Float64 | None = None) -> None:
        """The objective, its gradient and the curvatures at theta; `f` are its outputs, if already known."""
        rows = self._rows
        d = rows.shape[1]
        w, c = rows.into(theta[:d]), float(theta[d]) if self._has_intercept else 0.0
        if isinstance(rows, RowsInBlocks) and rows.in_passes:
            self._evaluate_in_a_pass(rows, theta, w, c, f)
            return
        values = np.zeros(len(rows.blocks))
        gradients = np.zeros((len(rows.blocks), len(theta)))

        def visit(number: int) -> None:
            for block in rows.stretches(rows.blocks[number]):
                own, slope = self._f[block], self._slope[block]
                if f is None:
                    rows.outputs(block, w, own)
                    own += c
                else:
                    own[:] = f[block]
                curvature = np.empty(len(own))
                values[number] += self._terms.judge(block, own, slope, curvature)
                rows.add_combination(block, slope, gradients[number, :d])
                if self._has_intercept:
                    gradients[number, d] += slope.sum()
                self._note_curvature(number, block, curvature)
                self._curvature[block] = curvature

        rows.each(visit)
        self._judged(theta, float(values.sum()), gradients.sum(axis=0))

    def _evaluate_in_a_pass(self, rows: RowsInBlocks, theta: Float64, w: Float64, c: float, f: Float64 | None) -> None:
        """The same over objects that are read in blocks, in one pass."""
        task = JudgedRows(w, c, known=f is not None, normal=self._uses_normal)
        (values, gradient, *normal), kept = rows.matrix.swept(task, self._terms, f)
        self._f, self._slope, self._curvature = kept
        self._note_normal(*normal)
        self._judged(theta, float(values[0]), gradient[: len(theta)])

    _uses_normal = False
    """Whether steps need the normal matrix of curvatures, with their combination of rows as its last row."""

    def _note_normal(self, *normal: Float64) -> None:
        """Called with that matrix, before the fold of rows, if it is needed."""

    def _judged(self, theta: Float64, losses: float, gradient: Float64) -> None:
        """Take over the sum of losses, and its gradient before the fold of rows."""
        d = self._rows.shape[1]
        gradient[:d] = self._rows.back(gradient[:d])
        self._value = 0.5 * float(self._penalty @ (theta * theta)) + losses
        self._gradient = self._penalty * theta + gradient
        self.gap = self._relative_gap(float(theta[d]) if self._has_intercept else 0.0)

    def _relative_gap(self, c: float) -> float:
        """The relative duality gap; approximate if an intercept is not penalised."""
        penalised = self._penalty > 0
        gap = 0.5 * float((self._gradient[penalised] ** 2 / self._penalty[penalised]).sum())
        if not penalised.all():
            gap += abs(float(self._gradient[-1])) * (1.0 + abs(c))
        return gap / max(self._value, np.finfo(float).tiny)

    def _take(self) -> bool:
        self.iterations += 1
        noise = _ROUNDING * abs(self._value)
        size, direction = self._search(noise)
        if size is None:
            self._evaluate(self.theta)
            return False
        self.theta = self.theta + size * direction
        if self.gap <= self._tol < _FINE:
            self._evaluate(self.theta)  # outputs updated step by step are not that accurate
        return not self._stall.update(self.gap, self._value, noise)

    def _search(self, noise: float) -> tuple[float | None, Float64]:
        """A step and its size, with everything evaluated there; None if nothing is lower."""
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
        # Within rounding of the optimum, values are no guide: a step must reduce the gradient.
        lower = descent < 0.0 and value_at(1.0) <= value + noise and self.gap < _LESS * gap
        return 1.0 if lower else None, direction

    def _along(self, theta: Float64, direction: Float64, f: Float64, change: Float64, descent: float) -> float:
        """The approximately best size of a step that changes the outputs f by `change`; takes no pass over the rows.

        Many rows may cross a kink of the slope in one step, so the quadratic model may be misleading.
        """
        at, across = float((self._penalty * theta) @ direction), float((self._penalty * direction) @ direction)
        return flat_point(lambda size: at + size * across + self._terms.slope_along(f, change, size), descent)

    def finish(self, status: Status, stats: Stats) -> Solution:
        if self._under_way:
            self._take()  # an unfinished step is still a descent direction
        return Solution(-self._slope, self._f, self.c, self._value, status, stats)

    @final
    def solution(self, found: Solution) -> LinearSolution:
        image = self.w - self._gradient[: len(self.w)]
        b, primal, dual = proven(self._problem, self._rows, self.w, self.c, self._f, found.coefficients, image)
        enough = found.status is Status.STALLED and relative_gap(primal, dual) <= self._tol
        status = Status.CONVERGED if enough else found.status
        return LinearSolution(self.w, self.c, b, primal, dual, status, found.stats)
