"""A Gram matrix in memory, whose rows may be assembled when they are first needed.

A solver looks at a tenth of the rows of a pair of classes. The blocks of a pair are known already, and copying all of
them into one square would cost as much as computing them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._process import single_threaded_blas
from mercer._types import Float64, Floating, Indices
from mercer.gram import pages
from mercer.gram.contract import TILE_BYTES, Axis, Gram, Setting
from mercer.gram.executors import Sink
from mercer.gram.sinks import ProductSink
from mercer.gram.tiles import Strip, plan
from mercer.gram.work import StoredWork, gathered


@final
@dataclass(eq=False)
class PairRows:
    """A symmetric matrix over the objects of a first group and then those of a second."""

    first: Floating
    """The entries within the first group."""
    second: Floating
    """The entries within the second group."""
    across: Floating
    """The entries between the first group (rows) and the second (columns)."""
    square: Floating = field(init=False)
    """The whole matrix, of which only some rows have been assembled."""
    there: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.first) + len(self.second)
        self.square = pages.empty((n, n), self.across.dtype)
        self.there = np.zeros(n, dtype=bool)

    @classmethod
    def of(cls, square: Floating) -> PairRows:
        """A matrix whose rows are all assembled."""
        rows = cls.__new__(cls)
        rows.first = rows.second = rows.across = rows.square = square
        rows.there = np.ones(len(square), dtype=bool)
        return rows

    def ensure(self, index: Indices) -> Floating:
        """Assemble these rows; returns the matrix, in which at least these rows are valid."""
        missing = index[~self.there[index]]
        if len(missing):
            _ensure(self.square, self.there, self.first, self.second, self.across, missing)
        return self.square

    def whole(self) -> Floating:
        """The matrix with all of its rows."""
        return self.ensure(np.arange(len(self.there)))


@final
class StoredGram(Gram):
    """A matrix that was computed before or given, or the blocks of a pair of groups; views copy what they need."""

    def __init__(
        self,
        entries: PairRows,
        setting: Setting,
        diagonal: Float64 | None,
        axes: tuple[Axis, Axis] | None = None,
    ) -> None:
        super().__init__(setting, diagonal)
        self._kept = entries
        height, width = entries.square.shape
        self._axes = axes or (Axis(height), Axis(width))

    @property
    def axes(self) -> tuple[Axis, Axis]:
        return self._axes

    def _part(self, rows: Axis, columns: Axis) -> StoredGram:
        return StoredGram(self._kept, self.setting, self._underlying_diagonal, (rows, columns))

    @property
    def in_memory(self) -> bool:
        return all(axis.chosen is None for axis in self.axes)

    @property
    def kept(self) -> PairRows:
        """The rows of the underlying matrix."""
        return self._kept

    def _entries(self) -> Floating:
        return self._kept.whole() if self.in_memory else self.rows(slice(None))

    def rows(self, index: Any, columns: Any = None) -> Floating:
        row_ids, column_ids = (axis.ids for axis in self.axes)
        wanted = row_ids[index]
        square = self._kept.ensure(wanted)
        if columns is None and self.axes[1].chosen is None:
            rows: Floating = square[wanted]
            return rows
        return gathered(square, wanted, column_ids if columns is None else column_ids[columns])

    def stored(self) -> Gram:
        return self

    def each_tile(self, sink: Sink, *, by_columns: bool = False) -> None:
        rows, columns = (axis.ids for axis in self.axes)
        work = StoredWork(self._kept.ensure(rows), rows, columns)
        self.executor.map(work, self._strips(by_columns=by_columns), sink)

    def _product(self, vectors: Float64) -> Float64:
        if self.bytes <= TILE_BYTES:  # a single tile: there is nothing to plan
            small = self._entries()
            right = np.ascontiguousarray(vectors, dtype=small.dtype)
            with single_threaded_blas(right.size * len(small)):
                return np.asarray(small @ right, dtype=np.float64)
        out = np.zeros((self.shape[0], *vectors.shape[1:]))
        if not self.in_memory:
            self.each_tile(ProductSink(out, vectors, self.dtype))
            return out
        # Straight from the stored entries, in the same tiles and the same order of sums, without copying them.
        entries = self._kept.whole()
        right = np.ascontiguousarray(vectors, dtype=entries.dtype)

        def work(strip: Strip) -> None:
            for tile in strip:
                out[tile.rows] += entries[tile.rows, tile.columns] @ right[tile.columns]

        self.executor.each(work, self._strips())
        return out

    def _strips(self, *, by_columns: bool = False) -> tuple[Strip, ...]:
        return plan(*self.shape, itemsize=np.dtype(self.dtype).itemsize, budget=TILE_BYTES, by_columns=by_columns)


def lazy_rows(gram: Gram) -> PairRows:
    """All entries of a matrix: its own rows if they are in memory, else an array."""
    return gram.kept if isinstance(gram, StoredGram) and gram.in_memory else PairRows.of(gram.dense())


@jit
def assemble(square: Array, there: Array, first: Array, second: Array, across: Array, i: int) -> None:
    """Assemble row i, unless it is there already."""
    if there[i]:
        return
    cut = first.shape[0]
    row = square[i]
    if i < cut:  # loops, since slices take seconds to compile
        for t in range(cut):
            row[t] = first[i, t]
        for t in range(across.shape[1]):
            row[cut + t] = across[i, t]
    else:
        for t in range(cut):
            row[t] = across[t, i - cut]
        for t in range(second.shape[1]):
            row[cut + t] = second[i - cut, t]
    there[i] = True


@jit
def _ensure(square: Array, there: Array, first: Array, second: Array, across: Array, index: Array) -> None:
    for k in range(index.shape[0]):
        assemble(square, there, first, second, across, index[k])
