"""Pairs of series side by side: a dynamic programme runs on `LANES` pairs at once, one per lane of vector registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Index
from mercer.inputs.ragged import take_rows
from mercer.inputs.series import Series

LANES = 16
_CELLS_PER_CALL = 2e8
"""A second or so: calls into compiled code cannot be interrupted."""
_CELLS_PER_TILE = 1e7
"""Some hundredths of a second, so that a few dozen series make work for every thread."""

PairLoop = Callable[[Any, Any, Any, Any, Any, Any, Any], None]
"""(left moments, left offsets, right moments, right offsets, left pair, right pair, out): out[k] = value of pair k."""


@final
@dataclass(frozen=True, eq=False)
class SeriesFeatures:
    """Moments with offsets, and what a kernel keeps of each series compared with itself."""

    values: Float64
    offsets: npt.NDArray[np.int64]
    own: Float64

    @classmethod
    def of(cls, series: Series, own: Float64 | None = None) -> Self:
        return cls(series.values, series.offsets, np.zeros(len(series)) if own is None else own)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> SeriesFeatures:
        values, offsets = take_rows(index, self.offsets, self.values)
        return SeriesFeatures(values, offsets, self.own[index])


def all_pairs(loop: PairLoop, left: SeriesFeatures, right: SeriesFeatures) -> Float64:
    """The value of every pair, as a matrix."""
    order = np.argsort(right.lengths, kind="stable")  # lanes of one length waste nothing
    values = np.empty((len(left), len(right)))
    first = np.repeat(np.arange(len(left)), len(right))
    values[:, order] = _run(loop, left, right, first, np.tile(order, len(left))).reshape(values.shape)
    return values


def own_pairs(loop: PairLoop, series: SeriesFeatures) -> Float64:
    """The value of each series with itself."""
    order = np.argsort(series.lengths, kind="stable")
    values = np.empty(len(series))
    values[order] = _run(loop, series, series, order, order)
    return values


def entries(left: SeriesFeatures, right: SeriesFeatures, cost: float) -> int:
    """How many pairs a tile may have; `cost` is how much dearer than usual a cell may be."""
    cells = cost * left.values.shape[1] * (float(left.lengths.mean()) + 1.0) * (float(right.lengths.mean()) + 1.0)
    return max(LANES, int(_CELLS_PER_TILE / cells))


def _run(loop: PairLoop, left: SeriesFeatures, right: SeriesFeatures, first: Any, second: Any) -> Float64:
    out = np.empty(len(first))
    longest = (float(left.lengths.max(initial=0)) + 1.0) * (float(right.lengths.max(initial=0)) + 1.0)
    step = LANES * max(1, int(_CELLS_PER_CALL / longest / LANES))
    for start in range(0, len(first), step):
        chosen = slice(start, start + step)
        loop(left.values, left.offsets, right.values, right.offsets, first[chosen], second[chosen], out[chosen])
    return out


@jit
def longest_of(offsets: Array, pairs: Array) -> int:
    """The length of the longest series among these pairs."""
    longest = 0
    for k in range(pairs.shape[0]):
        longest = max(longest, offsets[pairs[k] + 1] - offsets[pairs[k]])
    return longest


@jit
def fill_lanes(values: Array, offsets: Array, pairs: Array, table: Array) -> None:
    """table[q, channel, lane] = moment q of the series of that lane, or zeros beyond its end."""
    for lane in range(LANES):
        length = 0
        if lane < pairs.shape[0]:
            start = offsets[pairs[lane]]
            length = offsets[pairs[lane] + 1] - start
            for q in range(length):
                for channel in range(values.shape[1]):
                    table[q, channel, lane] = values[start + q, channel]
        for q in range(length, table.shape[0]):
            for channel in range(values.shape[1]):
                table[q, channel, lane] = 0.0


@jit
def squared_distances(rows: Array, columns: Array, i: int, low: int, high: int, out: Array) -> None:
    """out[j, lane] = the squared distance of moment i on the left from moment j on the right."""
    for j in range(low, high):
        for lane in range(LANES):
            gap = rows[i, 0, lane] - columns[j, 0, lane]
            out[j, lane] = gap * gap
        for channel in range(1, rows.shape[1]):
            for lane in range(LANES):
                gap = rows[i, channel, lane] - columns[j, channel, lane]
                out[j, lane] += gap * gap
