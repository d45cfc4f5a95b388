"""The work of one tile: compute it, compute all but the known entries, or copy it from a stored matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Floating, Indices
from mercer.gram import pages
from mercer.gram.executors import Work
from mercer.gram.tiles import Tile
from mercer.kernels.base import Features


class Computes(Protocol):
    """What computes a tile from two batches of features: a fitted kernel, for example."""

    def tile(self, left: Any, right: Any, out: Floating) -> None: ...

    def tile_entries(self, left: Any, right: Any) -> int: ...


@final
@dataclass(frozen=True)
class TileWork:
    """The work of one tile: picklable, so that it can be shipped to another process."""

    compute: Computes
    left: Features
    right: Features

    def __call__(self, tile: Tile, out: Floating) -> None:
        self.compute.tile(self.left.take(tile.rows), self.right.take(tile.columns), out)


@final
@dataclass(frozen=True)
class StoredWork:
    """Tiles copied from a stored matrix."""

    stored: Floating
    rows: Indices
    columns: Indices

    def __call__(self, tile: Tile, out: Floating) -> None:
        gather(self.stored, self.rows[tile.rows], self.columns[tile.columns], out)


@final
@dataclass(frozen=True)
class ExactWork:
    """Computed tiles in which an object meets itself with its exact value."""

    inner: Work
    hits: Indices
    """The rows whose object is also among the columns, in order, and its column."""
    places: Indices
    values: Float64

    def __call__(self, tile: Tile, out: Floating) -> None:
        self.inner(tile, out)
        begin, end = np.searchsorted(self.hits, (tile.top, tile.bottom))
        part = np.arange(begin, end)
        part = part[(self.places[part] >= tile.left) & (self.places[part] < tile.right)]
        out[self.hits[part] - tile.top, self.places[part] - tile.left] = self.values[part]


def gathered(stored: Floating, rows: Indices, columns: Indices) -> Floating:
    """A part of a stored matrix, as a new array."""
    out = pages.empty((len(rows), len(columns)), stored.dtype)
    gather(stored, rows, columns, out)
    return out


@jit
def gather(stored: Array, rows: Array, columns: Array, out: Array) -> None:
    """Write these rows and columns of a matrix into `out`."""
    for i in range(rows.shape[0]):
        row = stored[rows[i]]
        target = out[i]
        for j in range(columns.shape[0]):
            target[j] = row[columns[j]]
