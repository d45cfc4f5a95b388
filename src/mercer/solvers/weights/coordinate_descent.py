"""Dual coordinate descent with shrinking, for linear machines on sparse rows of many features.

Problem   minimise  1/2 |w|^2 + sum_i (1/2 ridge_i b_i^2 + linear_i b_i + kink_i |b_i|)  over  lower <= b <= upper,
          w = sum_i b_i x_i
Given     a `LinearProblem` whose loss has a `Dual`, as CSR
Result    w, c, b and the duality gap
Source    Hsieh, Chang, Lin, Keerthi and Sundararajan, A dual coordinate descent method for large-scale linear SVM
          (2008), algorithm 3; Ho and Lin, Large-scale linear support vector regression (2012), for kinks

Each visit to a row minimises over its coefficient exactly and updates w. Rows whose coefficient presses against a bound
are skipped in later epochs. Now and then the outputs of all rows are recomputed: they give the duality gap, which
decides when to stop, and restore rows that were wrongly skipped.

The intercept is the weight of a constant feature. A penalised one has a fixed value; an unpenalised one is found by the
method of multipliers: epochs minimise the objective plus (c - c0)^2 / 2 rho, and c0 is set to c until both agree.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.errors import ParameterError
from mercer.inputs.vectors import squared_lengths
from mercer.solvers.drive import Limits, Run
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, proven, relative_gap
from mercer.solvers.weights.row_products import SparseRows, shuffled
from mercer.solvers.weights.run import LinearRun

_ENTRIES_PER_CALL = 20_000_000
"""Work per call of the compiled loop: signals are handled between calls, about every twentieth of a second."""
_SHARE_OF_VISITS = 0.25
"""Visits between two checks, as a fraction of all visits so far, so that the total cost of checks stays in
proportion."""
_MOST_EPOCHS_BETWEEN_CHECKS = 25
"""Maximum number of epochs between checks: epochs over few rows are cheap, but wrongly skipped rows must return
soon."""
_EPOCHS_BEFORE_AFRESH = 50
"""Epochs after which weights are recomputed: each epoch adds one rounding error per row."""
_FINE = 1e-7
"""With tolerances below this, rounding errors in the weights would matter: they are recomputed at every check."""
_FEATURES_TO_SORT = 4096
"""The weights of fewer features (32 KiB) stay in cache in any order."""
_LEAST_CURVATURE = 1e-12
"""Curvature used for rows of zeros: their coefficient still has an optimal value, one of its bounds."""


@final
@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin: dual coefficients, their weights w = sum_i b_i x_i, and an intercept."""

    b: Float64
    w: Float64
    c: float


