"""Pairs of sequences of different lengths, passed to a dynamic programme that works on several pairs at once.

Each pair gets a lane of the processor's vector registers. Sequences in one call are padded to the longest, so pairs are
ordered by length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Floating, Index, Indices, Int64
from mercer.inputs.ragged import take_rows

PairLoop = Callable[..., None]
"""(left items, left offsets, right items, right offsets, left of each pair, right of each pair, out): out[k] = value of
pair k."""


@final
@dataclass(frozen=True, eq=False)
class SequenceFeatures:
    """Concatenated sequences (symbols of strings, moments of series), and the kernel value of each with itself."""

    items: npt.NDArray[Any]
    offsets: Int64
    diagonal: Float64
    logarithms: Float64
    """The base-2 logarithm of the diagonal, for kernels that compute in logarithms."""

    @classmethod
    def of(
        cls, items: npt.NDArray[Any], offsets: Int64, diagonal: Float64 | None = None, logarithms: Float64 | None = None
    ) -> Self:
        unknown = np.zeros(len(offsets) - 1)
        return cls(
            items, offsets, unknown if diagonal is None else diagonal, unknown if logarithms is None else logarithms
        )

    @property
    def lengths(self) -> Int64:
        return np.diff(self.offsets)

    @property
    def longest(self) -> int:
        return int(self.lengths.max(initial=0))

    def sequence(self, number: int) -> npt.NDArray[Any]:
        """The items of one sequence."""
        return self.items[self.offsets[number] : self.offsets[number + 1]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> SequenceFeatures:
        items, offsets = take_rows(index, self.offsets, self.items)
        return SequenceFeatures(items, offsets, self.diagonal[index], self.logarithms[index])


Sides = tuple[SequenceFeatures, SequenceFeatures]
"""Both sides of a Gram matrix, prepared for each other."""


@final
@dataclass(frozen=True)
class PairRunner:
    """Calls loops over pairs. A cell compares two items; `cost` is the number of values computed in it."""

    lanes: int
    """Pairs that a loop works on at once."""
    cells_per_call: float
    """About a second of work: calls into compiled code cannot be interrupted."""
    cells_per_tile: float

    def fill(self, loop: PairLoop, left: SequenceFeatures, right: SequenceFeatures, cost: float, out: Floating) -> None:
        """out[i, j] = the value of sequences i and j, computed in the precision of `out`."""
        rows, columns = out.shape
        order = np.argsort(right.lengths, kind="stable")
        first = np.repeat(np.arange(rows), columns)
        values = self._run(loop, left, right, first, np.tile(order, rows), cost, out.dtype)
        out[:, order] = values.reshape(rows, columns)

    def own(self, loop: PairLoop, features: SequenceFeatures, cost: float) -> Float64:
        """The value of each sequence with itself."""
        order = np.argsort(features.lengths, kind="stable")
        values = np.empty(len(features))
        values[order] = self._run(loop, features, features, order, order, cost, np.float64)
        return values

    def entries(self, left: SequenceFeatures, right: SequenceFeatures, cost: float) -> int:
        """How many pairs a tile may have."""
        cells = cost * (float(left.lengths.mean()) + 1.0) * (float(right.lengths.mean()) + 1.0)
        return max(self.lanes, int(self.cells_per_tile / max(1.0, cells)))

    def _run(
        self, loop: PairLoop, left: SequenceFeatures, right: SequenceFeatures, first: Indices, second: Indices,
        cost: float, dtype: npt.DTypeLike,
    ) -> npt.NDArray[Any]:  # fmt: skip
        out = np.empty(len(first), dtype=dtype)
        cells = cost * (left.longest + 1.0) * (right.longest + 1.0)
        step = self.lanes * max(1, int(self.cells_per_call / cells / self.lanes))
        items, others = _read_only(left.items), _read_only(right.items)
        for start in range(0, len(first), step):
            chosen = slice(start, start + step)
            loop(items, left.offsets, others, right.offsets, first[chosen], second[chosen], out[chosen])
        return out


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, not to be written to: loops would be compiled again for each mixture of the two kinds."""
    view = array.view()
    view.flags.writeable = False
    return view


def with_numbers(loop: PairLoop, *numbers: Any) -> PairLoop:
    """A loop over pairs, with the arguments after its seven arrays bound."""

    def run(*arrays: Any) -> None:
        loop(*arrays, *numbers)

    return run


def recompute(
    logs: Float64, left: SequenceFeatures, right: SequenceFeatures, logarithm: Callable[[Any, Any], float]
) -> Float64:
    """Replace NaN, which marks pairs that left the range of float64, by the logarithm computed for one pair alone.

    `logs` is a matrix, or the values of each sequence with itself.
    """
    for place in np.argwhere(np.isnan(logs)):
        logs[tuple(place)] = logarithm(left.sequence(place[0]), right.sequence(place[-1]))
    return logs


@jit
def longest_of(offsets: Array, pairs: Array) -> int:
    """The length of the longest sequence in these pairs."""
    longest = 0
    for k in pairs:
        longest = max(longest, offsets[k + 1] - offsets[k])
    return longest


@jit
def longest_part(offsets: Array) -> int:
    """The length of the longest of all parts between these offsets."""
    longest = 0
    for k in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    return longest
