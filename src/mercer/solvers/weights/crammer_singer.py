"""Sequential dual descent for several classes at once, by the loss of Crammer and Singer.

Problem   minimise  1/2 sum_k (|w_k|^2 + (c_k / intercept_scale)^2)
          + sum_i C_i max_k (1[k != y_i] + f_k(x_i) - f_y(x_i))
Given     rows, dense or CSR, their classes and penalties, and an intercept scale that is finite
Result    one row of weights and one intercept per class, and the duality gap
Source    Keerthi, Sundararajan, Chang, Hsieh and Lin, A sequential dual method for large scale multi-class linear SVMs
          (2008), section 3; Crammer and Singer, On the algorithmic implementation of multiclass SVMs (2001), section 6

Every row has one dual coefficient per class: they sum to zero, and only the coefficient of its own class may be
positive, up to C_i. A visit minimises over all coefficients of a row exactly, by sorting.
"""

from __future__ import annotations

import math
import time
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.solvers.drive import Limits, OnChunk, drive
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.coordinate_descent import DescentRun, PlacedRows
from mercer.solvers.weights.problem import LinearSolution, relative_gap

_ENTRIES_PER_CALL = 20_000_000
"""Work per call of the compiled loop, in entries times classes; signals are handled between calls."""
_LEAST_CURVATURE = 1e-6
"""Curvature used for rows of zeros: their coefficients still have optimal values, on bounds. A smaller value would
leave no digits of a sum that must be zero."""


@final
class CrammerSingerRun(DescentRun):
    """Epochs over the rows that may still move."""

    def __init__(
        self, rows: PlacedRows, codes: Indices, C: Float64, intercept_scale: float, tol: float, seed: int
    ) -> None:
        super().__init__(rows.products, rows.lengths, intercept_scale, tol, seed)
        self._codes, self._C, self._place = codes, C, rows.place
        self._curvature = np.maximum(rows.lengths + self._rho, _LEAST_CURVATURE)
        (n, d), classes = rows.products.shape, int(codes.max()) + 1
        self.b, self.w, self.c = np.zeros((n, classes)), np.zeros((d, classes)), np.zeros(classes)

    def _visit(self, order: Indices) -> tuple[int, float]:
        position, kept, worst = 0, 0, 0.0
        while position < len(order):
            position, kept, seen = _visit(
                *self._rows.parts, self._curvature, self._codes, self._C, self.b, self.w, self.c, self._rho,
                order, position, kept, self._bar, _ENTRIES_PER_CALL,
            )  # fmt: skip
            worst = max(worst, seen)
        return kept, worst

    def _prove(self) -> None:
        self._f = self._rows.all_outputs(self.w) + self.c
        squared = float((self.w * self.w).sum())
        if self._rho > 0:
            squared += float(self.c @ self.c) / self._rho
        self.primal = 0.5 * squared + float(self._C @ losses(self._f, self._codes))
        own = self.b[np.arange(len(self._codes)), self._codes]
        self.lower_bound = float(own.sum()) - 0.5 * squared  # coefficients of other classes sum to minus their own
        self.gap = relative_gap(self.primal, self.lower_bound)

    def _movable(self) -> Indices:
        f, rows = self._f + 1.0, np.arange(len(self._codes))
        f[rows, self._codes] -= 1.0
        own = f[rows, self._codes].copy()
        f[rows, self._codes] = -np.inf
        settled = ~self.b.any(axis=1) & (f.max(axis=1) < own - self._bar)
        return np.flatnonzero(~settled)

    def finish(self, status: Status, stats: Stats) -> Solution:
        self.settle()
        status = Status.CONVERGED if self.gap <= self._tol else status
        return Solution(self.b, self._f, self.c, self.primal, status, stats)

    def solutions(self, found: Solution) -> list[LinearSolution]:
        """The machine of each class with its part of the objectives; only their sums are bounds."""
        distance = math.sqrt(2.0 * max(self.primal - self.lower_bound, 0.0))
        spent = self._C * losses(self._f, self._codes)
        weights, parts = self.w.T[:, self._place], []
        for k in range(len(self.c)):
            own, c = self._codes == k, float(self.c[k])
            half = 0.5 * (float(weights[k] @ weights[k]) + (c * c / self._rho if self._rho > 0 else 0.0))
            primal, dual = half + float(spent[own].sum()), float(self.b[own, k].sum()) - half
            parts.append(
                LinearSolution(
                    weights[k].copy(), c, self.b[:, k].copy(), primal, dual, found.status, found.stats, distance
                )
            )
        return parts


