"""Coordinate descent on weights with an absolute penalty, which makes most of them zero.

Problem   minimise  |w|_1 + |c| / intercept_scale + sum_i C_i max(0, 1 - y_i (<w, x_i> + c))^2
Given     a `LinearProblem` with the squared hinge, dense or CSR
Result    w, c, the dual coefficients b and the duality gap
Source    Chang, Hsieh and Lin, Coordinate descent method for large-scale L2-loss linear SVM (2008); Yuan, Ho and Lin,
          An improved GLMNET for L1-regularized logistic regression (2012), for epochs over the nonzero weights

A visit to a feature minimises a parabola plus the penalty of its weight. The parabola has the curvature of the rows
within the margin. If other rows enter and the objective does not fall as predicted, the parabola of all rows is used,
which lies above the losses everywhere. Similar features make this slow, so the nonzero weights are also moved together,
by Newton's method, until the first of them changes sign. The
dual asks that |sum_i b_i x_ij| is at most 1 for every feature: b_i = 2 C_i y_i max(0, 1 - y_i f_i) is scaled down until
that holds, and gives the duality gap.
"""

from __future__ import annotations

import math
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.gram.cost import MOST_FEATURES
from mercer.solvers.drive import Limits, StallDetector
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.newton import descent_direction
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, relative_gap
from mercer.solvers.weights.run import LinearRun

_TURNS = 10
"""Epochs over the nonzero weights before all features are visited again: they cost far less and make most of the
progress."""
_IDLE_EPOCHS = 50
"""Epochs over all features without progress before a run ends as stalled."""
_RIDGE = 1e-12
"""Ridge as a fraction of the mean diagonal entry, so that the matrix can be factored despite duplicate features."""
_TINY = float(np.finfo(float).tiny)
_ROUNDING = 1e-14
"""The relative rounding error of the objective."""


@final
class AbsoluteRun(LinearRun):
    """Epochs over the features; an iteration is an epoch over all of them."""

    first_chunk = 1

    def __init__(self, problem: LinearProblem, tol: float, seed: int) -> None:
        self._problem, self._tol = problem, tol
        rows = problem.rows
        constant = problem.intercept_scale
        self._has_intercept = constant > 0
        self._value = constant if math.isfinite(constant) else 1.0
        columns: Any = sp.csc_array(rows)
        if self._has_intercept:
            ones = sp.csc_array(np.full((rows.shape[0], 1), self._value))
            columns = sp.csc_array(sp.hstack([columns, ones], format="csc"))
        self._columns = columns.indptr, columns.indices, columns.data.astype(np.float64, copy=False)
        self._matrix = columns
        self._penalty = np.ones(columns.shape[1])
        if problem.free_intercept:
            self._penalty[-1] = 0.0
        self.theta = np.zeros(columns.shape[1])
        self._slack = np.ones(rows.shape[0])
        self._order = np.arange(columns.shape[1])
        self._random = np.random.default_rng(seed)
        self._stall = StallDetector(_IDLE_EPOCHS)
        self._spent, self._spent_together = 0.0, 0.0
        self._refresh()

    @classmethod
    def begin(cls, problem: LinearProblem, tol: float, limits: Limits, seed: int) -> Self:
        return cls(problem, tol, seed)

    def move_to(self, w: Float64, c: float) -> None:
        """Set the current weights."""
        self.theta[: len(w)] = w
        if self._has_intercept:
            self.theta[-1] = c / self._value
        self._refresh()

    def step(self, iterations: int) -> None:
        del iterations  # an epoch is enough for a chunk
        self.iterations += 1
        self._visit(self._order)
        for _ in range(_TURNS):
            self._visit(np.flatnonzero(self.theta))
        self._refresh()
        self._move_together()
        self.done = self.gap <= self._tol
        if self._stall.update(self.gap, self.primal, _ROUNDING * self.primal) and not self.done:
            self.done, self.status = True, Status.STALLED

    def _move_together(self) -> None:
        """Newton's step on the nonzero weights; such steps get as much work as visits."""
        chosen = np.flatnonzero(self.theta)
        cost = float(len(self._slack)) * len(chosen) ** 2
        if not 0 < len(chosen) <= MOST_FEATURES or self._spent_together + cost > self._spent:
            return
        self._spent_together += cost
        theta, part, primal = self.theta.copy(), self._matrix[:, chosen], self.primal
        active = np.flatnonzero(self._slack > 0.0)
        rows = part[active].toarray() * np.sqrt(2.0 * self._problem.C[active])[:, None]
        pull = np.asarray(part.T @ (2.0 * self._problem.C * self._problem.y * np.maximum(self._slack, 0.0)))
        matrix = rows.T @ rows
        matrix.flat[:: len(matrix) + 1] += _RIDGE * float(np.trace(matrix)) / len(matrix) + _TINY
        old = theta[chosen]
        move = descent_direction(matrix, self._penalty[chosen] * np.sign(old) - pull)
        signed = self._penalty[chosen] > 0  # a free intercept may change its sign
        crossing = np.where(
            signed & (np.sign(move) == -np.sign(old)), np.abs(old) / np.maximum(np.abs(move), _TINY), 1.0
        )
        share = min(1.0, float(crossing.min()))
        self.theta[chosen] = np.where(signed & (crossing <= share) & (share < 1.0), 0.0, old + share * move)
        self._refresh()
        if not self.primal <= primal:
            self.theta = theta
            self._refresh()

    def _visit(self, features: Any) -> None:
        order = self._random.permutation(features)
        indptr = self._columns[0]
        self._spent += float((indptr[order + 1] - indptr[order]).sum())
        _visit(*self._columns, self._problem.y, self._problem.C, self._penalty, self.theta, self._slack, order)

    def _refresh(self) -> None:
        f = np.asarray(self._matrix @ self.theta)
        self._slack = 1.0 - self._problem.y * f  # anew, so that rounding errors do not add up
        self.primal, self.dual, self.lower_bound, self.violation = _bounds(
            self._problem, self._matrix, self._penalty, self.theta, self._slack
        )
        self.gap = relative_gap(self.primal, self.lower_bound)

    def finish(self, status: Status, stats: Stats) -> Solution:
        status = Status.CONVERGED if self.gap <= self._tol else status
        intercept = float(self.theta[-1]) * self._value if self._has_intercept else 0.0
        f = self._problem.y * (1.0 - self._slack)
        return Solution(self.dual, f, intercept, self.primal, status, stats)

    def solution(self, found: Solution) -> LinearSolution:
        w = self.theta[: self._problem.n_features].copy()
        return LinearSolution(
            w, found.intercept, self.dual, self.primal, self.lower_bound, found.status, found.stats, self.violation
        )


