"""Rows of a Gram matrix kept within a byte budget, the least recently used dropped first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
Compute = Callable[[Rows, npt.NDArray[Any]], None]


@final
class RowCache:
    """A fixed buffer of rows and the table of which row lies where.

    Compiled loops read ``buffer[slots[i]]`` directly; ``slots[i] < 0`` means that row i is not here.
    """

    def __init__(self, n_rows: int, n_columns: int, dtype: Any, budget: int) -> None:
        size = max(1, n_columns * np.dtype(dtype).itemsize)
        self.capacity = int(max(2, min(n_rows, budget // size)))
        self.buffer = np.empty((self.capacity, n_columns), dtype=dtype)
        self.slots = np.full(n_rows, -1, dtype=np.int64)
        self.computed = 0
        """Rows computed so far, repeats included."""
        self._free = list(range(self.capacity))
        self._order: OrderedDict[int, int] = OrderedDict()

    def ensure(self, rows: Rows, compute: Compute) -> None:
        """Have these rows in the buffer; missing ones are computed in one batch, into contiguous memory."""
        wanted = dict.fromkeys(int(row) for row in rows)
        if len(wanted) > self.capacity:
            raise ValueError(f"{len(wanted)} rows do not fit a cache of {self.capacity}")
        missing = [row for row in wanted if self.slots[row] < 0]
        for row in wanted:
            if row in self._order:
                self._order.move_to_end(row)
        if not missing:
            return
        block = np.empty((len(missing), self.buffer.shape[1]), dtype=self.buffer.dtype)
        compute(np.asarray(missing, dtype=np.intp), block)  # if it raises, nothing has changed
        for row, values in zip(missing, block, strict=True):
            place = self._free.pop() if self._free else self._evict()
            self.buffer[place] = values
            self.slots[row] = place
            self._order[row] = place
        self.computed += len(missing)

    def _evict(self) -> int:
        row, place = self._order.popitem(last=False)
        self.slots[row] = -1
        return place
