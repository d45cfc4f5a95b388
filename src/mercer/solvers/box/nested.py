"""Very large problems: a start from machines of cells, then nested problems over the coefficients that still move.

Problem   a `BoxProblem` with so many coefficients that even the rows of those that move are expensive
Given     a Gram matrix that can compute any of its parts
Result    b, with F for every object; the largest violation is over all coefficients, not only those of the last nested
          problem
Source    the divide-and-conquer start of Hsieh, Si and Dhillon (2014); shrinking, after Joachims (1999)

Objects far from each other in feature space hardly influence each other, so separate machines for Voronoi cells give a
start near the solution at little cost. Most coefficients then stay where they are. The problem of the others, which are
in play, has a small matrix, which often fits into memory, and is solved by working sets (`large`). Then F is updated
for all objects, those that now violate optimality come into play, and the rounds end when none does.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.errors import TimeLimitError
from mercer.gram.contract import Gram
from mercer.gram.finer import lengths
from mercer.gram.voronoi import divide, nearest_by
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import StepRule
from mercer.solvers.drive import CHUNK_SECONDS, NOISE, Limits, Run, StallDetector, drive
from mercer.solvers.solution import Solution, Stats, Status

LEAST = 65_536
"""Problems with at least this many coefficients start from cells; with fewer, rows are short enough to be computed
whenever they are needed. On ijcnn1 (50,000 objects, 2,500 support vectors) the start took 1.5 times as long as it
saved; on 100,000 objects of forest cover it saves time."""
_SIMILAR = 0.1
"""If the mean similarity of objects is larger, all are neighbours, and the machines of cells are far from the solution:
with cells, regression of a smooth function on 40,000 objects took 1.5 times as long. On forest cover the mean is below
0.01."""
_SAMPLED = 64
"""Rows and columns of the sample from which it is estimated: few, since entries may be expensive."""
CELL = 4096
"""Objects per cell: larger cells give a start nearer to the solution, but cost more."""
_CELL_TOL = 10.0
"""Cells are solved to this multiple of the tolerance: objects of other cells will move their coefficients by more.
Chosen, not tuned."""
_IN_REACH = 0.1
"""A coefficient is in play if its slope is this close to violating optimality, as a fraction of the spread of slopes:
solving a nested problem changes other slopes by about as much."""
_INNER = 0.1
"""The fraction of the largest violation that a nested problem may leave; with less, effort is wasted on a problem that
is not yet the whole one."""
_OF_TOL = 0.5
"""No nested problem is solved more accurately than this fraction of the tolerance; the rest is left for objects that
are not part of it. Chosen, not tuned."""
_NOTICED = 1.5
"""If the violation over all objects is at most this multiple of what the nested problem left, other objects hardly
notice what moved."""
_MOSTLY = 0.8
"""The matrix of the last nested problem is kept if the next one needs at least this fraction of it: a smaller fraction
computes fewer entries, but makes steps pass over rows that no longer matter. Chosen, not tuned."""
_ROWS, _ENTRIES = 256, 2**25
"""The minimum number of rows, and the approximate number of entries, computed between two checks of signals and limits:
tenths of a second."""
_STALL_ROUNDS = 10
"""The run is stalled after this many nested problems in a row without progress."""

Begin = Callable[[Gram, BoxProblem, Float64, float, StepRule], Run]
"""Begins a run on a problem of ordinary size, from a point and to a tolerance."""


def suits(gram: Gram, problem: BoxProblem) -> bool:
    """Whether a problem is large enough, has entries that must be computed, and separates into cells."""
    apart = problem.bounded and problem.absolute_sum is None and problem.total in (None, 0.0)
    within = bool((problem.lower <= 0.0).all() and (problem.upper >= 0.0).all())
    computed = gram.factor is None and not gram.in_memory
    return len(problem.linear) >= LEAST and apart and within and computed and _similarity(gram) <= _SIMILAR


def _similarity(gram: Gram) -> float:
    """The mean similarity of objects: |k(x, z)| / |x| |z| over some pairs, evenly spread."""
    n = gram.shape[0]
    some = np.linspace(0, n - 1, 2 * _SAMPLED).astype(np.intp)
    left, right = some[::2], some[1::2]
    sizes = lengths(gram.diagonal())
    return float(np.mean(np.abs(gram.rows(left, right)) / np.outer(sizes[left], sizes[right])))


@final
class NestedRun(Run):
    """Solves the cells, and then nested problems."""

    def __init__(
        self, gram: Gram, problem: BoxProblem, start: Float64 | None, tol: float, rule: StepRule, begin: Begin
    ) -> None:
        self._gram, self._problem, self._tol, self._rule, self._begin = gram, problem, tol, rule, begin
        self._n = len(problem.linear)
        self._cold = start is None
        self._b = np.zeros(self._n) if start is None else start.copy()
        self._F: Float64 | None = None
        """F at b; None until it is known."""
        self._active: Indices = np.zeros(0, dtype=np.intp)
        self._view: Gram | None = None
        """The matrix of the coefficients in play."""
        self._inner: Run | None = None
        self._inner_tol = 0.0
        self._left = 0
        self._stalled, self._stall = False, StallDetector(_STALL_ROUNDS)
        self._work = self._pieces()

    def step(self, iterations: int) -> None:
        deadline = time.monotonic() + CHUNK_SECONDS
        self._left = iterations
        while self._left > 0 and not self.done and time.monotonic() < deadline:
            next(self._work, None)

    def _pieces(self) -> Iterator[None]:
        """All the work, in pieces of a fraction of a second."""
        if self._cold:
            yield from self._train_cells()
        yield from self._evaluate()
        while True:
            F = self._F
            assert F is not None
            up, down = self._rule.slopes(self._b, F, self._problem)
            self.gap = self._rule.gap(*self._rule.extremes_of(up, down))
            if self.gap <= self._tol:
                break
            objective = self._problem.objective(self._b, F)
            if self._stalled or self._stall.update(self.gap, objective, NOISE * abs(objective)):
                self.status = Status.STALLED
                break
            yield from self._solve_nested(F, self._in_play(up, down, F))
        self.done, self._view = True, None

    def _evaluate(self) -> Iterator[None]:
        F, moves = self._problem.begun(self._b)
        yield from self._subtract_moves(F, np.arange(self._n), moves)
        self._F = F

    # ------------------------------------------------------------------------------------------------------------ start

    def _train_cells(self) -> Iterator[None]:
        """The machines of cells; with an intercept, the coefficients of each cell sum to zero, as all must."""
        rng = np.random.default_rng(0)
        labels = divide(self._n, CELL, rng, nearest_by(self._gram)).labels
        order = np.argsort(labels, kind="stable")
        cells = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        cells.sort(key=len, reverse=True)
        began, tol = time.monotonic(), _CELL_TOL * self._tol

        def train(ids: Indices) -> None:
            block, part = self._gram.view(ids).stored_if_it_fits(), self._problem.part(ids)
            found = drive(self._begin(block, part, self._b[ids], tol, self._rule), tol, Limits(), None, began)
            self._b[ids] = found.coefficients  # its steps are not counted: they only find the starting point

        at_once = self._gram.executor.count
        for first in range(0, len(cells), at_once):
            self._gram.executor.each(train, cells[first : first + at_once])
            yield

    # ---------------------------------------------------------------------------------------------------------- nested

    def _solve_nested(self, F: Float64, in_play: npt.NDArray[np.bool_]) -> Iterator[None]:
        """Solve the problem of the coefficients in play, then update F for all others."""
        if self._view is None or not self._contains(in_play):
            self._active, self._view = np.flatnonzero(in_play), None  # free the memory of the last matrix first
            self._view = self._gram.view(self._active).stored_if_it_fits()
        active, b = self._active, self._b[self._active]
        part = dataclasses.replace(
            self._problem.part(active),
            total=None if self._problem.total is None else float(b.sum()),
            known=(b, -(F + self._problem.linear)[active]),
        )
        # If the others hardly notice what moves, solve this problem to the full tolerance.
        share = 0.0 if self.gap <= _NOTICED * self._inner_tol else _INNER
        self._inner_tol = max(_OF_TOL * self._tol, share * self.gap)
        self._inner = self._begin(self._view, part, b, self._inner_tol, self._rule)
        while not self._inner.done:
            before = self._inner.iterations
            self._inner.step(self._left)
            did = self._inner.iterations - before
            self.iterations, self._left = self.iterations + did, self._left - did
            if math.isfinite(self._inner.gap):
                self.gap = self._inner.gap
            yield
        self._stalled = self._inner.status is not Status.CONVERGED
        yield from self._end_nested(F)

    def _end_nested(self, F: Float64) -> Iterator[None]:
        """Take over the current point of the nested problem."""
        assert self._inner is not None
        active = self._active
        found = self._inner.finish(self._inner.status, Stats(0, self._inner.gap, 0.0))
        self._inner = None
        F = F.copy()
        F[active] = -(found.outputs + self._problem.linear[active])
        moves = np.zeros(self._n)
        moves[active] = found.coefficients - self._b[active]
        rest = np.ones(self._n, dtype=bool)
        rest[active] = False
        yield from self._subtract_moves(F, np.flatnonzero(rest), moves)
        self._b[active], self._F = found.coefficients, F

    def _contains(self, in_play: npt.NDArray[np.bool_]) -> bool:
        """Whether the current matrix can be kept: it contains all coefficients in play, and not many others."""
        wanted = int(np.count_nonzero(in_play))
        return wanted > _MOSTLY * len(self._active) and int(np.count_nonzero(in_play[self._active])) == wanted

    def _in_play(self, up: Float64, down: Float64, F: Float64) -> npt.NDArray[np.bool_]:
        """Coefficients that are free, that violate optimality, or nearly do."""
        level = 0.0 if self._problem.total is None else 0.5 * sum(self._rule.extremes_of(up, down))
        reach = _IN_REACH * float(np.subtract(*np.percentile(F, (90, 10))))  # a spread that outliers do not affect
        return np.asarray(self._problem.free(self._b) | (up > level - reach) | (down < level + reach))

    def _subtract_moves(self, F: Float64, rows: Indices, moves: Float64) -> Iterator[None]:
        """Subtract K moves from F at these rows."""
        moved = np.flatnonzero(moves)
        size = max(_ROWS, _ENTRIES // max(1, len(moved)))
        for start in range(0, len(rows) if len(moved) else 0, size):
            part = rows[start : start + size]
            F[part] -= self._gram.view(part, moved).matvec(moves[moved])
            yield

    # ---------------------------------------------------------------------------------------------------------- finish

    def finish(self, status: Status, stats: Stats) -> Solution:
        b, problem = self._b, self._problem
        try:
            if self._F is None:
                for _ in self._evaluate():
                    pass
            elif self._inner is not None:
                for _ in self._end_nested(self._F):
                    pass
        except TimeLimitError:
            if self._F is None:  # there are coefficients, but their quality is unknown
                raise
        F = self._F
        assert F is not None
        self.gap = self._rule.gap(*self._rule.extremes(b, F, problem))
        constant = self._rule.intercept(b, F, problem)
        return Solution(b, -F - problem.linear, constant, problem.objective(b, F), status, stats)