def losses(f: Float64, codes: Indices) -> Float64:
    """max_k (1[k != y] + f_k - f_y) of each row of outputs."""
    rows = np.arange(len(codes))
    raised = f + 1.0
    raised[rows, codes] -= 1.0
    worst: Float64 = raised.max(axis=1) - f[rows, codes]
    return worst


def solve(
    rows: Any,
    codes: Indices,
    C: Float64,
    intercept_scale: float,
    *,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
    seed: int = 0,
) -> list[LinearSolution]:
    """Minimise until the duality gap is at most `tol` of the objective, or as far as the limits allow."""
    began = time.monotonic()
    run = CrammerSingerRun(PlacedRows.of(rows), codes, C, intercept_scale, tol, seed)
    return run.solutions(drive(run, tol, limits or Limits(), on_chunk, began))


@jit
def _visit(
    indptr: Array, indices: Array, data: Array, curvature: Array, codes: Array, C: Array,
    b: Array, w: Array, c: Array, rho: float,
    order: Array, position: int, kept: int, bar: float, entries: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Visit rows from `position` on; returns the next position, how many stay active (moved to the front), and the
    worst violation."""
    classes = w.shape[1]
    slopes, sorted_, moves = np.empty(classes), np.empty(classes), np.empty(classes)
    worst = 0.0
    while position < order.shape[0] and entries > 0:
        i = order[position]
        position += 1
        begin, end, own = indptr[i], indptr[i + 1], codes[i]
        entries -= (end - begin + 1) * classes
        for k in range(classes):
            slopes[k] = c[k] + (0.0 if k == own else 1.0)
        for p in range(begin, end):
            line = w[np.uint64(indices[p])]
            for k in range(classes):
                slopes[k] += data[p] * line[k]
        # At the optimum, no coefficient that may fall has a larger slope than one that may rise.
        top, low, used = -np.inf, np.inf, False
        for k in range(classes):
            top = max(top, slopes[k])
            if b[i, k] < (C[i] if k == own else 0.0):
                low = min(low, slopes[k])
            used |= b[i, k] != 0.0
        if not used and top == slopes[own]:
            runner_up = -np.inf
            for k in range(classes):
                if k != own:
                    runner_up = max(runner_up, slopes[k])
            if runner_up < slopes[own] - bar:
                continue
        order[kept] = i
        kept += 1
        violation = top - low
        if violation <= 1e-15:
            continue
        worst = max(worst, violation)
        a = curvature[i]
        for k in range(classes):
            sorted_[k] = slopes[k] - a * b[i, k] + (a * C[i] if k == own else 0.0)
        for k in range(1, classes):  # by insertion, the largest first
            value, q = sorted_[k], k - 1
            while q >= 0 and sorted_[q] < value:
                sorted_[q + 1] = sorted_[q]
                q -= 1
            sorted_[q + 1] = value
        total, level = -a * C[i], -np.inf
        for k in range(classes):
            if sorted_[k] <= level:
                break
            total += sorted_[k]
            level = total / (k + 1)
        for k in range(classes):
            new = min((level - slopes[k]) / a + b[i, k], C[i] if k == own else 0.0)
            moves[k] = new - b[i, k]
            b[i, k] = new
            c[k] += rho * moves[k]
        for p in range(begin, end):
            line = w[np.uint64(indices[p])]
            for k in range(classes):
                line[k] += data[p] * moves[k]
    return position, kept, worst
