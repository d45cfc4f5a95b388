"""Losses with kinks on a Gram matrix: steps along pairs of coefficients, then weights if these are too slow.

Most problems take a few steps for each coefficient. Some take millions: classes that overlap under a huge penalty,
columns on very different scales, a nearly constant kernel. The number cannot be predicted. The alternative is a factor
K = FF' of the matrix, whose rows serve as features, and Newton's method on their weights (`solvers.weights.kinked`).
Steps are allowed as much work as the alternative would take, so trying both costs at most about twice the better one.
Work is counted, never timed, so results are reproducible.
"""

from __future__ import annotations

import dataclasses
import math
from typing import final

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.solvers.box import refined
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.drive import Chunk, Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.smooth.factored import factor_of
from mercer.solvers.solution import Solution, Status
from mercer.solvers.weights import kinked
from mercer.solvers.weights.problem import LinearProblem

_COPIES = 6
"""The most float64 matrices of the size of K that the alternative needs."""


def finished(
    gram: Gram,
    problem: LossProblem,
    found: Solution,
    *,
    tol: float = 1e-3,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """Continue after the steps allowed by `patience`, to within `tol` or as far as the limits allow."""
    work = _Work(gram, BoxProblem.of(problem), tol, limits or Limits(), on_chunk)
    work.note(found)
    if not work.wanted(found):
        return found
    if 8 * _COPIES * gram.shape[0] ** 2 > gram.budget:
        return work.steps(found.coefficients, math.inf) if found.status is not Status.STALLED else found
    rows, n = factor_of(work.exact), gram.shape[0]
    more = _equivalent_steps(n, rows.shape[1]) - found.stats.iterations
    if more > 0 and found.status is not Status.STALLED:
        found = work.steps(found.coefficients, more)
    return _nearer(found, work.on_weights(rows, problem), work.box) if work.wanted(found) else found


def _equivalent_steps(n: int, rank: int) -> int:
    """The number of steps that cost as much as training weights on a factor of this rank."""
    return int(cost.of_weights(cost.KINKED, n, min(rank, cost.MOST_FEATURES), rank) / cost.of_step(n))


def _nearer(first: Solution, second: Solution, box: BoxProblem) -> Solution:
    """The solution that violates optimality less, with the work of both counted."""
    gaps = [box.violation(one.coefficients, -(one.outputs + box.linear)) for one in (first, second)]
    best = second if gaps[1] < gaps[0] else first
    return dataclasses.replace(best, stats=dataclasses.replace(second.stats, gap=min(gaps)))


@final
class _Work:
    """The remaining work on one problem, within its limits."""

    def __init__(self, gram: Gram, box: BoxProblem, tol: float, limits: Limits, on_chunk: OnChunk | None) -> None:
        self._gram, self.box, self._tol = gram, box, tol
        self._limits, self._on_chunk = limits, on_chunk
        self._done, self._seconds = 0, 0.0

    @property
    def exact(self) -> Gram:
        """The matrix in float64."""
        return self._gram if self._gram.setting.finer is None else self._gram.refined()

    @property
    def _left(self) -> float:
        return math.inf if self._limits.max_iter < 0 else self._limits.max_iter - self._done

    def _watch(self, chunk: Chunk) -> None:
        if self._on_chunk is not None:
            self._on_chunk(dataclasses.replace(chunk, iterations=self._done + chunk.iterations))

    def _within(self, most: float) -> Limits:
        return dataclasses.replace(self._limits, max_iter=-1 if math.isinf(most) else int(most))

    def note(self, found: Solution) -> None:
        """Count the work that led to a solution."""
        self._done += found.stats.iterations
        self._seconds += found.stats.seconds

    def _counted(self, found: Solution) -> Solution:
        self.note(found)
        stats = dataclasses.replace(found.stats, iterations=self._done, seconds=self._seconds)
        return dataclasses.replace(found, stats=stats)

    def wanted(self, found: Solution) -> bool:
        """Whether the solver stopped only because it ran out of steps or stalled."""
        stopped = found.status is Status.STALLED or (found.status is Status.OUT_OF_ITERATIONS and self._left > 0)
        return stopped and not self._limits.out_of_time

    def steps(self, start: Float64, most: float) -> Solution:
        """Take at most this many steps."""
        limits = self._within(min(self._left, most))
        return self._counted(
            refined.solve(self._gram, self.box, start=start, tol=self._tol, limits=limits, on_chunk=self._watch)
        )

    def on_weights(self, rows: Float64, problem: LossProblem) -> Solution:
        """Train on the rows of a factor."""
        linear = LinearProblem(rows, problem.loss, problem.y, problem.C, math.inf if problem.intercept else 0.0)
        with single_threaded_blas():
            found = kinked.solve(linear, tol=self._tol, limits=self._within(self._left), on_chunk=self._watch)
        outputs = self.exact.matvec(found.dual)
        gap = self.box.violation(found.dual, -(outputs + self.box.linear))
        status = found.status
        if gap <= self._tol:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:  # on the factor, which equals the matrix only up to rounding
            status = Status.STALLED
        solution = Solution(found.dual, outputs, found.intercept, -found.lower_bound, status, found.stats)
        return self._counted(solution)
