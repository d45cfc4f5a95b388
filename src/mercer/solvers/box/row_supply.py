"""Rows of the Gram matrix for solvers: cached if they will be needed again, otherwise used once and discarded.

Coefficients inside their box move again and again, so their rows are cached. One that ran to a bound usually stays
there: its row is computed tile by tile, added to the gradient while still in the processor's cache, and never stored.
It is cached only when it is needed a second time. So a fit takes little memory, whatever the number of objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.gram.cache import RowCache
from mercer.gram.contract import Gram
from mercer.gram.sinks import Buffers
from mercer.gram.tiles import Tile
from mercer.solvers.box.local import subtract_rows

CHEAP_CACHE_BYTES = 2**28
"""Maximum cache for rows of a cheap kernel: fresh memory costs about as much as computing the entries ..."""
DEAR_CACHE_BYTES = 2**32
"""... and of an expensive kernel, whose entries cost far more than their memory."""
_KEPT_ROWS = 8192
"""Where rows are so long that this holds only a few, as many as a working set may have: with fewer, none would still be
there when needed again."""
_PIECE_ENTRIES = 2**23
"""Entries computed between two checks of signals and limits: a few hundredths of a second."""
_COLUMNS = 4096
"""Columns that one thread subtracts at a time: its part of F stays in the first-level cache, 32 KiB."""
_ROUNDING = float(np.finfo(np.float32).eps) / 2
"""Relative error of a float32 entry."""


@final
class RowSupply:
    """Gives F -= K[:, rows] @ moves in pieces that take a fraction of a second each."""

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self._n = gram.shape[0]
        self._stored = gram.dense() if gram.in_memory else None
        self._cache: RowCache | None = None
        self._seen = np.zeros(self._n, dtype=bool)
        self._scale = float(gram.diagonal().max(initial=0.0))
        self._variance = 0.0

    @property
    def noise(self) -> float:
        """Estimated error of the products so far: recomputed entries may differ in their last bit."""
        return self._scale * float(np.sqrt(self._variance))

    def reset(self) -> None:
        """Start the products again from zero."""
        self._variance = 0.0

    def subtract(self, F: Float64, rows: Indices, moves: Float64, keep: npt.NDArray[np.bool_]) -> Iterator[None]:
        """Subtract the products, yielding between pieces; `keep` marks rows that will probably be needed again."""
        rounding = _ROUNDING if self._gram.dtype is np.float32 else np.finfo(np.float64).eps
        self._variance += float(moves @ moves) * rounding**2
        if self._gram.factor is not None:  # all at once, by the features: no row is ever stored
            F -= self._gram.view(slice(None), rows).matvec(moves)
            yield
            return
        size = max(16, _PIECE_ENTRIES // max(1, self._n))
        if self._stored is not None:
            for start in range(0, len(rows), 8 * size):
                self._subtract_kept(F, self._stored, rows[start : start + 8 * size], moves[start : start + 8 * size])
                yield
            return
        cache = self._cache
        if cache is None:
            row_bytes = self._n * np.dtype(self._gram.dtype).itemsize
            most = DEAR_CACHE_BYTES if self._gram.expensive else max(CHEAP_CACHE_BYTES, _KEPT_ROWS * row_bytes)
            budget = min(most, self._gram.budget // 2)
            cache = self._cache = RowCache(self._n, self._n, self._gram.dtype, max(budget, 2 * row_bytes))
        here = cache.slots[rows] >= 0
        at_hand = np.flatnonzero(here)
        for start in range(0, len(at_hand), 8 * size):
            part = at_hand[start : start + 8 * size]
            cache.touch(rows[part])
            self._subtract_kept(F, cache.buffer, cache.slots[rows[part]], moves[part])
            yield
        wanted = keep | self._seen[rows]
        self._seen[rows] = True
        absent = np.flatnonzero(~here)
        for start in range(0, len(absent), size):
            part = absent[start : start + size]
            stays = part[wanted[part]][: cache.capacity]
            places = np.full(len(part), -1, dtype=np.int64)
            places[np.isin(part, stays)] = cache.reserve(rows[stays])
            sink = _FoldSink(F, moves[part], cache.buffer, places)
            self._gram.view(rows[part], slice(None)).each_tile(sink, by_columns=True)
            yield

    def copy_entries(self, old: Indices, new: Indices, block: npt.NDArray[Any], top: int) -> npt.NDArray[np.bool_]:
        """Write K[new, old] below row `top` of a block, for the rows of `old` that are cached; returns which were."""
        if self._stored is not None:
            there = np.ones(len(old), dtype=bool)
            _copy_entries(self._stored, old, np.arange(len(old)), new, block, top)
        elif self._cache is not None and self._gram.expensive:  # computing a cheap entry is faster than looking it up
            there = self._cache.slots[old] >= 0
            columns = np.flatnonzero(there)
            _copy_entries(self._cache.buffer, self._cache.slots[old[columns]], columns, new, block, top)
        else:
            there = np.zeros(len(old), dtype=bool)
        return there

    def _subtract_kept(self, F: Float64, matrix: npt.NDArray[Any], places: Any, moves: Float64) -> None:
        places = np.ascontiguousarray(places, dtype=np.int64)
        ends = [(start, min(start + _COLUMNS, self._n)) for start in range(0, self._n, _COLUMNS)]
        self._gram.executor.each(lambda ends: subtract_rows(F, matrix, places, moves, *ends), ends)


@final
class _FoldSink:
    """Takes tiles of K[rows, :], by columns: subtracts their products, and keeps the rows that have a place."""

    def __init__(self, F: Float64, moves: Float64, kept: npt.NDArray[Any], places: npt.NDArray[np.int64]) -> None:
        self._F = F
        self._moves = moves
        self._kept = kept
        self._places = places
        self._buffers = Buffers(kept.dtype)

    def buffer(self, tile: Tile) -> npt.NDArray[Any]:
        return self._buffers.of_shape(tile.shape)

    def accept(self, tile: Tile, block: npt.NDArray[Any]) -> None:
        _fold(self._F[tile.columns], block, self._moves[tile.rows], self._kept, self._places[tile.rows], tile.left)


@jit
def _fold(F: Array, block: Array, moves: Array, kept: Array, places: Array, left: int) -> None:
    subtract_rows(F, block, np.arange(block.shape[0]), moves, 0, F.shape[0])
    for i in range(block.shape[0]):
        if places[i] >= 0:
            kept[places[i], left : left + block.shape[1]] = block[i]


@jit
def _copy_entries(matrix: Array, places: Array, columns: Array, new: Array, block: Array, top: int) -> None:
    # Eight rows at a time: each reads its own line of the matrix, and together they fill whole lines of the block.
    for start in range(0, places.shape[0], 8):
        stop = min(start + 8, places.shape[0])
        for i in range(new.shape[0]):
            out = block[top + i]
            for j in range(start, stop):
                out[columns[j]] = matrix[places[j], new[i]]
