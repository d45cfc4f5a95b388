"""Rows over two groups of objects, put together from blocks when they are first needed.

A solver looks at a tenth of the rows of a pair of classes. The blocks of a pair are known already, and copying all of
them into one square would cost as much as computing them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Floating, Indices
from mercer.gram import pages


@final
@dataclass(eq=False)
class PairRows:
    """A symmetric matrix over the objects of a first group and then those of a second."""

    first: Floating
    """Within the first group."""
    second: Floating
    """Within the second."""
    across: Floating
    """The first group's rows, the second's columns."""
    square: Floating = field(init=False)
    """The whole matrix, of which only some rows are there yet."""
    there: npt.NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.first) + len(self.second)
        self.square = pages.empty((n, n), self.across.dtype)
        self.there = np.zeros(n, dtype=bool)

    @classmethod
    def of(cls, square: Floating) -> PairRows:
        """A matrix of which every row is there."""
        rows = cls.__new__(cls)
        rows.first = rows.second = rows.across = rows.square = square
        rows.there = np.ones(len(square), dtype=bool)
        return rows

    def ensure(self, index: Indices) -> Floating:
        """Assemble these rows; the matrix, of which at least they are there."""
        missing = index[~self.there[index]]
        if len(missing):
            _ensure(self.square, self.there, self.first, self.second, self.across, missing)
        return self.square

    def whole(self) -> Floating:
        """The matrix with all of its rows."""
        return self.ensure(np.arange(len(self.there)))


@jit
def assemble(square: Array, there: Array, first: Array, second: Array, across: Array, i: int) -> None:
    """Write row i, unless it is there."""
    if there[i]:
        return
    cut = first.shape[0]
    row = square[i]
    if i < cut:
        row[:cut] = first[i]
        row[cut:] = across[i]
    else:
        for t in range(cut):
            row[t] = across[t, i - cut]
        row[cut:] = second[i - cut]
    there[i] = True


@jit
def _ensure(square: Array, there: Array, first: Array, second: Array, across: Array, index: Array) -> None:
    for k in range(index.shape[0]):
        assemble(square, there, first, second, across, index[k])
