"""The machines of all pairs of groups of objects on one small matrix, or on its blocks, many in one compiled call.

Problem   for every two groups of objects, minimise 1/2 b'Kb + linear'b over lower <= b <= upper, sum(b) = 0
Given     a matrix K in float64, the groups, the largest coefficient of each object, and the dual of a loss for two
          classes
Result    b and Kb of every pair, its intercept, and the remaining violation
Source    the steps of `pair_loops`, one problem after the other

The Python code around the steps of one machine takes a millisecond; the steps themselves, on a few dozen objects, less
than a tenth of that. Problems that are not solved within the steps allowed here, or not to the tolerance once Kb is
recomputed, are reported to the caller and go to `smo`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.losses.dual import Dual
from mercer.solvers.box.local import subtract_rows
from mercer.solvers.box.pair_loops import extremes, pair_steps
from mercer.solvers.box.step_rules import SOME, STEPS

LARGEST = 2048
"""Maximum number of objects: the matrix then takes 32 MiB, and one compiled call at most a few tenths of a second."""


_NOTHING, _NOWHERE = np.empty(0), np.empty((0, 3), dtype=np.int64)


@final
@dataclass(frozen=True, eq=False)
class Blocks:
    """The matrix of the pairs of one group with some of those after it, without the whole matrix."""

    first: int
    others: range
    sizes: Indices
    """The number of objects in each group."""
    within: Float64
    """The matrices within all groups, row after row ..."""
    starts: Indices
    """... and where those of each group begin."""
    across: Float64
    """Rows of the first group, columns of the others."""

    def places(self) -> Indices:
        """Where the numbers of each pair are: within the first group, within the second, and the first column."""
        found = np.empty((len(self.others), 3), dtype=np.int64)
        part = slice(self.others.start, self.others.stop)
        found[:, 0], found[:, 1] = self.starts[self.first], self.starts[part]
        found[0, 2] = 0
        self.sizes[part][:-1].cumsum(out=found[1:, 2])
        return found


@final
@dataclass(frozen=True, eq=False)
class SmallPairs:
    """The problems of pairs (0, 1), (0, 2), ... and their solutions so far. Arrays have a row per pair."""

    groups: list[Indices]
    """The objects of each group."""
    ids: Indices
    """The objects of all pairs, one pair after the other."""
    starts: Indices
    """Where each pair begins in `ids`, and the end."""
    signs: Float64
    """+1 for objects of the first group of their pair, -1 for the second."""
    coefficients: Float64
    outputs: Float64
    """Kb."""
    intercepts: Float64
    iterations: Indices
    gaps: Float64

    @classmethod
    def of(cls, groups: list[Indices]) -> SmallPairs:
        """The problems of these groups. With two groups, objects keep their order."""
        if len(groups) == 2:
            ids = np.concatenate(groups)
            signs = np.repeat((1.0, -1.0), (len(groups[0]), len(groups[1])))
            order = ids.argsort()
            ids, signs, starts = ids[order], signs[order], np.array([0, len(ids)])
        else:
            sizes = np.array([len(group) for group in groups])
            pieces = np.column_stack(np.triu_indices(len(groups), 1)).ravel()
            lengths = sizes[pieces]
            ends = lengths.cumsum()
            starts = np.concatenate(([0], ends[1::2]))
            shifts = (sizes.cumsum() - sizes)[pieces] - (ends - lengths)
            ids = np.concatenate(groups)[np.arange(ends[-1]) + shifts.repeat(lengths)]
            signs = np.tile((1.0, -1.0), len(starts) - 1).repeat(lengths)
        pairs, n = len(starts) - 1, len(ids)
        return cls(
            groups, ids, starts, signs, np.zeros(n), np.zeros(n),
            np.zeros(pairs), np.zeros(pairs, dtype=np.intp), np.full(pairs, np.inf),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.gaps)

    def part(self, number: int) -> slice:
        """Where the objects of a pair are among `ids`."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    def solve(self, matrix: Float64, diagonal: Float64, bounds: Float64, sides: Dual, tol: float, some: slice) -> None:
        """Solve some of the pairs; `sides` is the dual of two objects with labels +1 and -1 and penalties of 1."""
        _solve_pairs(
            matrix, _NOTHING, _NOWHERE, np.ascontiguousarray(diagonal), bounds,
            np.array((sides.linear, sides.lower, sides.upper)), tol, STEPS, SOME, some.start, some.stop, self.ids,
            self.starts, self.signs, self.coefficients, self.outputs, self.intercepts, self.iterations, self.gaps,
        )  # fmt: skip

    def solve_blocks(self, blocks: Blocks, diagonal: Float64, bounds: Float64, sides: Dual, tol: float) -> None:
        """Solve the pairs of one group with some of those after it."""
        begin = self._number(blocks.first, blocks.others.start)
        end = begin + blocks.others.stop - blocks.others.start
        _solve_pairs(
            blocks.across, blocks.within, blocks.places(), np.ascontiguousarray(diagonal), bounds,
            np.array((sides.linear, sides.lower, sides.upper)), tol, STEPS, SOME, begin, end, self.ids, self.starts,
            self.signs, self.coefficients, self.outputs, self.intercepts, self.iterations, self.gaps,
        )  # fmt: skip

    def _number(self, first: int, second: int) -> int:
        """The index of the pair of two groups."""
        count = len(self.groups)
        return first * count - first * (first + 1) // 2 + second - first - 1


