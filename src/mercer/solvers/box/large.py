"""Large problems: dense sub-problems over a working set of the coefficients that still move.

Problem   a `BoxProblem` too large for its matrix to be worth computing
Given     a Gram matrix that can compute any of its rows, and the kind of steps
Result    b; F is exact for every object after each sub-problem, so nothing needs to be reconstructed at the end
Source    the decomposition of Osuna, Freund and Girosi (1997) and Joachims (1999), with large working sets

The working set keeps its free coefficients and takes in the worst violators of the optimality conditions on either
side; coefficients on a bound leave it. It is about twice as large as the number of free coefficients, so a dozen
sub-problems suffice, each solved to a tenth of its initial gap. Only rows of coefficients that a sub-problem changed
are computed. Their sum is kept in float64. Before convergence is claimed it is recomputed, if rounding errors of the
matrix could have added up to more than a fraction of the tolerance.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _deadline
from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.errors import TimeLimitError
from mercer.gram import pages
from mercer.gram.contract import Gram
from mercer.gram.sinks import mirror_across
from mercer.solvers.box.best_seen import BestSeen
from mercer.solvers.box.local import LocalProblem
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.row_supply import RowSupply
from mercer.solvers.box.step_rules import StepBudget, StepRule
from mercer.solvers.drive import CHUNK_SECONDS, NOISE, Run, StallDetector
from mercer.solvers.solution import Solution, Stats, Status

SMALLEST_SET = 768
"""Size of the smallest working set: smaller ones compute fewer entries but take more rounds."""
LARGEST_SET = 8192
"""Size of the largest: a block of 256 MiB in float32, which is still read faster than recomputed."""
_FIRST_CHANGED = 1024
"""Expected number of coefficients that the first sub-problem changes, which sets the size of the first working set.
Chosen, not tuned: later sets follow from what was seen."""
_PER_FREE, _PER_CHANGED = 1.5, 2.0
"""Size of a working set per free coefficient, and per coefficient that the last sub-problem changed: larger sets take
fewer rounds and compute more entries."""
_NEW_SHARE = 0.25
"""The fraction of a set reserved for new members, so that old free coefficients cannot fill it."""
_INNER, _INNER_TOL = 0.1, 0.5
"""A sub-problem is solved to a fraction of its initial gap, but not beyond a fraction of the tolerance: more accuracy
would be wasted on a problem that is not the whole one."""
_ROUNDING = 0.1
"""The error of products, as a fraction of the tolerance, beyond which they are recomputed."""
_PASS_ENTRIES = 2e7
"""Maximum number of entries read by one call of a compiled loop: a few hundredths of a second, so Ctrl-C is
answered."""
_STALL_ROUNDS = 30
"""The run is stalled after this many sub-problems without progress; each starts from another set."""


@final
class WorkingSetRun(Run):
    """Solves sub-problem after sub-problem."""

    def __init__(
        self,
        gram: Gram,
        problem: BoxProblem,
        start: Float64,
        tol: float,
        rule: StepRule,
        smallest: int = SMALLEST_SET,
        largest: int = LARGEST_SET,
    ) -> None:
        self._gram = gram
        self._problem = problem
        self._tol = tol
        self._rule = rule
        self._n = len(problem.linear)
        room = int(np.sqrt(gram.budget / 4 / np.dtype(gram.dtype).itemsize))
        self._largest = max(2, min(largest, room, self._n))
        self._smallest = min(smallest, self._largest)
        self._diagonal = gram.diagonal()
        self._supply = RowSupply(gram)
        self._b = start.copy()
        self._F, moves = problem.begun(self._b)
        self._set: Indices = np.zeros(0, dtype=np.intp)
        self._block: npt.NDArray[Any] = np.empty((0, 0), dtype=gram.dtype)
        self._local: LocalProblem | None = None
        self._changed = _FIRST_CHANGED
        self._rounds = 0
        self._inner_tol = 0.0
        self._inner_did = 0
        self._budget = StepBudget(0)
        self._exact = False
        self._anew = False
        self._stall = StallDetector(_STALL_ROUNDS)
        self._pending: Iterator[None] | None = None
        self._settled: tuple[Float64, Float64] | None = None
        """Coefficients with their F, as they were before the sub-problem whose rows are being computed."""
        limited = _deadline.is_limited() and BestSeen.applies_to(problem)
        self._best = BestSeen(problem) if limited else None
        self._subtract(np.arange(self._n), moves)

    @property
    def useful(self) -> bool:
        """Whether F was exact once after a sub-problem."""
        return self._settled is not None or self._rounds > (self._pending is not None)

    def step(self, iterations: int) -> None:
        deadline = time.monotonic() + CHUNK_SECONDS
        left = iterations
        while left > 0 and not self.done:
            if self._pending is not None:
                self._advance()
            elif self._local is None:
                self._begin_round()
            else:
                did = self._work(left)
                left -= did
            if time.monotonic() > deadline:
                return

    def finish(self, status: Status, stats: Stats) -> Solution:
        try:
            if self._local is not None:
                self._end_round()
            while self._pending is not None:
                self._advance()
        except TimeLimitError:
            if self._settled is None:
                raise
            self._b, self._F = self._settled
        if status is Status.OUT_OF_TIME and self._best is not None and self._best.found is not None:
            self._best.see(self._b, self._F)
            self._b, self._F = self._best.found
        b, F, problem = self._b, self._F, self._problem
        self.gap = self._rule.gap(*self._rule.extremes(b, F, problem))  # a sub-problem may have changed it meanwhile
        return Solution(b, -F - problem.linear, self._rule.intercept(b, F, problem), self._objective(), status, stats)

    # ------------------------------------------------------------------------------------------------------------------

    def _subtract(self, rows: Indices, moves: Float64) -> None:
        moved = np.flatnonzero(moves)
        rows, moves = rows[moved], moves[moved]
        if len(rows):
            keep = self._problem.free(self._b)[rows]
            self._pending = self._supply.subtract(self._F, rows, moves, keep)

    def _advance(self) -> None:
        if self._pending is not None and next(self._pending, self._pending) is self._pending:
            self._pending = None

    def _begin_round(self) -> None:
        highest, lowest = self._rule.extremes(self._b, self._F, self._problem)
        self.gap = self._rule.gap(highest, lowest)
        if self.gap <= self._tol:
            if self._anew or self._supply.noise <= _ROUNDING * self._tol:
                self.done = True
            else:
                self._begin_anew()
            return
        objective = self._objective()
        if self._stall.update(self.gap, objective, NOISE * abs(objective)):
            self.done, self.status = True, Status.STALLED
            return
        if self._best is not None and self._rounds:
            self._best.see(self._b, self._F)
        self._choose(highest, lowest)
        chosen = self._set
        self._local = LocalProblem(
            self._block[: len(chosen)],
            self._diagonal[chosen],
            self._b[chosen],
            self._F[chosen],
            self._problem.part(chosen),
        )
        self._inner_tol = max(_INNER_TOL * self._tol, _INNER * self.gap)
        self._inner_did = 0
        self._budget = StepBudget(len(chosen))

    def _objective(self) -> float:
        return self._problem.objective(self._b, self._F)

    def _begin_anew(self) -> None:
        self._anew = True
        if _deadline.is_limited():
            self._settled = self._b.copy(), self._F.copy()
        self._supply.reset()
        self._F, moves = self._problem.begun(self._b)
        self._subtract(np.arange(self._n), moves)

    def _work(self, left: int) -> int:
        local = self._local
        assert local is not None
        limit = self._budget.cut(min(left, max(16, int(_PASS_ENTRIES / len(local.b)))))
        exact = self._exact or local.beyond_single(self._inner_tol)
        steps = self._rule.exact_steps if exact else self._rule.steps
        did, _ = steps(local, self._inner_tol, limit)
        self.iterations += did
        self._inner_did += did
        if did < limit:
            if self._inner_did == 0 and self._exact:
                self.done, self.status = True, Status.STALLED
            self._exact = self._inner_did == 0  # float32 cannot distinguish the candidates: compare in float64
            self._end_round()
        elif self._budget.spend(did):
            self._budget.solve_systems(local)
        return did

    def _end_round(self) -> None:
        local = self._local
        assert local is not None
        moves = local.b - self._b[self._set]
        self._changed = int(np.count_nonzero(moves))
        self._anew = False
        if _deadline.is_limited() and self._rounds:
            self._settled = self._b.copy(), self._F.copy()
        self._rounds += 1
        self._b[self._set] = local.b
        self._local = None
        self._subtract(self._set, moves)

    # ------------------------------------------------------------------------------------------------------------------

    def _choose(self, highest: float, lowest: float) -> None:
        """Update the working set and its block of the matrix."""
        b, problem = self._b, self._problem
        up, down = self._rule.slopes(b, self._F, problem)
        free = problem.free(b)
        wanted = max(self._smallest, int(_PER_FREE * np.count_nonzero(free)), int(_PER_CHANGED * self._changed))
        size = min(wanted, self._largest)
        places = np.flatnonzero(free[self._set])
        places = places[-int(size * (1.0 - _NEW_SHARE)) :]  # too many: the oldest leave
        outside = np.ones(self._n, dtype=bool)
        outside[self._set[places]] = False
        room = size - len(places)
        rising = _worst(up, outside & (lowest < up), -1.0, room)
        falling = _worst(down, outside & (highest > down), 1.0, room)
        short = min(len(rising), len(falling), room // 2)
        rising = rising[: room - short] if len(falling) == short else rising[: room // 2]
        falling = falling[np.isin(falling, rising, invert=True)][: room - len(rising)]
        self._replace(places, np.concatenate((rising, falling)))

    def _replace(self, places: Indices, new: Indices) -> None:
        previous = self._set
        chosen = np.concatenate((previous[places], new))
        kept, size = len(places), len(chosen)
        if size > self._block.shape[0]:
            # By a quarter at least, so that a slowly growing set does not copy its block in every round.
            side = min(self._largest, max(size, int(1.25 * self._block.shape[0])))
            larger = pages.empty((side, side), self._gram.dtype)
            _copy_block(self._block, places, larger)
            self._block = larger
        else:
            _copy_block(self._block, places, self._block)
        if len(new):
            self._block[kept:size, kept:size] = self._gram.view(new).dense()
            old = chosen[:kept]
            there = self._supply.copy_entries(old, new, self._block, kept)
            absent = np.flatnonzero(~there)
            if len(absent):
                _write_columns(self._block, self._gram.rows(new, old[absent]), absent, kept)
            mirror_across(self._block, self._block[kept:size, :kept], kept, 0)
        self._set = chosen


def _worst(F: Float64, candidates: npt.NDArray[np.bool_], sign: float, count: int) -> Indices:
    """The `count` candidates with the smallest sign * F, the worst first."""
    found = np.flatnonzero(candidates)
    keys = sign * F[found]
    if len(found) > count:
        part = np.argpartition(keys, count)[:count]
        found, keys = found[part], keys[part]
    order = np.lexsort((found, keys))
    return found[order]


@jit
def _copy_block(source: Array, places: Array, target: Array) -> None:
    # Safe in place: indices ascend, so every entry moves up or left, onto one that was already read.
    for i in range(places.shape[0]):
        row, out = source[places[i]], target[i]
        for j in range(places.shape[0]):
            out[j] = row[places[j]]


@jit
def _write_columns(block: Array, rows: Array, columns: Array, kept: int) -> None:
    """Write the entries of new rows below the block that was kept."""
    for i in range(rows.shape[0]):
        out = block[kept + i]
        for j in range(columns.shape[0]):
            out[columns[j]] = rows[i, j]
