"""Dual coordinate descent for several classes against the rest at once, on sparse rows.

Problem   for each of up to eight classes k: minimise 1/2 |w_k|^2 + 1/2 (c_k / freedom)^2
          + sum_i C_ik loss(y_ik, <w_k, x_i> + c_k), y_ik = +1 where row i is of class k and -1 elsewhere
Given     CSR rows, class codes, the hinge or its square
Result    dual coefficients b of shape (rows, 8), as a start for `dual_descent`, and the duality gap of each class
Source    as `dual_descent`; the classes side by side are ours

A row's features are fetched once for all classes, and the eight weights of a feature fill one cache line, so that a
visit for eight classes takes little longer than one for a single class. Rows are left out of later epochs once none of
the classes needs them, which is so of about half: what is left after a few epochs is finished class by class, where
each leaves out rows of its own, on as many threads as there are.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Self, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.hinge import Hinge
from mercer.solvers.drive import Limits, OnChunk, Run, drive
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.coordinate_descent import DualDescentRun, Start
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, balanced, bounds
from mercer.solvers.weights.row_products import SparseRows, shuffled

WIDTH = 8
_LINE = 64
_MOST_EPOCHS = 16
_EPOCHS_BEFORE_A_CHECK = 3
_EPOCHS_BETWEEN_CHECKS = 2
_MOST_EPOCHS_BETWEEN_CHECKS = 6
_ROWS_PER_CALL = 200_000


@final
@dataclass(frozen=True, eq=False)
class ClassProblem:
    """Up to eight classes against the rest; `first` is the code of the first of them."""

    rows: SparseRows
    lengths: Float64
    codes: npt.NDArray[np.intp]
    loss: Loss
    C: Float64
    """One penalty per row."""
    factors: Float64
    """What it is multiplied by where the row is of the class: one per class."""
    first: int
    freedom: float

    def single(self, k: int, matrix: object) -> LinearProblem:
        """One of the classes against the rest, as a problem of its own."""
        of_class = self.codes == self.first + k
        C = np.where(of_class, self.C * self.factors[k], self.C)
        return LinearProblem(matrix, self.loss, np.where(of_class, 1.0, -1.0), C, self.freedom)


class JointDescentRun(Run):
    """A few epochs for all classes; an iteration is one epoch."""

    def __init__(self, problem: ClassProblem, tol: float, seed: int) -> None:
        self._problem, self._tol = problem, tol
        n, d = problem.rows.shape
        self.count = len(problem.factors)
        self._factors = np.zeros(WIDTH)
        self._factors[: self.count] = problem.factors
        self._multipliers = math.isinf(problem.freedom)
        self._rho = max(float(problem.lengths.mean()), 1e-12) if self._multipliers else problem.freedom**2
        self.b = np.zeros((n, WIDTH))
        self._w = _aligned(d)
        self.c = np.zeros(WIDTH)
        self._random = np.random.default_rng(seed)
        self._due = _EPOCHS_BEFORE_A_CHECK
        self._squared = not isinstance(problem.loss, Hinge)
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
        problem = self._problem
        order, kept, worst = shuffled(self._order, self._random), 0, 0.0
        for start in range(0, len(order), _ROWS_PER_CALL):
            kept, seen = _visit(
                *problem.rows.parts, problem.lengths, problem.codes, problem.first, problem.C, self._factors,
                self._squared, self.count, self.b, self._w, self.c, self._rho, order, start,
                min(start + _ROWS_PER_CALL, len(order)), kept, self._bar,
            )  # fmt: skip
            worst = max(worst, seen)
        self._order, self._bar = order[:kept], worst if worst > 0.0 else math.inf
        if self._multipliers:
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
        problem = self._problem
        found = np.empty(len(self.b), dtype=np.bool_)
        _screen(
            problem.codes, problem.first, problem.C, self._factors, self._squared, self.count, self.b, self.f,
            self._bar, found,
        )  # fmt: skip
        return found

    def _epochs_to_go(self, before: float) -> int:
        """How long to wait for the next check: most of the time that is left, if the gap falls as it did."""
        if not self._tol < self.gap < before < math.inf:
            return _EPOCHS_BETWEEN_CHECKS
        left = _EPOCHS_BETWEEN_CHECKS * math.log(self.gap / self._tol) / math.log(before / self.gap)
        return max(_EPOCHS_BETWEEN_CHECKS, min(int(left), _MOST_EPOCHS_BETWEEN_CHECKS))

    def check(self) -> None:
        """The duality gap of each class."""
        problem = self._problem
        _outputs(*problem.rows.parts, self._w, self.c, self.f)
        weights = self.weights
        self.bounds = []
        for k in range(self.count):
            single = problem.single(k, None)
            b = np.ascontiguousarray(self.b[:, k])
            image = weights[k]
            if self._multipliers:
                even = balanced(b)
                image = image - problem.rows.combination(b - even)
                b = even
            f = np.ascontiguousarray(self.f[:, k])
            self.bounds.append(bounds(single, weights[k], float(self.c[k]), f, b, image))
        self.gaps = np.array([(p - d) / max(abs(p), np.finfo(float).tiny) for p, d in self.bounds])
        self.gap = float(self.gaps.max())

    def finish(self, status: Status, stats: Stats) -> Solution:
        if not self.bounds or not self.done:
            self.check()
        return Solution(self.b, self.f, self.c, sum(d for _, d in self.bounds), status, stats)


@final
@dataclass(frozen=True, eq=False)
class Unfinished:
    """A class that needs more than joint epochs, to be finished by itself from where they ended."""

    problem: ClassProblem
    k: int
    start: Start
    epochs: int

    @classmethod
    def at_zero(cls, problem: ClassProblem) -> Self:
        """A class on its own, of which nothing is known yet."""
        n, d = problem.rows.shape
        return cls(problem, 0, Start(np.zeros(n), np.zeros(d), 0.0), 0)

    def finish(self, tol: float, limits: Limits, on_chunk: OnChunk | None, began: float, seed: int) -> LinearSolution:
        problem, rest = self.problem, dataclasses.replace(limits, max_iter=max(limits.max_iter - self.epochs, -1))
        single = problem.single(self.k, None)
        run = DualDescentRun(single, problem.rows, problem.lengths, start=self.start, tol=tol, seed=seed + self.k)
        found = run.solution(rest, on_chunk, began)
        return dataclasses.replace(
            found, stats=dataclasses.replace(found.stats, iterations=found.stats.iterations + self.epochs)
        )


def solve(
    problem: ClassProblem, tol: float, limits: Limits, on_chunk: OnChunk | None, began: float, seed: int
) -> list[LinearSolution | Unfinished]:
    """One solution per class by all of them together, or how far that came."""
    run = JointDescentRun(problem, tol, seed)
    joint = drive(run, tol, limits, on_chunk, began)
    stopped = joint.status is not Status.CONVERGED
    solutions: list[LinearSolution | Unfinished] = []
    weights = run.weights
    for k in range(run.count):
        b, c = np.ascontiguousarray(run.b[:, k]), float(run.c[k])
        if run.gaps[k] > tol and not stopped:
            solutions.append(Unfinished(problem, k, Start(b, weights[k], c), run.iterations))
            continue
        status = Status.CONVERGED if run.gaps[k] <= tol else joint.status
        primal, dual = run.bounds[k]
        even = balanced(b) if math.isinf(problem.freedom) else b
        solutions.append(LinearSolution(weights[k], c, even, primal, dual, status, joint.stats))
    return solutions


def _aligned(features: int) -> Float64:
    """Zeros, a cache line for each feature."""
    raw = np.zeros((features + 1) * WIDTH)
    skip = (-raw.ctypes.data % _LINE) // 8
    return raw[skip : skip + features * WIDTH].reshape(features, WIDTH)


@jit
def _dual(y: float, f: float, b: float, penalty: float, squared: bool) -> tuple[float, float, float]:
    """The coefficient with the sign of its label, the derivative of the dual by it, and the ridge in that."""
    ridge = 0.5 / penalty if squared else 0.0
    return y * b, y * f + ridge * y * b - 1.0, ridge


@jit
def _settled(a: float, gradient: float, penalty: float, squared: bool, bar: float) -> bool:
    """Whether a coefficient presses against a bound by more than any coefficient violated its conditions."""
    return (a <= 0.0 and gradient > bar) or (not squared and a >= penalty and gradient < -bar)


@jit
def _screen(
    codes: Array, first: int, C: Array, factors: Array, squared: bool, count: int, b: Array, f: Array, bar: float,
    found: Array,
) -> None:  # fmt: skip
    for i in range(found.shape[0]):
        found[i] = False
        for k in range(count):
            own = codes[i] == first + k
            penalty = C[i] * factors[k] if own else C[i]
            a, gradient, _ = _dual(1.0 if own else -1.0, f[i, k], b[i, k], penalty, squared)
            found[i] |= not _settled(a, gradient, penalty, squared, bar)


@jit
def _visit(
    indptr: Array, indices: Array, data: Array, lengths: Array, codes: Array, first: int, C: Array, factors: Array,
    squared: bool, count: int, b: Array, w: Array, c: Array, rho: float,
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
            y = 1.0 if own else -1.0
            penalty = C[i] * factors[k] if own else C[i]
            a, gradient, ridge = _dual(y, f[k], b[i, k], penalty, squared)
            stays |= not _settled(a, gradient, penalty, squared, bar)
            new = max(a - gradient / max(lengths[i] + rho + ridge, 1e-12), 0.0)
            if not squared:
                new = min(new, penalty)
            m[k] = y * (new - a)
            if m[k] != 0.0:
                moved = True
                worst = max(worst, abs(gradient))
                b[i, k] = y * new
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