@jit
def _solve_pairs(
    matrix: Array,
    within: Array,
    places_within: Array,
    diagonal: Array,
    bounds: Array,
    sides: Array,
    tol: float,
    steps: int,
    more: int,
    begin: int,
    end: int,
    ids: Array,
    starts: Array,
    signs: Array,
    coefficients: Array,
    outputs: Array,
    intercepts: Array,
    iterations: Array,
    gaps: Array,
) -> None:
    """Solve the pairs from `begin` to `end`, each in at most `steps` steps per object, plus `more`.

    Their rows are those of the matrix or, with blocks, are assembled from them; the matrix then holds the blocks across
    groups.
    """
    largest = 0
    for number in range(begin, end):
        largest = max(largest, starts[number + 1] - starts[number])
    in_blocks = places_within.shape[0] > 0
    alone = not in_blocks and largest == matrix.shape[0]  # all objects in order: the matrix itself can be used
    store = np.empty(0 if alone else largest * largest)
    # Allocated once for all pairs: for few objects, allocation takes longer than solving.
    numbers, single, places, flags = (
        np.empty((8, largest)), np.empty((3, largest), np.float32), np.empty(largest, np.int64),
        np.empty((2, largest), np.bool_),
    )  # fmt: skip
    for number in range(begin, end):
        start, stop = starts[number], starts[number + 1]
        n = stop - start
        own = ids[start:stop]
        square = matrix
        first, second, across = matrix, matrix, matrix[:, :0]
        if not alone:
            square = store[: n * n].reshape(n, n)
        if in_blocks:
            cut = matrix.shape[0]
            place, other, column = places_within[number - begin]
            first = within[place : place + cut * cut].reshape(cut, cut)
            second = within[other : other + (n - cut) * (n - cut)].reshape(n - cut, n - cut)
            across = matrix[:, column : column + n - cut]
        elif not alone:
            for i in range(n):
                row, source = square[i], matrix[own[i]]
                for j in range(n):
                    row[j] = source[own[j]]
        linear, lower, upper, ends = numbers[0, :n], numbers[1, :n], numbers[2, :n], numbers[3, :n]
        for t in range(n):
            side, bound = 0 if signs[start + t] > 0 else 1, bounds[own[t]]
            linear[t] = sides[0, side]
            lower[t], upper[t] = sides[1, side] * bound, sides[2, side] * bound
            ends[t] = diagonal[own[t]]
            flags[0, t] = not in_blocks
        iterations[number], gaps[number], intercepts[number] = _solve(
            square, first, second, across, ends, linear, lower, upper, tol, steps * n + more,
            coefficients[start:stop], outputs[start:stop], numbers, single, places, flags,
        )  # fmt: skip


@jit(inline=True)
def _solve(
    K: Array,
    within: Array,
    beside: Array,
    across: Array,
    diagonal: Array,
    linear: Array,
    lower: Array,
    upper: Array,
    tol: float,
    limit: int,
    b: Array,
    outputs: Array,
    numbers: Array,
    single: Array,
    places: Array,
    flags: Array,
) -> tuple[int, float, float]:
    """Solve one problem from b = 0: the number of steps, the violation of optimality and the intercept.

    Rows missing from K come from the blocks that follow it. The last four arguments are scratch memory.
    """
    n = b.shape[0]
    kink, F, first, second = numbers[4, :n], numbers[5, :n], numbers[6, :n], numbers[7, :n]
    there, known, used = flags[0, :n], flags[1, :n], places[:n]
    for t in range(n):  # loops, since array expressions take seconds to compile
        known[t] = False
        kink[t], first[t], second[t], used[t] = 0.0, 0.0, 0.0, 0
        F[t] = -linear[t]
    scratch = single[2, :n]
    did, _ = pair_steps(
        K, there, within, beside, across, diagonal, b, F, lower, upper, kink, single[0, :n], single[1, :n], tol, limit,
        0, scratch, scratch.view(np.int32), first, second, used, known, np.zeros(1), np.zeros(3, np.int64),
    )  # fmt: skip
    moves, count = first, 0
    for t in range(n):
        outputs[t] = 0.0
        if b[t] != 0.0:
            used[count], moves[count] = t, -b[t]
            count += 1
    subtract_rows(outputs, K, used[:count], moves[:count], 0, n)
    for t in range(n):
        F[t] = -(outputs[t] + linear[t])
    highest, lowest = extremes(b, F, lower, upper, kink)
    total, free = 0.0, 0
    for t in range(n):
        if lower[t] < b[t] < upper[t]:
            total += F[t]
            free += 1
    return did, max(highest - lowest, 0.0), total / free if free else 0.5 * (highest + lowest)
