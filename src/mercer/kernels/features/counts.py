"""Explicit counts of hashed features, on which every counting kernel (substrings, walks, subtrees ...) is based.

A feature is named by a 64-bit hash of itself, so that any two batches agree on names without a shared dictionary.
When a Gram matrix is built, the names that occur become columns, and it is a product of count matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import DType, Float64, Floating, Index, Int32, Int64, UInt64
from mercer.inputs.ragged import offsets_of, take_rows
from mercer.kernels.features.vocabulary import Vocabulary

EXACT_IN_SINGLE = 2.0**24
"""Whole numbers up to this are exact in float32."""
_DENSE_COLUMNS = 2048
"""With at most this many columns, counts become a dense matrix even if few entries are used: BLAS is then fastest."""
_DENSE_SHARE = 0.05
"""Wider matrices are dense if more than this fraction of their entries is nonzero. Below it, dense products would
mostly multiply zeros; above it, the sparse loop is slower."""


@final
@dataclass(frozen=True, eq=False)
class CountFeatures:
    """For each object the hashed features it has, sorted, with their counts."""

    ids: UInt64
    counts: Float64
    offsets: Int64
    squared_lengths: Float64
    dtype: DType

    @classmethod
    def of(
        cls,
        hashes: UInt64,
        offsets: Int64,
        dtype: DType,
        weights: Float64 | None = None,
    ) -> Self:
        """Count the hashes of each object: those of object i are ``hashes[offsets[i]:offsets[i + 1]]``.

        With `weights`, one per hash, these are summed instead.
        """
        if weights is None:
            ids, counts, bounds = _count(hashes, offsets)
        else:
            ids, counts, bounds = _add_up(hashes, weights, offsets)
        return cls.of_counted(ids, counts, bounds, dtype)

    @classmethod
    def of_counted(cls, ids: UInt64, counts: Float64, offsets: Int64, dtype: DType) -> Self:
        """Features that are already counted: names in increasing order for each object."""
        return cls(ids, counts, offsets, _squared_lengths(counts, offsets), dtype)

    def __len__(self) -> int:
        return len(self.squared_lengths)

    def scaled(self, factors: Float64) -> CountFeatures:
        """The counts of each object times its factor."""
        counts = self.counts * np.repeat(factors, np.diff(self.offsets))
        return CountFeatures(self.ids, counts, self.offsets, self.squared_lengths * factors**2, self.dtype)

    @classmethod
    def side_by_side(cls, parts: Sequence[CountFeatures]) -> CountFeatures:
        """The features of several maps of the same objects, whose names do not collide."""
        lengths = [np.diff(part.offsets) for part in parts]
        offsets = offsets_of(np.sum(lengths, axis=0))
        names = np.empty(offsets[-1], dtype=np.uint64)
        values = np.empty(offsets[-1])
        start = offsets[:-1].copy()
        for part, length in zip(parts, lengths, strict=True):
            place = np.arange(len(part.ids)) + np.repeat(start - part.offsets[:-1], length)
            names[place], values[place] = part.ids, part.counts
            start += length
        return cls.of(names, offsets, parts[0].dtype, values)

    def renamed(self, number: int) -> CountFeatures:
        """The same features under other names: one family of names per number."""
        return CountFeatures(renamed(self.ids, number), self.counts, self.offsets, self.squared_lengths, self.dtype)

    def over(self, words: Vocabulary, dtype: DType, *, grow: bool) -> Any:
        """Rows over the columns of a vocabulary; unknown names are added with `grow`, else dropped."""
        import scipy.sparse as sp

        columns = words.add(self.ids) if grow else words.find(self.ids)
        counts, offsets = self.counts, self.offsets
        known = columns >= 0
        if not known.all():
            kept = np.concatenate([[0], np.cumsum(known)])
            counts, columns, offsets = counts[known], columns[known], kept[offsets]
        kind = np.int32 if max(len(columns), len(words)) < 2**31 else np.int64
        parts = (counts.astype(dtype, copy=False), columns.astype(kind, copy=False), offsets.astype(kind))
        return sp.csr_array(parts, shape=(len(self), len(words)))

    def take(self, index: Index) -> CountFeatures:
        ids, counts, offsets = take_rows(index, self.offsets, self.ids, self.counts)
        return CountFeatures(ids, counts, offsets, self.squared_lengths[index], self.dtype)


@final
@dataclass(frozen=True, eq=False)
class DenseCounts:
    """Counts over common columns as a dense matrix, for few columns or mostly nonzero entries."""

    matrix: Floating

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, index: Index) -> DenseCounts:
        return DenseCounts(self.matrix[index])


@final
@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Counts over common columns, row after row."""

    columns: Int32
    counts: Floating
    offsets: Int64
    n_columns: int

    @classmethod
    def of(cls, features: CountFeatures, words: Vocabulary) -> Self:
        found = features.over(words, features.dtype, grow=False)
        return cls(found.indices, found.data, found.indptr.astype(np.int64), len(words))

    def dense(self) -> DenseCounts:
        import scipy.sparse as sp

        shape = (len(self), self.n_columns)
        dense: Any = sp.csr_array((self.counts, self.columns, self.offsets), shape=shape).toarray()
        return DenseCounts(dense)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> SparseCounts:
        columns, counts, offsets = take_rows(index, self.offsets, self.columns, self.counts)
        return SparseCounts(columns, counts, offsets, self.n_columns)


