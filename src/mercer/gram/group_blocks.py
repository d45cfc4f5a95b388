"""The matrix of groups of objects in float64, block by block: those within groups are kept, others computed as needed.

With many classes, pairs are solved by compiled calls (`solvers.box.small_pairs`), each of which takes one group and
some of the groups after it. Every entry is computed once, and only a few blocks across groups exist at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram import pages
from mercer.gram.contract import Gram
from mercer.gram.tiled import TiledGram
from mercer.gram.tiles import Tile
from mercer.kernels.loops.epilogues import mirror_within

_AT_ONCE = 1 << 19
"""Entries across groups that are computed at once, 4 MiB. More do not fit the cache, fewer cost more calls."""


@final
class GroupBlocks:
    """Groups of objects of a matrix that is symmetric by construction."""

    def __init__(self, gram: Gram, groups: Sequence[Indices]) -> None:
        self.sizes = np.array([len(group) for group in groups])
        self._ends = np.cumsum(self.sizes)
        self._gram = gram.refined(np.concatenate(groups))
        self._work = self._gram.work() if isinstance(self._gram, TiledGram) else None
        self.starts = np.cumsum(self.sizes**2) - self.sizes**2
        self.within: Float64 = pages.empty((int(np.square(self.sizes).sum()),), np.float64)
        """The matrices within groups, row by row; each begins at its entry of `starts`."""
        gram.executor.each(self._fill, range(len(groups)))

    @staticmethod
    def bytes(groups: Sequence[Indices]) -> int:
        """The bytes that these groups take."""
        return 8 * sum(len(group) ** 2 for group in groups)

    def runs(self, first: int) -> list[range]:
        """The groups after this one, a few at a time."""
        found: list[range] = []
        most = _AT_ONCE // max(1, int(self.sizes[first]))
        start, taken = first + 1, 0
        for group in range(first + 1, len(self.sizes)):
            size = int(self.sizes[group])
            if group > start and taken + size > most:
                found.append(range(start, group))
                start, taken = group, 0
            taken += size
        if start < len(self.sizes):
            found.append(range(start, len(self.sizes)))
        return found

    def across(self, first: int, others: range) -> Float64:
        """The entries between a group and some of the groups after it."""
        rows, left = self._range(first), self._range(others.start).start
        return self._entries(Tile(rows.start, rows.stop, left, self._range(others.stop - 1).stop))

    def _fill(self, group: int) -> None:
        size, own = int(self.sizes[group]), self._range(group)
        square = self.within[self.starts[group] : self.starts[group] + size * size].reshape(size, size)
        square[...] = self._entries(Tile(own.start, own.stop, own.start, own.stop))
        mirror_within(square, 0, size)  # as in all matrices, the upper triangle counts
        np.fill_diagonal(square, self._gram.diagonal()[own])

    def _entries(self, tile: Tile) -> Float64:
        if self._work is None:
            return self._gram.rows(tile.rows, tile.columns).astype(np.float64, copy=False)
        out = np.empty(tile.shape)
        self._work(tile, out)
        self._gram.setting.tally.entries += out.size
        return out

    def _range(self, group: int) -> slice:
        return slice(int(self._ends[group] - self.sizes[group]), int(self._ends[group]))