solve = AbsoluteRun.solve


def proof(problem: LinearProblem, w: Float64, c: float) -> tuple[float, float, float]:
    """The objective of (w, c), a bound on the least one, and the largest violation of optimality."""
    run = AbsoluteRun(problem, 0.0, 0)
    run.move_to(w, c)
    return run.primal, run.lower_bound, run.violation


def _bounds(
    problem: LinearProblem, matrix: Any, penalty: Float64, theta: Float64, slack: Float64
) -> tuple[float, Float64, float, float]:
    """The objective, feasible dual coefficients and their objective, and the largest violation of optimality."""
    within = np.maximum(slack, 0.0)
    primal = float(penalty @ np.abs(theta)) + float(problem.C @ within**2)
    b = 2.0 * problem.C * problem.y * within
    pull = np.asarray(matrix.T @ b)
    aim = np.where(theta > 0, penalty, np.where(theta < 0, -penalty, np.clip(pull, -penalty, penalty)))
    violation = float(np.abs(pull - aim).max(initial=0.0))
    b = problem.feasible(b)
    image = np.abs(np.asarray(matrix.T @ b))[penalty > 0]
    most = 1.0 / max(float(image.max(initial=0.0)), _TINY)
    gain, price = float(problem.y @ b), float((b * b / (4.0 * problem.C)).sum())
    scale = min(most, gain / (2.0 * price)) if price > 0 else 0.0
    return primal, scale * b, scale * gain - scale**2 * price, violation


@jit
def _visit(
    indptr: Array, indices: Array, data: Array, y: Array, C: Array, penalty: Array, theta: Array, slack: Array,
    order: Array,
) -> None:  # fmt: skip
    """Minimise over one weight after the other; `slack` holds 1 - y_i f_i."""
    for place in range(order.shape[0]):
        j = order[place]
        begin, end = indptr[j], indptr[j + 1]
        slope, curvature, most = 0.0, 0.0, 0.0
        for p in range(begin, end):
            i = indices[p]
            bend = 2.0 * C[i] * data[p] * data[p]
            most += bend
            if slack[i] > 0.0:
                slope -= 2.0 * C[i] * y[i] * data[p] * slack[i]
                curvature += bend
        if most == 0.0:
            continue
        old = theta[j]
        # First the parabola of the rows within the margin; if it predicted too much, that of all rows.
        for bend in (max(curvature, 1e-12 * most), most):
            aim, dead = old - slope / bend, penalty[j] / bend
            new = aim - dead if aim > dead else aim + dead if aim < -dead else 0.0
            move = new - old
            promised = slope * move + penalty[j] * (abs(new) - abs(old))
            if move == 0.0 or bend == most:
                break
            change = penalty[j] * (abs(new) - abs(old))
            for p in range(begin, end):
                i = indices[p]
                before, after = max(slack[i], 0.0), max(slack[i] - y[i] * data[p] * move, 0.0)
                change += C[i] * (after - before) * (after + before)
            if change <= 0.01 * promised:  # a hundredth of the predicted descent, as in Chang, Hsieh and Lin
                break
        if move != 0.0:
            theta[j] = new
            for p in range(begin, end):
                slack[indices[p]] -= y[indices[p]] * data[p] * move
