"""Products of a Gram matrix with the coefficients of machines for pairs of groups of its columns.

With k groups there are k (k - 1) / 2 machines, and the objects of a group have coefficients in k - 1 of them. So they
are multiplied group by group, with no zero among them, and the two halves of each machine are added. For small groups
the overhead of calling matrix products dominates, and a compiled loop takes less time.
"""

from __future__ import annotations

from functools import cache
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._process import single_threaded_blas
from mercer._types import Float64, Floating, Indices
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.gram.tiles import Tile
from mercer.inputs.base import read_only

_ENTRIES_AT_ONCE = 1 << 22
"""Halves of machines that are kept at once: 32 MiB."""
_ZEROS = 0.25
"""The cost of adding the two halves of a machine, relative to multiplying as many numbers."""


def worth_grouping(objects: int, groups: int) -> bool:
    """Whether multiplying by the zeros among the coefficients costs more than adding halves of machines."""
    return objects * (groups - 2) * _ZEROS > groups


@cache
def columns_of_groups(groups: int) -> Indices:
    """For each group, the columns of its pairs: against the first of the other groups, the second, and so on."""
    found = np.zeros((groups, groups - 1), dtype=np.intp)
    first, second = np.triu_indices(groups, 1)
    found[first, second - 1] = found[second, first] = np.arange(len(first))
    return read_only(found)


def pair_products(gram: Gram, layout: Float64, counts: Indices) -> Float64:
    """One column per pair. `layout` has a row for each column of the matrix: its coefficients against other groups.

    The columns of the matrix are grouped; `counts` are the sizes of the groups.
    """
    groups, n = len(counts), gram.shape[0]
    layout = layout.astype(gram.dtype, copy=False)
    ends = np.cumsum(counts)
    out = np.empty((n, groups * (groups - 1) // 2))
    step = max(1, _ENTRIES_AT_ONCE // (groups * (groups - 1)))
    if cost.pair_loops_pay(n, gram.shape[1], groups):
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            block = gram.dense()[rows] if gram.in_memory else gram.view(rows, slice(None)).dense()
            _add_rows(block, layout, ends, out[rows])
        return out
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        halves = np.zeros((rows.stop - start, groups, groups - 1))
        sink = _GroupSink(halves, layout, ends)
        if gram.in_memory:
            with single_threaded_blas():
                sink.accept(Tile(0, len(halves), 0, gram.shape[1]), gram.dense()[rows])
        else:
            gram.view(rows, slice(None)).each_tile(sink)
        _add_halves(halves, out[rows])
    return out


@final
class _GroupSink:
    """Adds up products of tiles, group by group."""

    def __init__(self, out: Float64, layout: Floating, ends: Indices) -> None:
        self._out = out
        self._layout = layout
        self._ends = [0, *ends.tolist()]

    def buffer(self, tile: Tile) -> Floating:
        return np.empty(tile.shape, dtype=self._layout.dtype)

    def accept(self, tile: Tile, block: Floating) -> None:
        left, right = tile.columns.start, tile.columns.stop
        for group, (start, end) in enumerate(zip(self._ends[:-1], self._ends[1:], strict=True)):
            low, high = max(start, left), min(end, right)
            if low < high:
                self._out[tile.rows, group] += block[:, low - left : high - left] @ self._layout[low:high]


@jit
def _add_rows(block: Array, layout: Array, ends: Array, out: Array) -> None:
    """Add everything, row by row."""
    groups = ends.shape[0]
    halves = np.empty((groups, groups - 1))
    for i in range(out.shape[0]):
        values, row = block[i], out[i]
        start = 0
        for a in range(groups):
            half = halves[a]
            for j in range(groups - 1):
                half[j] = 0.0
            for s in range(start, ends[a]):
                value, own = values[s], layout[s]
                for j in range(groups - 1):
                    half[j] += value * own[j]
            start = ends[a]
        column = 0
        for a in range(groups):
            for b in range(a + 1, groups):
                row[column] = halves[a, b - 1] + halves[b, a]
                column += 1


@jit
def _add_halves(halves: Array, out: Array) -> None:
    groups = halves.shape[1]
    for i in range(out.shape[0]):
        row, own = out[i], halves[i]
        column = 0
        for a in range(groups):
            for b in range(a + 1, groups):
                row[column] = own[a, b - 1] + own[b, a]
                column += 1
