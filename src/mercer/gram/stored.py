"""A Gram matrix whose entries lie in memory."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.gram.axis import Axis
from mercer.gram.contract import TILE_BYTES, Gram, Setting
from mercer.gram.executors import Sink
from mercer.gram.pair_rows import PairRows
from mercer.gram.sinks import ProductSink
from mercer.gram.tiles import Strip, plan
from mercer.gram.work import StoredWork, gathered


@final
class StoredGram(Gram):
    """A matrix that was computed before or handed in, or the blocks of a pair of groups; views copy what they need."""

    def __init__(
        self,
        entries: PairRows,
        setting: Setting,
        diagonal: Float64 | None,
        axes: tuple[Axis, Axis] | None = None,
    ) -> None:
        super().__init__(setting, diagonal)
        self._entries = entries
        height, width = entries.square.shape
        self._axes = axes or (Axis(height), Axis(width))

    @property
    def axes(self) -> tuple[Axis, Axis]:
        return self._axes

    def _part(self, rows: Axis, columns: Axis) -> StoredGram:
        return StoredGram(self._entries, self.setting, self._underlying_diagonal, (rows, columns))

    @property
    def in_memory(self) -> bool:
        return all(axis.chosen is None for axis in self.axes)

    def lazy_rows(self) -> PairRows:
        return self._entries if self.in_memory else super().lazy_rows()

    def dense(self, dtype: DType | None = None) -> Floating:
        found = self._entries.whole() if self.in_memory else self.rows(slice(None))
        return found.astype(dtype or self.dtype, copy=False)

    def rows(self, index: Any, columns: Any = None) -> Floating:
        row_ids, column_ids = (axis.ids for axis in self.axes)
        wanted = row_ids[index]
        square = self._entries.ensure(wanted)
        return gathered(square, wanted, column_ids if columns is None else column_ids[columns])

    def stored(self) -> Gram:
        return self

    def each_tile(self, sink: Sink, *, by_columns: bool = False) -> None:
        rows, columns = (axis.ids for axis in self.axes)
        work = StoredWork(self._entries.ensure(rows), rows, columns)
        self.executor.map(work, self._strips(by_columns=by_columns), sink)

    def _product(self, vectors: Float64) -> Float64:
        out = np.zeros((self.shape[0], *vectors.shape[1:]))
        if not self.in_memory:
            self.each_tile(ProductSink(out, vectors, self.dtype))
            return out
        # Straight from the stored entries, in the same tiles and the same order of sums, without copying them.
        entries = self._entries.whole()
        right = np.ascontiguousarray(vectors, dtype=entries.dtype)

        def work(strip: Strip) -> None:
            for tile in strip:
                out[tile.rows] += entries[tile.rows, tile.columns] @ right[tile.columns]

        self.executor.each(work, self._strips())
        return out

    def _strips(self, *, by_columns: bool = False) -> tuple[Strip, ...]:
        return plan(*self.shape, itemsize=np.dtype(self.dtype).itemsize, budget=TILE_BYTES, by_columns=by_columns)
