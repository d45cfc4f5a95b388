"""The matrices of pairs of groups of objects: each entry is computed once, and little is kept.

Every pair (a, b) of groups needs K[a, a] and K[b, b], which it shares with other pairs, and K[a, b], which no other
pair needs. So the blocks within groups are stored and the others are computed where they are used: half a square of
entries in all, without the memory of a whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from mercer._types import Floating, Indices
from mercer.gram.contract import Gram
from mercer.gram.stored import PairRows, StoredGram
from mercer.gram.tiled import TiledGram

LARGEST = 4096
"""Larger pairs are left to solvers that compute rows as they need them: they look at few of the rows of a large pair,
and its square would take 64 MiB and more in each thread."""


@final
class PairBlocks:
    """Groups of objects, and the matrix of any two of them."""

    def __init__(self, gram: Gram, groups: Sequence[Indices], pairs: Sequence[tuple[int, int]]) -> None:
        self._gram = gram
        self._groups = groups
        self._ids, self._diagonal = gram.axes[0].ids, gram.diagonal()
        small = [pair for pair in pairs if self.holds(pair)]
        needed = sorted({group for pair in small for group in pair})
        self._views: dict[int, Gram] = {}
        self._within: dict[int, Floating] = {}
        largest = max((len(groups[a]) + len(groups[b]) for a, b in small), default=0)
        entries = sum(len(groups[group]) ** 2 for group in needed) + largest**2
        if not gram.in_memory and entries * np.dtype(gram.dtype).itemsize <= gram.budget // 2:
            gram.executor.each(self._compute, needed)

    def _compute(self, group: int) -> None:
        self._views[group] = view = self._gram.view(self._groups[group])
        self._within[group] = view.dense()

    def holds(self, pair: tuple[int, int]) -> bool:
        """Whether a pair is small enough to be given as a whole."""
        return sum(len(self._groups[group]) for group in pair) <= LARGEST

    def of(self, pair: tuple[int, int]) -> Gram:
        """The matrix over the objects of the first group, and then those of the second."""
        first, second = pair
        ids = np.concatenate((self._groups[first], self._groups[second]))
        if not (self.holds(pair) and self._within):
            return self._gram.view(ids)
        blocks = PairRows(self._within[first], self._within[second], self._across(first, second))
        return StoredGram(blocks, self._gram.setting.of(self._ids[ids]), self._diagonal[ids])

    def _across(self, first: int, second: int) -> Floating:
        """The entries between two groups, none of whose objects are in both."""
        one, other = self._views[first], self._views[second]
        if isinstance(one, TiledGram) and isinstance(other, TiledGram):
            return one.across(other)
        return self._gram.rows(self._groups[first], self._groups[second])
