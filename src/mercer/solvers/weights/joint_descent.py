"""Dual coordinate descent for several classes against the rest at once, on sparse rows.

Problem   for each of up to eight classes k: minimise 1/2 |w_k|^2 + 1/2 (c_k / intercept_scale)^2
          + sum_i C_ik loss(y_ik, <w_k, x_i> + c_k), y_ik = +1 where row i is of class k and -1 elsewhere
Given     a `OneVsRestProblem` whose loss has a `Dual` in which no coefficient can change its sign
Result    the solution of each class, with its duality gap
Source    as `coordinate_descent`; the classes side by side are ours

A row's features are fetched once for all classes, and the eight weights of a feature fill one cache line, so a visit
for eight classes takes little longer than one for a single class. Rows are left out of later epochs once none of the
classes needs them, which holds for about half: what is left after a few epochs is finished class by class, where each
leaves out rows of its own, on all threads.
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.gram.executors import Threads
from mercer.inputs.row_products import squared_lengths
from mercer.solvers.drive import Limits, OnChunk, Run, drive
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.coordinate_descent import DualDescentRun, Start, multiplier_step, sparse_rows
from mercer.solvers.weights.problem import LinearSolution, OneVsRestProblem, bounds, relative_gap, unit_dual
from mercer.solvers.weights.row_products import SparseRows, shuffled

WIDTH = 8
"""Classes side by side: their weights, in float64, fill one cache line of 64 bytes."""
_MOST_EPOCHS = 16
"""Then classes go on alone. Joint epochs must visit a row while any class needs it, so late ones waste most visits."""
_EPOCHS_BEFORE_CHECK = 3
"""A check costs as much as an epoch, and no problem is solved in fewer."""
_EPOCHS_BETWEEN_CHECKS, _MOST_EPOCHS_BETWEEN_CHECKS = 2, 6
"""Fewer would spend more time on checks, more would run on after convergence."""
_ROWS_PER_CALL = 200_000
"""Between calls of the compiled loop the interpreter sees signals: a fraction of a second at most."""


@final
@dataclass(frozen=True, eq=False)
class ClassGroup:
    """Some classes of a problem, which are trained together."""

    problem: OneVsRestProblem
    rows: SparseRows
    lengths: Float64
    """Squared lengths of the rows."""
    classes: Indices
    """Neighbouring codes."""

    @property
    def penalties(self) -> tuple[Indices, int, Float64, Float64]:
        """What compiled loops need to know the penalty of a row in a class."""
        factors = np.zeros(WIDTH)
        factors[: len(self.classes)] = self.problem.factors[self.classes]
        return self.problem.codes, int(self.classes[0]), self.problem.C, factors


class JointDescentRun(Run):
    """A few epochs for all classes; an iteration is one epoch."""

    def __init__(self, group: ClassGroup, tol: float, seed: int) -> None:
        problem = group.problem
        self._group, self._tol = group, tol
        self._rows = group.rows
        n, d = self._rows.shape
        self.count = len(group.classes)
        self._free_intercept = math.isinf(problem.intercept_scale)
        self._rho = multiplier_step(problem.intercept_scale, group.lengths)
        self._loss = _signed_dual(problem)
        self.b = np.zeros((n, WIDTH))
        self._w = _aligned(d)
        self.c = np.zeros(WIDTH)
        self._random = np.random.default_rng(seed)
        self._due = _EPOCHS_BEFORE_CHECK
        self._order, self._bar = np.arange(n), math.inf
        self.gaps = np.full(self.count, np.inf)
        self.bounds: list[tuple[float, float]] = []
        self.f = np.empty((n, WIDTH))

    @property
    def weights(self) -> Float64:
        """One row of weights per class."""
        return np.ascontiguousarray(self._w[:, : self.count].T)

    def step(self, iterations: int) -> None:
        del iterations
        order, kept, worst = shuffled(self._order, self._random), 0, 0.0
        codes, first, C, factors = self._group.penalties
        for start in range(0, len(order), _ROWS_PER_CALL):
            kept, seen = _visit(
                *self._rows.parts, self._group.lengths, codes, first, C, factors, self._loss, self.count,
                self.b, self._w, self.c, self._rho, order, start, min(start + _ROWS_PER_CALL, len(order)), kept,
                self._bar,
            )  # fmt: skip
            worst = max(worst, seen)
        self._order, self._bar = order[:kept], worst if worst > 0.0 else math.inf
        if self._free_intercept:
            self.c += self._rho * self.b.sum(axis=0)
        self.iterations += 1
        if self.iterations >= min(self._due, _MOST_EPOCHS):
            before = self.gap
            self.check()
            self._order = np.arange(len(self.b))[self._may_move()]
            # What is not done by now is better off by itself.
            self.done = self.gap <= self._tol or self.iterations >= _MOST_EPOCHS
            self._due += self._epochs_to_go(before)

    def _may_move(self) -> npt.NDArray[np.bool_]:
        """Which rows some class may still need, by the outputs of the last check."""
        found = np.empty(len(self.b), dtype=np.bool_)
        _screen(*self._group.penalties, self._loss, self.count, self.b, self.f, self._bar, found)
        return found

    def _epochs_to_go(self, before: float) -> int:
        """How long to wait for the next check: most of the time that is left, if the gap falls as it did."""
        if not self._tol < self.gap < before < math.inf:
            return _EPOCHS_BETWEEN_CHECKS
        left = _EPOCHS_BETWEEN_CHECKS * math.log(self.gap / self._tol) / math.log(before / self.gap)
        return max(_EPOCHS_BETWEEN_CHECKS, min(int(left), _MOST_EPOCHS_BETWEEN_CHECKS))

    def check(self) -> None:
        """The duality gap of each class."""
        _outputs(*self._rows.parts, self._w, self.c, self.f)
        weights = self.weights
        self.bounds = []
        for k, code in enumerate(self._group.classes):
            single = self._group.problem.single(int(code))
            b, f = np.ascontiguousarray(self.b[:, k]), np.ascontiguousarray(self.f[:, k])
            feasible, image = single.feasible(b), weights[k]
            if feasible is not b:
                image = image - self._rows.combination(b - feasible)
            self.bounds.append(bounds(single, weights[k], float(self.c[k]), f, feasible, image))
        self.gaps = np.array([relative_gap(primal, dual) for primal, dual in self.bounds])
        self.gap = float(self.gaps.max())

    def finish(self, status: Status, stats: Stats) -> Solution:
        if not self.bounds or not self.done:
            self.check()
        return Solution(self.b, self.f, self.c, sum(d for _, d in self.bounds), status, stats)


def solve(
    problem: OneVsRestProblem, *, tol: float, limits: Limits, on_chunk: OnChunk | None, seed: int
) -> list[LinearSolution]:
    """Each class until its duality gap is at most `tol` of its objective, or as far as the limits allow."""
    began = time.monotonic()
    rows, place = sparse_rows(problem.rows)
    lengths = squared_lengths(problem.rows)
    groups = [ClassGroup(problem, rows, lengths, classes) for classes in groups_of(len(problem.factors))]
    found: list[LinearSolution | None] = [None] * len(problem.factors)
    later: list[tuple[int, Start, int]] = []

    def alone(k: int, start: Start | None, epochs: int) -> None:
        rest = dataclasses.replace(limits, max_iter=max(limits.max_iter - epochs, -1))
        run = DualDescentRun(problem.single(k), rows, lengths, start=start, tol=tol, seed=seed + k)
        solution = run.solution(rest, on_chunk, began)
        stats = dataclasses.replace(solution.stats, iterations=solution.stats.iterations + epochs)
        found[k] = dataclasses.replace(solution, w=solution.w[place], stats=stats)

    def together(group: ClassGroup) -> None:
        if len(group.classes) == 1:
            alone(int(group.classes[0]), None, 0)
            return
        run = JointDescentRun(group, tol, seed)
        joint = drive(run, tol, limits, on_chunk, began)
        for k, w, b, c, gap, (primal, dual) in zip(
            group.classes, run.weights, run.b.T, run.c, run.gaps, run.bounds, strict=False
        ):
            b = np.ascontiguousarray(b)
            if gap > tol and joint.status is Status.CONVERGED:
                later.append((int(k), Start(b, w, float(c)), run.iterations))
                continue
            status = Status.CONVERGED if gap <= tol else joint.status
            b = problem.single(int(k)).feasible(b)
            stats = dataclasses.replace(joint.stats, gap=float(gap))
            found[k] = LinearSolution(w[place], float(c), b, primal, dual, status, stats)

    executor = Threads()
    executor.each(together, groups, limits.stop)
    executor.each(lambda part: alone(*part), later, limits.stop)
    return [solution for solution in found if solution is not None]


def groups_of(classes: int) -> list[Indices]:
    """Which classes are trained together: as many as fit; a few left over go one by one, on threads of their own."""
    left_over = classes % WIDTH
    if classes > WIDTH and left_over <= WIDTH // 2:
        full = classes - left_over
        return [*np.split(np.arange(full), full // WIDTH), *np.arange(full, classes)[:, None]]
    return list(np.array_split(np.arange(classes), -(-classes // WIDTH)))


def _signed_dual(problem: OneVsRestProblem) -> Float64:
    """The dual of a row with penalty 1, in rows for labels -1 and +1: sign, linear term, bound and ridge.

    Coefficients are written with the sign that they may have. Bounds grow with the penalty, and ridges fall with it.
    """
    dual = unit_dual(problem.loss)
    assert dual is not None
    sign = np.where(dual.upper > 0.0, 1.0, -1.0)
    return np.column_stack([sign, sign * dual.linear, np.maximum(dual.upper, -dual.lower), dual.ridge])


def _aligned(features: int) -> Float64:
    """Zeros, a cache line for each feature."""
    raw = np.zeros((features + 1) * WIDTH)
    skip = (-raw.ctypes.data % (8 * WIDTH)) // 8
    return raw[skip : skip + features * WIDTH].reshape(features, WIDTH)


@jit
def _dual(own: bool, f: float, b: float, penalty: float, loss: Array) -> tuple[float, float, float, float, float]:
    """The sign of a coefficient, the coefficient with that sign, the derivative of the dual by it, bound and ridge."""
    label = 1 if own else 0
    sign = loss[label, 0]
    ridge = loss[label, 3] / penalty if loss[label, 3] > 0.0 else 0.0
    a = sign * b
    return sign, a, sign * f + ridge * a + loss[label, 1], penalty * loss[label, 2], ridge


@jit
def _settled(a: float, gradient: float, bound: float, bar: float) -> bool:
    """Whether a coefficient presses against a bound by more than any coefficient violated its conditions."""
    return (a <= 0.0 and gradient > bar) or (a >= bound and gradient < -bar)


@jit
def _screen(
    codes: Array, first: int, C: Array, factors: Array, loss: Array, count: int, b: Array, f: Array, bar: float,
    found: Array,
) -> None:  # fmt: skip
    for i in range(found.shape[0]):
        found[i] = False
        for k in range(count):
            own = codes[i] == first + k
            penalty = C[i] * factors[k] if own else C[i]
            _, a, gradient, bound, _ = _dual(own, f[i, k], b[i, k], penalty, loss)
            found[i] |= not _settled(a, gradient, bound, bar)


@jit
def _visit(
    indptr: Array, indices: Array, data: Array, lengths: Array, codes: Array, first: int, C: Array, factors: Array,
    loss: Array, count: int, b: Array, w: Array, c: Array, rho: float,
    order: Array, start: int, stop: int, kept: int, bar: float,
) -> tuple[int, float]:  # fmt: skip
    """Visit rows from `start` to `stop`: how many stay (moved to the front) by now, and the worst violation."""
    worst = 0.0
    f = np.zeros(8)
    m = np.zeros(8)
    for place in range(start, stop):
        i = order[place]
        begin, end = indptr[i], indptr[i + 1]
        f0, f1, f2, f3 = c[0], c[1], c[2], c[3]
        f4, f5, f6, f7 = c[4], c[5], c[6], c[7]
        for p in range(begin, end):
            x, at = data[p], np.uint64(indices[p])
            f0, f1, f2, f3 = f0 + x * w[at, 0], f1 + x * w[at, 1], f2 + x * w[at, 2], f3 + x * w[at, 3]
            f4, f5, f6, f7 = f4 + x * w[at, 4], f5 + x * w[at, 5], f6 + x * w[at, 6], f7 + x * w[at, 7]
        f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7] = f0, f1, f2, f3, f4, f5, f6, f7
        moved = stays = False
        for k in range(count):
            own = codes[i] == first + k
            penalty = C[i] * factors[k] if own else C[i]
            sign, a, gradient, bound, ridge = _dual(own, f[k], b[i, k], penalty, loss)
            stays |= not _settled(a, gradient, bound, bar)
            new = min(max(a - gradient / max(lengths[i] + rho + ridge, 1e-12), 0.0), bound)
            m[k] = sign * (new - a)
            if m[k] != 0.0:
                moved = True
                worst = max(worst, abs(gradient))
                b[i, k] = sign * new
                c[k] += rho * m[k]
        if stays:
            order[kept] = i
            kept += 1
        if moved:
            m0, m1, m2, m3, m4, m5, m6, m7 = m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]
            for p in range(begin, end):
                x, at = data[p], np.uint64(indices[p])
                w0, w1, w2, w3 = w[at, 0] + x * m0, w[at, 1] + x * m1, w[at, 2] + x * m2, w[at, 3] + x * m3
                w4, w5, w6, w7 = w[at, 4] + x * m4, w[at, 5] + x * m5, w[at, 6] + x * m6, w[at, 7] + x * m7
                w[at, 0], w[at, 1], w[at, 2], w[at, 3] = w0, w1, w2, w3
                w[at, 4], w[at, 5], w[at, 6], w[at, 7] = w4, w5, w6, w7
    return kept, worst


@jit
def _outputs(indptr: Array, indices: Array, data: Array, w: Array, c: Array, out: Array) -> None:
    for i in range(out.shape[0]):
        f0, f1, f2, f3 = c[0], c[1], c[2], c[3]
        f4, f5, f6, f7 = c[4], c[5], c[6], c[7]
        for p in range(indptr[i], indptr[i + 1]):
            x, at = data[p], np.uint64(indices[p])
            f0, f1, f2, f3 = f0 + x * w[at, 0], f1 + x * w[at, 1], f2 + x * w[at, 2], f3 + x * w[at, 3]
            f4, f5, f6, f7 = f4 + x * w[at, 4], f5 + x * w[at, 5], f6 + x * w[at, 6], f7 + x * w[at, 7]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = f0, f1, f2, f3
        out[i, 4], out[i, 5], out[i, 6], out[i, 7] = f4, f5, f6, f7
