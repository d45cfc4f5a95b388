"""Rows of a Gram matrix kept within a byte budget, the least recently used dropped first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Indices
from mercer.gram import pages

Compute = Callable[[Indices, npt.NDArray[Any]], None]


@final
class RowCache:
    """A fixed buffer of rows and the table of which row lies where.

    Compiled loops read ``buffer[slots[i]]`` directly; ``slots[i] < 0`` means that row i is not here. The buffer is
    reserved at once but filled from its start, so memory is taken only as rows come.
    """

    def __init__(self, n_rows: int, n_columns: int, dtype: Any, budget: int) -> None:
        size = max(1, n_columns * np.dtype(dtype).itemsize)
        self.capacity = int(max(2, min(n_rows, budget // size)))
        self.buffer = pages.empty((self.capacity, n_columns), dtype)
        self.slots = np.full(n_rows, -1, dtype=np.int64)
        self._filled = 0
        self._owner = np.full(self.capacity, -1, dtype=np.int64)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 1

    def ensure(self, rows: Indices, compute: Compute) -> None:
        """Have these rows in the buffer; missing ones are computed in one batch, into contiguous memory."""
        wanted = np.array(list(dict.fromkeys(np.asarray(rows).tolist())), dtype=np.intp)
        if len(wanted) > self.capacity:
            raise ValueError(f"{len(wanted)} rows do not fit a cache of {self.capacity}")
        self.touch(wanted)
        there = self.slots[wanted]
        missing = wanted[there < 0]
        if not len(missing):
            return
        if self._filled + len(missing) <= self.capacity:  # still room: straight into the buffer
            compute(missing, self.buffer[self._filled : self._filled + len(missing)])  # if it raises, nothing changed
            self.reserve(missing)
        else:
            block = pages.empty((len(missing), self.buffer.shape[1]), self.buffer.dtype)
            compute(missing, block)
            self.buffer[self.reserve(missing)] = block

    def touch(self, rows: Indices) -> None:
        """Mark those of these rows that are in the cache as recently used."""
        there = self.slots[rows]
        self._use(there[there >= 0])

    def reserve(self, rows: Indices) -> Indices:
        """Slots in the buffer for missing rows, which the caller fills; the least recently used rows are dropped."""
        room = np.arange(self._filled, min(self.capacity, self._filled + len(rows)))
        oldest = np.argsort(self._used[: self._filled], kind="stable")[: len(rows) - len(room)]
        places = np.concatenate((room, oldest))
        self._filled += len(room)
        evicted = self._owner[places]
        self.slots[evicted[evicted >= 0]] = -1
        self.slots[rows] = places
        self._owner[places] = rows
        self._use(places)
        return places

    def _use(self, places: Indices) -> None:
        self._used[places] = self._clock + np.arange(len(places))
        self._clock += len(places)
