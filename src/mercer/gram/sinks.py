"""Where computed tiles go: into a stored matrix, or into the sums of a product."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Floating
from mercer.gram.tiles import Tile
from mercer.kernels.loops.epilogues import mirror_within

_PIECE = 128
"""The number of columns of a tile that are checked at once for vectors that are zero there."""


class Buffers:
    """One scratch tile per thread: fresh memory is far more expensive than memory in use."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._local = threading.local()

    def of_shape(self, shape: tuple[int, int]) -> Floating:
        size = shape[0] * shape[1]
        flat = getattr(self._local, "flat", None)
        if flat is None or len(flat) < size:
            flat = self._local.flat = np.empty(size, dtype=self._dtype)
        block: Floating = flat[:size].reshape(shape)
        return block


@final
class StoreSink:
    """Writes tiles into a matrix; with `mirror`, also their transposes."""

    def __init__(self, out: Floating, *, mirror: bool) -> None:
        self._out = out
        self._mirror = mirror
        self._buffers = Buffers(out.dtype)

    def buffer(self, tile: Tile) -> Floating:
        if tile.shape[1] == self._out.shape[1]:  # whole rows of the matrix are contiguous: no copy
            return self._out[tile.rows]
        return self._buffers.of_shape(tile.shape)

    def accept(self, tile: Tile, block: Floating) -> None:
        target = self._out[tile.rows, tile.columns]
        if not np.may_share_memory(target, block):
            target[...] = block
        if not self._mirror:
            return
        if tile.top == tile.left:
            mirror_within(self._out, tile.top, tile.bottom)
        else:
            mirror_across(self._out, block, tile.top, tile.left)


@final
class ProductSink:
    """Adds up tile @ vectors[columns], in float64, tile by tile in the order of the strip."""

    def __init__(self, out: npt.NDArray[np.float64], vectors: npt.NDArray[np.float64], dtype: Any) -> None:
        self._out = out
        self._single = vectors.ndim == 1
        self._vectors = np.ascontiguousarray(vectors, dtype=np.float64 if self._single else dtype)
        self._buffers = Buffers(dtype)
        self._parts: dict[tuple[int, int], list[_Piece]] = {}

    def buffer(self, tile: Tile) -> Floating:
        return self._buffers.of_shape(tile.shape)

    def accept(self, tile: Tile, block: Floating) -> None:
        if self._single:  # gradients of solvers: every term is added up in float64
            _add_product(self._out[tile.rows], block, self._vectors[tile.columns])
            return
        for piece in self._pieces(tile.left, tile.right):
            product = block[:, piece.columns] @ piece.vectors
            if piece.used is None:
                self._out[tile.rows] += product
            else:
                _add_at(self._out[tile.rows], product, piece.used)

    def _pieces(self, left: int, right: int) -> list[_Piece]:
        """Columns of a tile with the vectors that are not zero there, if those are few.

        Support objects of one class have coefficients in the pairs of that class alone, and lie side by side.
        """
        found = self._parts.get((left, right))
        if found is None:
            edges = range(0, right - left, _PIECE)
            found = [self._piece(left, slice(edge, min(edge + _PIECE, right - left))) for edge in edges]
            if any(piece.used is None for piece in found):
                found = [_Piece(slice(None), None, self._vectors[left:right])]
            self._parts[left, right] = found
        return found

    def _piece(self, left: int, columns: slice) -> _Piece:
        part = self._vectors[left + columns.start : left + columns.stop]
        used = np.flatnonzero(part.any(axis=0))
        few = len(used) <= part.shape[1] // 2
        return _Piece(columns, used, np.ascontiguousarray(part[:, used])) if few else _Piece(columns, None, part)


@final
@dataclass(frozen=True, eq=False)
class _Piece:
    """Columns of a tile, and the parts of the vectors that they are multiplied with."""

    columns: slice
    used: npt.NDArray[np.intp] | None
    """The positions of these vectors; None for all."""
    vectors: Floating


@jit
def _add_at(out: Array, product: Array, columns: Array) -> None:
    for i in range(product.shape[0]):
        row, terms = out[i], product[i]
        for k in range(columns.shape[0]):
            row[columns[k]] += terms[k]


@jit
def _add_product(out: Array, block: Array, vector: Array) -> None:
    for i in range(block.shape[0]):
        row = block[i]
        total = 0.0
        for j in range(row.shape[0]):
            total += row[j] * vector[j]
        out[i] += total


@jit
def mirror_across(out: Array, block: Array, top: int, left: int) -> None:
    """The transpose of the block that lies at (top, left)."""
    # In squares that fit the first-level cache, since a plain transposed copy misses it on every write; and in them by
    # parts so small that the compiler keeps them in registers.
    side, across, down = 64, 8, 4
    width = block.shape[1] - block.shape[1] % across
    height = block.shape[0] - block.shape[0] % down
    for j1 in range(0, width, side):
        for i1 in range(0, height, side):
            for j0 in range(j1, min(j1 + side, width), across):
                for i0 in range(i1, min(i1 + side, height), down):
                    for j in range(across):
                        for i in range(down):
                            out[left + j0 + j, top + i0 + i] = block[i0 + i, j0 + j]
    for i in range(block.shape[0]):
        for j in range(width if i < height else 0, block.shape[1]):
            out[left + j, top + i] = block[i, j]
