"""Products of count matrices with very many columns, most of them rare.

If features are hashes of substructures, a few columns occur in most rows and nearly all others in a handful. Frequent
columns are multiplied as dense matrices. For rare ones each tile lists, column by column, the right rows that have it
(its postings), so there is one addition for each feature that two objects share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import DType, Floating, Index, Int32, Int64, UInt64
from mercer.inputs.ragged import offsets_of, take_rows
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.vocabulary import Vocabulary

_DENSE_SHARE = 0.08
"""A column in more than this fraction of the rows is cheaper as part of a dense product."""
_DENSE_COLUMNS = 1024
"""The most dense columns: 8 KiB per row. More take memory, fewer leave long postings."""


@final
@dataclass(frozen=True, eq=False)
class SplitCounts:
    """Counts over common columns: frequent ones as a matrix, rare ones row after row."""

    dense: Floating
    columns: Int32
    counts: Floating
    offsets: Int64
    n_columns: int

    def __len__(self) -> int:
        return len(self.dense)

    def take(self, index: Index) -> SplitCounts:
        columns, counts, offsets = take_rows(index, self.offsets, self.columns, self.counts)
        return SplitCounts(self.dense[index], columns, counts, offsets, self.n_columns)


def align(left: CountFeatures, right: CountFeatures, *, split: bool = True) -> tuple[SplitCounts, SplitCounts]:
    """Both sides over the columns that occur on the right; what only the left has meets nothing.

    Without `split`, every column is treated as rare: sums of minima have no dense product.
    """
    words = Vocabulary()
    numbers = words.add(right.ids)
    frequency = np.bincount(numbers, minlength=len(words))
    dense = frequency > max(1.0, (_DENSE_SHARE if split else np.inf) * len(right))
    if dense.sum() > _DENSE_COLUMNS:
        dense = frequency > max(1.0, np.partition(frequency, -_DENSE_COLUMNS)[-_DENSE_COLUMNS])
    # Dense columns count upwards from 0, rare ones are -1 - (their own number).
    place = np.where(dense, np.cumsum(dense, dtype=np.int32) - 1, -np.cumsum(~dense, dtype=np.int32))
    width, n_columns = int(dense.sum()), int((~dense).sum())

    def compact(features: CountFeatures, numbers: Int32) -> SplitCounts:
        known = np.flatnonzero(numbers >= 0)
        rows = np.repeat(np.arange(len(features)), np.diff(features.offsets))[known]
        columns = place[numbers[known]]
        counts: Floating = features.counts[known].astype(features.dtype)
        rare = columns < 0
        matrix = np.zeros((len(features), width), dtype=features.dtype)
        matrix[rows[~rare], columns[~rare]] = counts[~rare]
        offsets = offsets_of(np.bincount(rows[rare], minlength=len(features)))
        return SplitCounts(matrix, -1 - columns[rare], counts[rare], offsets, n_columns)

    columns = compact(right, numbers)
    return (columns if left is right else compact(left, words.find(left.ids))), columns


def inner_products(left: SplitCounts, right: SplitCounts, out: Floating) -> None:
    """out[i, j] = the sum over columns of the product of counts."""
    if left.dense.shape[1]:
        np.matmul(left.dense, right.dense.T, out=out)
    else:
        out[...] = 0
    _add_rare(*_rare(left), *_rare(right), left.n_columns, False, out)


def intersections(left: SplitCounts, right: SplitCounts, out: Floating) -> None:
    """out[i, j] = the sum over columns of the smaller count, for sides aligned without `split`."""
    out[...] = 0
    _add_rare(*_rare(left), *_rare(right), left.n_columns, True, out)


def numbered(left: UInt64, right: UInt64, never: np.uint64) -> tuple[Any, Any, int]:
    """The names of the right side as numbers from 0, and those of the left as the same numbers; -1 for `never` and for
    names that the right side lacks.
    """
    words = Vocabulary.of(right[right != never])
    codes = words.find(right)
    return (codes if left is right else words.find(left)), codes, len(words)


def added_up(rows: Any, names: UInt64, values: Any, n_rows: int, dtype: DType) -> CountFeatures:
    """Features from (row, name, value) in any order; values of repeated names in a row are summed."""
    order = np.lexsort((names, rows))
    rows, names, values = rows[order], names[order], values[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (names[1:] != names[:-1])
    starts = np.flatnonzero(first)
    totals = np.add.reduceat(values, starts) if len(starts) else np.zeros(0)
    rows = rows[starts]
    lengths = np.bincount(rows, weights=totals**2, minlength=n_rows).astype(np.float64)
    return CountFeatures(names[starts], totals, offsets_of(np.bincount(rows, minlength=n_rows)), lengths, dtype)


def _rare(side: SplitCounts) -> tuple[Any, Any, Any]:
    return side.columns, side.counts, side.offsets


@jit
def _add_rare(
    columns: Array,
    counts: Array,
    offsets: Array,
    other_columns: Array,
    other_counts: Array,
    other_offsets: Array,
    n_columns: int,
    smaller: bool,
    out: Array,
) -> None:
    start = np.zeros(n_columns + 2, dtype=np.int32)
    total = other_columns.shape[0]
    for k in range(total):
        start[other_columns[k] + 2] += 1
    for c in range(n_columns):
        start[c + 2] += start[c + 1]
    rows = np.empty(total, dtype=np.int32)
    values = np.empty(total, dtype=counts.dtype)
    for j in range(out.shape[1]):
        for k in range(other_offsets[j], other_offsets[j + 1]):
            place = start[other_columns[k] + 1]
            start[other_columns[k] + 1] = place + 1
            rows[place] = j
            values[place] = other_counts[k]
    for i in range(out.shape[0]):
        line = out[i]
        for k in range(offsets[i], offsets[i + 1]):
            count = counts[k]
            for p in range(start[columns[k]], start[columns[k] + 1]):
                line[rows[p]] += min(count, values[p]) if smaller else count * values[p]