def renamed(names: UInt64, number: int) -> UInt64:
    """Other names for the same features, one family of names per number; 0 changes nothing."""
    with np.errstate(over="ignore"):
        return names * np.uint64(2 * number + 1) + np.uint64(number)


def align(left: CountFeatures, right: CountFeatures) -> tuple[Any, Any]:
    """Both sides over the columns that occur on the right; what only the left has meets nothing."""
    rows, columns = align_sparse(left, right)
    width = columns.n_columns
    dense = width <= _DENSE_COLUMNS or len(right.ids) > _DENSE_SHARE * width * len(right)
    if not dense or max(len(left), len(right)) * width >= 2**28:
        return rows, columns
    matrix = columns.dense()
    return (matrix if left is right else rows.dense()), matrix


def align_sparse(left: CountFeatures, right: CountFeatures) -> tuple[SparseCounts, SparseCounts]:
    """Both sides over common columns, always sparse: for functions of counts other than their product."""
    words = Vocabulary.of(np.unique(right.ids))
    columns = SparseCounts.of(right, words)
    return (columns if left is right else SparseCounts.of(left, words)), columns


def inner_products(left: Any, right: Any, out: Floating) -> None:
    """out[i, j] = the sum over columns of the product of counts."""
    if isinstance(left, DenseCounts):
        np.matmul(left.matrix, right.matrix.T, out=out)
    else:
        _sparse_products(
            left.columns, left.counts, left.offsets, right.columns, right.counts, right.offsets, left.n_columns, out
        )


@jit
def _count(hashes: Array, offsets: Array) -> Any:
    ids = np.empty(hashes.shape[0], dtype=np.uint64)
    counts = np.empty(hashes.shape[0], dtype=np.float64)
    bounds = np.zeros(offsets.shape[0], dtype=np.int64)
    used = 0
    for i in range(offsets.shape[0] - 1):
        used = count_into(hashes[offsets[i] : offsets[i + 1]], ids, counts, used)
        bounds[i + 1] = used
    return ids[:used].copy(), counts[:used].copy(), bounds


@jit
def count_into(hashes: Array, ids: Array, counts: Array, used: int) -> Any:
    """Add the sorted hashes of one object and their counts to lists of which `used` entries are taken."""
    own = np.sort(hashes)
    for k in range(own.shape[0]):
        if k > 0 and own[k] == own[k - 1]:
            counts[used - 1] += 1.0
        else:
            ids[used] = own[k]
            counts[used] = 1.0
            used += 1
    return used


@jit
def _add_up(hashes: Array, weights: Array, offsets: Array) -> Any:
    ids = np.empty(hashes.shape[0], dtype=np.uint64)
    sums = np.empty(hashes.shape[0], dtype=np.float64)
    bounds = np.zeros(offsets.shape[0], dtype=np.int64)
    used = 0
    for i in range(offsets.shape[0] - 1):
        start = offsets[i]
        order = np.argsort(hashes[start : offsets[i + 1]])
        for k in range(order.shape[0]):
            name = hashes[start + order[k]]
            if k > 0 and name == ids[used - 1]:
                sums[used - 1] += weights[start + order[k]]
            else:
                ids[used] = name
                sums[used] = weights[start + order[k]]
                used += 1
        bounds[i + 1] = used
    return ids[:used].copy(), sums[:used].copy(), bounds


@jit
def _squared_lengths(counts: Array, offsets: Array) -> Any:
    lengths = np.empty(offsets.shape[0] - 1, dtype=np.float64)
    for i in range(lengths.shape[0]):
        total = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            total += counts[k] * counts[k]
        lengths[i] = total
    return lengths


@jit
def _sparse_products(
    columns: Array,
    counts: Array,
    offsets: Array,
    other_columns: Array,
    other_counts: Array,
    other_offsets: Array,
    n_columns: int,
    out: Array,
) -> None:
    # Each left row is scattered into a dense buffer, from which every right row gathers.
    line = np.zeros(max(n_columns, 1), dtype=counts.dtype)
    for i in range(out.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            line[columns[k]] = counts[k]
        for j in range(out.shape[1]):
            total = counts.dtype.type(0)
            for k in range(other_offsets[j], other_offsets[j + 1]):
                total += line[other_columns[k]] * other_counts[k]
            out[i, j] = total
        for k in range(offsets[i], offsets[i + 1]):
            line[columns[k]] = 0