class DescentRun(Run):
    """Epochs over the rows that may still move, with regular checks of the gap; an iteration is one epoch.

    `b` and `w` may have a column for each of several machines, of which `c` holds the intercepts.
    """

    most_epochs: float = math.inf
    """Maximum number of epochs."""
    visits_between_checks: float = 2.0
    """Time of the first check, in epochs over all rows. A check costs about half an epoch; rarer checks would stop too
    late ..."""

    def __init__(self, rows: SparseRows, lengths: Float64, intercept_scale: float, tol: float, seed: int) -> None:
        self._rows, self._tol, self._lengths = rows, tol, lengths
        self._free_intercept = math.isinf(intercept_scale)
        self._rho = _multiplier_step(intercept_scale, lengths)
        self.b: Float64
        self.w: Float64
        self.c: Float64
        self._order = np.arange(len(lengths))
        self._random = np.random.default_rng(seed)
        self._bar = math.inf
        self._visited, self._visited_at_check = 0.0, 2.0  # an earlier check would be of little use
        self._epochs_since_check = self._epochs_since_afresh = 0
        self._violation_at_check = math.inf

    @abstractmethod
    def _visit(self, order: Indices) -> tuple[int, float]:
        """Visit rows; returns how many stay active (moved to the front of `order`) and the worst violation."""

    @abstractmethod
    def _prove(self) -> None:
        """Update `gap` from the outputs of all rows."""

    @abstractmethod
    def _movable(self) -> Indices:
        """The rows that may still move, judged by those outputs."""

    @final
    def step(self, iterations: int) -> None:
        del iterations  # one epoch is enough for a chunk
        self.iterations += 1
        order = shuffled(self._order, self._random)
        kept, worst = self._visit(order)
        self._order = order[:kept]
        if self._free_intercept:
            self.c += self._rho * self.b.sum(axis=0)
        self._bar = worst if worst > 0 else math.inf
        self._visited += len(order) / len(self._lengths)
        since = self._visited - self._visited_at_check
        self._epochs_since_check += 1
        self._epochs_since_afresh += 1
        due = since >= max(self.visits_between_checks, _SHARE_OF_VISITS * self._visited)
        due = due or self._epochs_since_check >= _MOST_EPOCHS_BETWEEN_CHECKS or self.iterations >= self.most_epochs
        # Once violations have fallen to a tenth, the gap is probably small enough, too.
        if due or worst <= 0.1 * self._violation_at_check or kept == 0:
            self._check(worst)

    @final
    def _check(self, worst: float) -> None:
        """Compute the duality gap, and choose again which rows to visit."""
        if self._epochs_since_afresh >= _EPOCHS_BEFORE_AFRESH or self._tol < _FINE:
            self.w[:] = self._rows.combination(self.b)  # anew, so that rounding errors do not add up
            self._epochs_since_afresh = 0
        if not self._free_intercept:
            self.c[:] = self._rho * self.b.sum(axis=0)
        self._prove()
        self.done = self.gap <= self._tol or self.iterations >= self.most_epochs
        self._order = self._movable()
        self._visited_at_check, self._violation_at_check = self._visited, worst
        self._epochs_since_check = 0
        if worst == 0.0 and not self.done and not self._free_intercept:
            self.done, self.status = True, Status.STALLED

    @final
    def settle(self) -> None:
        """Compute the gap of a run that ends early."""
        if not self.done:
            self._check(self._bar)


@final
class DualDescentRun(DescentRun, LinearRun):
    """One machine."""

    def __init__(self, problem: LinearProblem, rows: PlacedRows, *, start: Start | None, tol: float, seed: int) -> None:
        super().__init__(rows.products, rows.lengths, problem.intercept_scale, tol, seed)
        dual = problem.dual
        if dual is None:
            raise ParameterError(
                f"The dual of {problem.loss!r} has no form for coordinate descent. Train in the primal."
            )
        self._problem, self._place = problem, rows.place
        self._dual = dual.linear, dual.ridge, dual.lower, dual.upper, dual.kink
        self._curvature = np.maximum(rows.lengths + self._rho + dual.ridge, _LEAST_CURVATURE)
        n, d = rows.products.shape
        start = start or Start(np.zeros(n), np.zeros(d), 0.0)
        self.b, self.w, self.c = start.b, start.w, np.array([start.c])

    @classmethod
    def begin(cls, problem: LinearProblem, tol: float, limits: Limits, seed: int) -> Self:
        return cls(problem, PlacedRows.of(problem.rows), start=None, tol=tol, seed=seed)

    def _visit(self, order: Indices) -> tuple[int, float]:
        position, kept, worst = 0, 0, 0.0
        while position < len(order):
            position, kept, seen = _visit(
                *self._rows.parts, self._curvature, *self._dual,
                self.b, self.w, self.c, self._rho, order, position, kept, self._bar, _ENTRIES_PER_CALL,
            )  # fmt: skip
            worst = max(worst, seen)
        return kept, worst

    def _prove(self) -> None:
        c = float(self.c[0])
        self._f = self._rows.all_outputs(self.w) + c
        self._proof = proven(self._problem, self._rows, self.w, c, self._f, self.b, self.w)
        self.gap = relative_gap(*self._proof[1:])

    def _movable(self) -> Indices:
        order = np.empty(len(self.b), dtype=np.intp)
        return order[: _screen(self._f, *self._dual, self.b, order, self._bar)]

    def finish(self, status: Status, stats: Stats) -> Solution:
        self.settle()
        status = Status.CONVERGED if self.gap <= self._tol else status
        return Solution(self._proof[0], self._f, float(self.c[0]), -self._proof[2], status, stats)

    def solution(self, found: Solution) -> LinearSolution:
        return LinearSolution(self.w[self._place], found.intercept, *self._proof, found.status, found.stats)


