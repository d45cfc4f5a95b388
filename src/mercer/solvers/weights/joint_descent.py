"""Dual coordinate descent for several classes against the rest at once, on sparse rows.

Problem   for each of up to eight classes k: minimise 1/2 |w_k|^2 + 1/2 (c_k / intercept_scale)^2
          + sum_i C_ik loss(y_ik, <w_k, x_i> + c_k), y_ik = +1 where row i is of class k and -1 elsewhere
Given     a `OneVsRestProblem` whose loss has a `Dual` in which no coefficient can change its sign
Result    the solution of each class, with its duality gap
Source    as `coordinate_descent`; treating classes side by side is our addition

A row's features are fetched once for all classes, and the eight weights of a feature fill one cache line, so a visit
for eight classes takes little longer than one for a single class. Rows are skipped in later epochs once no class needs
them, which is true of about half. After a few epochs the classes are finished one by one, on all threads, each skipping
rows of its own.
"""

from __future__ import annotations

import dataclasses
import time
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.gram.executors import Threads
from mercer.solvers.drive import Limits, OnChunk, drive
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.coordinate_descent import DescentRun, DualDescentRun, PlacedRows, Start
from mercer.solvers.weights.problem import LinearSolution, OneVsRestProblem, proven, relative_gap, unit_dual

WIDTH = 8
"""Classes side by side: their weights, in float64, fill one cache line of 64 bytes."""
_MOST_EPOCHS = 16
"""Joint epochs; afterwards classes continue alone. Joint epochs must visit a row while any class needs it, so late ones
waste most visits."""
_ROWS_PER_CALL = 200_000
"""Work per call of the compiled loop, at most a fraction of a second; signals are handled between calls."""


@final
class JointDescentRun(DescentRun):
    """A few joint epochs for classes with neighbouring codes; afterwards unfinished classes continue alone."""

    most_epochs = _MOST_EPOCHS
    visits_between_checks = 3.0  # a check costs as much as an epoch

    def __init__(self, problem: OneVsRestProblem, classes: Indices, rows: PlacedRows, tol: float, seed: int) -> None:
        super().__init__(rows.products, rows.lengths, problem.intercept_scale, tol, seed)
        self._visited_at_check = self._violation_at_check = 0.0  # the first check comes after three epochs
        n, d = rows.products.shape
        self._singles = [problem.single(int(k)) for k in classes]
        factors = np.zeros(WIDTH)
        factors[: len(classes)] = problem.factors[classes]
        self._penalties = problem.codes, int(classes[0]), problem.C, factors
        self._loss, self._count = _signed_dual(problem), len(classes)
        self.b = np.zeros((n, WIDTH))
        self.w = _aligned(d)
        self.c = np.zeros(WIDTH)

    def _visit(self, order: Indices) -> tuple[int, float]:
        kept, worst = 0, 0.0
        codes, first, C, factors = self._penalties
        for start in range(0, len(order), _ROWS_PER_CALL):
            kept, seen = _visit(
                *self._rows.parts, self._lengths, codes, first, C, factors, self._loss, self._count,
                self.b, self.w, self.c, self._rho,
                order, start, min(start + _ROWS_PER_CALL, len(order)), kept, self._bar,
            )  # fmt: skip
            worst = max(worst, seen)
        return kept, worst

    def _prove(self) -> None:
        self._f = self._rows.all_outputs(self.w) + self.c
        self.proofs = []
        for k, single in enumerate(self._singles):
            w, b, f = (np.ascontiguousarray(part[:, k]) for part in (self.w, self.b, self._f))
            self.proofs.append((Start(b, w, float(self.c[k])), *proven(single, self._rows, w, self.c[k], f, b, w)))
        self.gap = max(relative_gap(primal, dual) for *_, primal, dual in self.proofs)

    def _movable(self) -> Indices:
        found = np.empty(len(self.b), dtype=np.bool_)
        _screen(*self._penalties, self._loss, self._count, self.b, self._f, self._bar, found)
        return np.flatnonzero(found)

    def finish(self, status: Status, stats: Stats) -> Solution:
        self.settle()
        return Solution(self.b, self._f, self.c, sum(dual for *_, dual in self.proofs), status, stats)


def solve(
    problem: OneVsRestProblem, *, tol: float, limits: Limits, on_chunk: OnChunk | None, seed: int
) -> list[LinearSolution]:
    """Each class until its duality gap is at most `tol` of its objective, or as far as the limits allow."""
    began = time.monotonic()
    rows = PlacedRows.of(problem.rows)
    found: list[LinearSolution | None] = [None] * len(problem.factors)
    later: list[tuple[int, Start, int]] = []

    def alone(k: int, start: Start | None, epochs: int) -> None:
        rest = dataclasses.replace(limits, max_iter=max(limits.max_iter - epochs, -1))
        run = DualDescentRun(problem.single(k), rows, start=start, tol=tol, seed=seed + k)
        solution = run.solution(drive(run, tol, rest, on_chunk, began))
        stats = dataclasses.replace(solution.stats, iterations=solution.stats.iterations + epochs)
        found[k] = dataclasses.replace(solution, stats=stats)

    def together(classes: Indices) -> None:
        if len(classes) == 1:
            alone(int(classes[0]), None, 0)
            return
        run = JointDescentRun(problem, classes, rows, tol, seed)
        joint = drive(run, tol, limits, on_chunk, began)
        for k, (end, b, primal, dual) in zip(classes, run.proofs, strict=True):
            gap = relative_gap(primal, dual)
            if gap > tol and joint.status is Status.CONVERGED:
                later.append((int(k), end, run.iterations))
                continue
            status = Status.CONVERGED if gap <= tol else joint.status
            stats = dataclasses.replace(joint.stats, gap=gap)
            found[k] = LinearSolution(end.w[rows.place], end.c, b, primal, dual, status, stats)

    executor = Threads()
    executor.each(together, groups_of(len(problem.factors)), limits.stop)
    executor.each(lambda part: alone(*part), later, limits.stop)
    return [solution for solution in found if solution is not None]


def groups_of(classes: int) -> list[Indices]:
    """Groups of classes that are trained together: as many as fit; a few left over are trained one by one, each on its
    thread."""
    left_over = classes % WIDTH
    if classes > WIDTH and left_over <= WIDTH // 2:
        full = classes - left_over
        return [*np.split(np.arange(full), full // WIDTH), *np.arange(full, classes)[:, None]]
    return list(np.array_split(np.arange(classes), -(-classes // WIDTH)))


def _signed_dual(problem: OneVsRestProblem) -> Float64:
    """The dual of a row with penalty 1, in rows for labels -1 and +1: sign, linear term, bound and ridge.

    Coefficients are multiplied by the sign they may have. Bounds grow with the penalty, and ridges shrink.
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
    """Whether a coefficient presses against a bound by more than the largest violation."""
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
    """Visit rows from `start` to `stop`; returns how many stay active so far (moved to the front) and the worst
    violation."""
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
