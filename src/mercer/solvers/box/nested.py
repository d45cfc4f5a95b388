"""Very large problems: machines of cells to begin with, then nested problems over the coefficients still in play.

Problem   a `BoxProblem` of so many coefficients that even the rows of those that move are dear
Given     a Gram matrix of which any part may be asked for
Result    b, with F for every object; the largest violation is over all coefficients, in play or not
Source    the divide-and-conquer start of Hsieh, Si and Dhillon (2014); shrinking, after Joachims (1999)

Objects far from each other in feature space hardly see each other, so machines of Voronoi cells together are a start
near the solution, at the cost of the cells alone. After that most coefficients rest where they are: the problem of the
others has a small matrix, often one that fits into memory, and is solved by working sets (`large`). What
it moves is then told to all objects, those that now violate optimality come into play, and so on until none does.
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
"""Coefficients from which on cells are used to start: rows of fewer objects are short enough to be computed as often as
they are needed. On ijcnn1, 50,000 objects with 2,500 support vectors, the start took half as long again as it saved;
on 100,000 objects of forest cover it pays."""
_SIMILAR = 0.1
"""Objects that have more in common than this are all neighbours: cells tell little of the solution, and with them, a
smooth function of 40,000 objects took half as long again. On forest cover it is below 0.01."""
_SAMPLED = 64
"""Objects on either side of the pairs that tell it: few, since entries may be expensive."""
CELL = 4096
"""Objects of a cell of the start. Larger ones are nearer to the solution, and cost more before anything is known."""
_CELL_TOL = 10.0
"""Tolerances to which cells are solved: what lies across their borders moves coefficients by more."""
_IN_REACH = 0.1
"""How near to violating optimality a coefficient is in play, as a share of the spread of slopes: what moves while a
nested problem is solved changes others by about as much."""
_INNER = 0.1
"""What a nested problem leaves of the largest violation; less would solve a problem that is not yet the whole one."""
_OF_TOL = 0.5
"""The same as a share of the tolerance, beyond which none is solved."""
_NOTICED = 1.5
"""Up to this multiple of what a nested problem left, the violation over all objects is its own."""
_MOSTLY = 0.8
"""The share of a matrix at hand that is worth keeping it."""
_ROWS, _ENTRIES = 256, 2**25
"""Rows at least, and entries about, that are computed between two looks at signals and limits: tenths of a second."""
_STALL_ROUNDS = 10
"""Nested problems in a row that make nothing better, after which none will."""

Begin = Callable[[Gram, BoxProblem, Float64, float, StepRule], Run]
"""What begins a run on a problem of ordinary size, from a point and to a tolerance."""


def suits(gram: Gram, problem: BoxProblem) -> bool:
    """Whether a problem is so large, with entries that have to be computed, and falls apart into cells."""
    apart = problem.bounded and problem.absolute_sum is None and problem.total in (None, 0.0)
    within = bool((problem.lower <= 0.0).all() and (problem.upper >= 0.0).all())
    computed = gram.factor is None and not gram.in_memory
    return len(problem.linear) >= LEAST and apart and within and computed and _similarity(gram) <= _SIMILAR


def _similarity(gram: Gram) -> float:
    """What objects have in common on average: |k(x, z)| / |x| |z| over some pairs, evenly spread."""
    n = gram.shape[0]
    some = np.linspace(0, n - 1, 2 * _SAMPLED).astype(np.intp)
    left, right = some[::2], some[1::2]
    sizes = lengths(gram.diagonal())
    return float(np.mean(np.abs(gram.rows(left, right)) / np.outer(sizes[left], sizes[right])))


@final
class NestedRun(Run):
    """Cells, and then nested problems."""

    def __init__(
        self, gram: Gram, problem: BoxProblem, start: Float64 | None, tol: float, rule: StepRule, begin: Begin
    ) -> None:
        self._gram, self._problem, self._tol, self._rule, self._begin = gram, problem, tol, rule, begin
        self._n = len(problem.linear)
        self._cold = start is None
        self._b = np.zeros(self._n) if start is None else start.copy()
        self._F: Float64 | None = None
        """At b; None before it is known."""
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
        """All of the work, in pieces that take a fraction of a second each."""
        if self._cold:
            yield from self._train_cells()
        yield from self._first_told()
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

    def _first_told(self) -> Iterator[None]:
        F, moves = self._problem.begun(self._b)
        yield from self._told(F, np.arange(self._n), moves)
        self._F = F

    # ------------------------------------------------------------------------------------------------------------ start

    def _train_cells(self) -> Iterator[None]:
        """The machines of cells, in each of which coefficients have the sum that all must have, which is zero."""
        rng = np.random.default_rng(0)
        labels = divide(self._n, CELL, rng, nearest_by(self._gram)).labels
        order = np.argsort(labels, kind="stable")
        cells = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        cells.sort(key=len, reverse=True)
        began, tol = time.monotonic(), _CELL_TOL * self._tol

        def train(ids: Indices) -> None:
            block, part = self._gram.view(ids).stored_if_it_fits(), self._problem.part(ids)
            found = drive(self._begin(block, part, self._b[ids], tol, self._rule), tol, Limits(), None, began)
            self._b[ids] = found.coefficients  # its steps are not counted: they only find where to begin

        at_once = self._gram.executor.count
        for first in range(0, len(cells), at_once):
            self._gram.executor.each(train, cells[first : first + at_once])
            yield

    # ---------------------------------------------------------------------------------------------------------- nested

    def _solve_nested(self, F: Float64, in_play: npt.NDArray[np.bool_]) -> Iterator[None]:
        """The problem of the coefficients in play; then all others are told what has moved."""
        if self._view is None or not self._contains(in_play):
            self._active, self._view = np.flatnonzero(in_play), None  # the last one makes room for this one
            self._view = self._gram.view(self._active).stored_if_it_fits()
        active, b = self._active, self._b[self._active]
        part = dataclasses.replace(
            self._problem.part(active),
            total=None if self._problem.total is None else float(b.sum()),
            known=(b, -(F + self._problem.linear)[active]),
        )
        # Once the others hardly notice what moves, there is no reason to stop half-way.
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
        """Take over where the nested problem stands."""
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
        yield from self._told(F, np.flatnonzero(rest), moves)
        self._b[active], self._F = found.coefficients, F

    def _contains(self, in_play: npt.NDArray[np.bool_]) -> bool:
        """Whether the matrix at hand serves: it has all that are in play, and not many others."""
        wanted = int(np.count_nonzero(in_play))
        return wanted > _MOSTLY * len(self._active) and int(np.count_nonzero(in_play[self._active])) == wanted

    def _in_play(self, up: Float64, down: Float64, F: Float64) -> npt.NDArray[np.bool_]:
        """Coefficients that are free, that violate optimality, or nearly do."""
        level = 0.0 if self._problem.total is None else 0.5 * sum(self._rule.extremes_of(up, down))
        reach = _IN_REACH * float(np.subtract(*np.percentile(F, (90, 10))))
        return np.asarray(self._problem.free(self._b) | (up > level - reach) | (down < level + reach))

    def _told(self, F: Float64, rows: Indices, moves: Float64) -> Iterator[None]:
        """F less K moves, at these rows."""
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
                for _ in self._first_told():
                    pass
            elif self._inner is not None:
                for _ in self._end_nested(self._F):
                    pass
        except TimeLimitError:
            if self._F is None:  # there are coefficients, but nobody knows what they are worth
                raise
        F = self._F
        assert F is not None
        self.gap = self._rule.gap(*self._rule.extremes(b, F, problem))
        constant = self._rule.intercept(b, F, problem)
        return Solution(b, -F - problem.linear, constant, problem.objective(b, F), status, stats)