solve = DualDescentRun.solve


@final
@dataclass(frozen=True, eq=False)
class PlacedRows:
    """CSR rows with frequent features first: most entries belong to few features, whose weights then stay in cache."""

    products: SparseRows
    lengths: Float64
    """Squared lengths of the rows."""
    place: Any
    """The column of each feature."""

    @classmethod
    def of(cls, matrix: Any) -> Self:
        lengths = squared_lengths(matrix)
        csr: Any = matrix if sp.issparse(matrix) else sp.csr_array(matrix)
        d = csr.shape[1]
        if d < _FEATURES_TO_SORT:
            return cls(SparseRows(csr), lengths, slice(None))
        order = np.argsort(-np.bincount(csr.indices, minlength=d), kind="stable")
        place = np.empty(d, dtype=np.int32)
        place[order] = np.arange(d, dtype=np.int32)
        placed = sp.csr_array((csr.data, place[csr.indices], csr.indptr), shape=csr.shape)
        return cls(SparseRows(placed), lengths, place)


def _multiplier_step(intercept_scale: float, lengths: Float64) -> float:
    """The squared value of the constant feature; if the intercept is free, the step of its multiplier.

    A step as large as the mean squared length of a row lets the intercept move as fast as the weights.
    """
    if intercept_scale == 0.0:
        return 0.0
    return max(float(lengths.mean()) if math.isinf(intercept_scale) else intercept_scale**2, _LEAST_CURVATURE)


@jit
def _slopes(gradient: float, b: float, kink: float) -> tuple[float, float]:
    """The derivatives of the dual upwards and downwards at b; with a kink they differ at zero."""
    return gradient + (kink if b >= 0.0 else -kink), gradient + (kink if b > 0.0 else -kink)


@jit
def _visit(
    indptr: Array, indices: Array, data: Array, curvature: Array,
    linear: Array, ridge: Array, lower: Array, upper: Array, kink: Array,
    b: Array, w: Array, c: Array, rho: float,
    order: Array, position: int, kept: int, bar: float, entries: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Visit rows from `position` on; returns the next position, how many stay active (moved to the front), and the
    worst violation."""
    worst = 0.0
    constant = c[0]
    while position < order.shape[0] and entries > 0:
        i = order[position]
        position += 1
        begin, end = indptr[i], indptr[i + 1]
        entries -= end - begin + 1
        f = constant
        for p in range(begin, end):
            f += data[p] * w[np.uint64(indices[p])]
        old = b[i]
        gradient = f + ridge[i] * old + linear[i]
        rise, fall = _slopes(gradient, old, kink[i])
        violation = 0.0
        if old < upper[i]:
            violation = max(violation, -rise)
        if old > lower[i]:
            violation = max(violation, fall)
        if violation == 0.0 and (old >= upper[i] or rise > bar) and (old <= lower[i] or fall < -bar):
            continue
        order[kept] = i
        kept += 1
        worst = max(worst, violation)
        if violation > 0.0:
            aim = old - gradient / curvature[i]
            if kink[i] > 0.0:
                dead = kink[i] / curvature[i]
                aim = aim - dead if aim > dead else aim + dead if aim < -dead else 0.0
            b[i] = min(max(aim, lower[i]), upper[i])
            move = b[i] - old
            constant += rho * move
            for p in range(begin, end):
                w[np.uint64(indices[p])] += move * data[p]
    c[0] = constant
    return position, kept, worst


@jit
def _screen(
    f: Array, linear: Array, ridge: Array, lower: Array, upper: Array, kink: Array, b: Array, order: Array, bar: float
) -> int:
    """List the rows that may still move; returns their number."""
    count = 0
    for i in range(f.shape[0]):
        rise, fall = _slopes(f[i] + ridge[i] * b[i] + linear[i], b[i], kink[i])
        if not ((b[i] >= upper[i] or rise > bar) and (b[i] <= lower[i] or fall < -bar)):
            order[count] = i
            count += 1
    return count
