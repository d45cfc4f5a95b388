"""A large symmetric Gram matrix in a quarter of its memory: one triangle of it, in fixed point with 16 bits.

Entries are stored relative to |x| |z|, the lengths in feature space, and within each tile relative to the largest of
these; the diagonal is stored separately, in float64. So an entry is off by at most 1/65,534 of |x| |z|: enough for the
products of conjugate gradients, whose results are corrected by residuals in float64 (`Gram.refined`). A product reads
each entry once, from memory, for both of its places: that takes a fraction of the time of recomputing the entries.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Floating
from mercer.gram import budget
from mercer.gram.contract import Gram
from mercer.gram.finer import lengths
from mercer.gram.sinks import Buffers
from mercer.gram.tiled import FeatureAxis, TiledGram
from mercer.gram.tiles import Strip, Tile

_STEPS = 32_767
"""The largest number of 16 bits."""
_SHARE = 0.7
"""The fraction of the available memory to use, if the user gave no limit: nothing else of that size is needed."""
_TINY = np.float32(np.finfo(np.float32).tiny)


@final
class PackedGram(TiledGram):
    """Products use the packed triangle; single entries and parts are computed as usual."""

    def __init__(self, gram: TiledGram) -> None:
        super().__init__(gram.source, *gram.axes)
        self._lengths = lengths(self.diagonal())
        self._strips_kept = self._strips(symmetric=True)
        sink = _PackSink(self._strips_kept, self._lengths)
        self._run(gram.work(), self._strips_kept, sink)
        self._packed, self._scales = sink.strips, sink.scales

    @property
    def noise(self) -> float:
        """The approximate largest eigenvalue of the errors, which have random signs and are uniform within a step."""
        scales = np.concatenate(self._scales)
        step = float(np.sqrt(np.mean(np.square(scales)) / 12.0))
        return 2.0 * math.sqrt(self.shape[0]) * step * float(np.square(self._lengths).max())

    def _part(self, rows: FeatureAxis, columns: FeatureAxis) -> TiledGram:
        return TiledGram(self.source, rows, columns)

    def stored(self) -> Gram:
        return self

    def fits(self) -> bool:
        """Whether entries are to be stored in full precision: never, since they are packed to avoid that."""
        return False

    def _product(self, vectors: Float64) -> Float64:
        columns = vectors[:, None] if vectors.ndim == 1 else vectors
        scaled = self._lengths[:, None] * columns
        size = np.abs(scaled).max(axis=0, initial=float(_TINY))  # float32 has no room for every scale
        right = np.ascontiguousarray((scaled / size).T, dtype=np.float32)

        def strip_product(number: int) -> Float64:
            top, out = self._strips_kept[number][0].top, np.zeros((len(right), len(scaled)))
            for tile, scale in zip(self._strips_kept[number], self._scales[number], strict=True):
                packed = self._packed[number][:, tile.left - top : tile.right - top]
                for k in range(len(right)):
                    _multiply(packed, right[k], out[k], tile.top, tile.left, scale)
            return out

        def combine(first: Float64, second: Float64) -> Float64:
            first += second
            return first

        product = self.executor.reduce(strip_product, range(len(self._strips_kept)), combine)
        product = product.T * size * self._lengths[:, None] + self.diagonal()[:, None] * columns
        return np.asarray(product.reshape(vectors.shape))


def packed_if_it_fits(gram: Gram) -> Gram:
    """The packed triangle of a float32 matrix whose entries are computed, if it fits into memory; else the matrix."""
    if not isinstance(gram, TiledGram) or isinstance(gram, PackedGram) or gram.factor is not None:
        return gram
    computed = gram.dtype is np.float32 and gram.source.unproven is None and gram.axes[0].chosen is None
    if not computed or not gram.symmetric:
        return gram
    memory = gram.setting.memory
    most = _SHARE * budget.available_bytes() if memory == "auto" else budget.stored_bytes(memory)
    return PackedGram(gram) if packed_bytes(gram.shape[0]) <= most else gram


def packed_bytes(n: int) -> int:
    """The most bytes that a packed matrix of n objects takes: tiles on the diagonal are stored whole."""
    return n * (n + 1024)


@final
class _PackSink:
    """Takes the tiles of a triangle and packs them."""

    def __init__(self, strips: tuple[Strip, ...], sizes: Float64) -> None:
        n = len(sizes)
        self._inverse = (1.0 / sizes).astype(np.float32)
        self._buffers = Buffers(np.float32)
        self._places = {strip[0].top: number for number, strip in enumerate(strips)}
        self.strips: list[npt.NDArray[np.int16]] = [
            np.empty((strip[0].bottom - strip[0].top, n - strip[0].top), dtype=np.int16) for strip in strips
        ]
        self.scales = [np.zeros(len(strip)) for strip in strips]

    def buffer(self, tile: Tile) -> Floating:
        return self._buffers.of_shape(tile.shape)

    def accept(self, tile: Tile, block: Any) -> None:
        number = self._places[tile.top]
        if tile.top == tile.left:
            np.fill_diagonal(block, 0.0)
            block[np.tril_indices(len(block))] = 0.0
        width = self._width(number)
        target = self.strips[number][:, tile.left - tile.top : tile.right - tile.top]
        scale = _pack(block, self._inverse[tile.rows], self._inverse[tile.columns], target)
        self.scales[number][(tile.left - tile.top) // width] = scale

    def _width(self, number: int) -> int:
        return len(self.strips[number]) if number + 1 < len(self.strips) else max(1, self.strips[number].shape[1])


@jit
def _pack(block: Array, rows: Array, columns: Array, out: Array) -> float:
    """Write entries relative to the lengths, in steps, and return the size of a step."""
    largest = np.float32(0.0)
    for i in range(block.shape[0]):
        row, inverse = block[i], rows[i]
        for j in range(row.shape[0]):
            row[j] *= inverse * columns[j]
            largest = max(largest, abs(row[j]))
    largest = max(largest, _TINY)
    steps = np.float32(_STEPS) / largest
    for i in range(block.shape[0]):
        row, target = block[i], out[i]
        for j in range(row.shape[0]):
            target[j] = np.int16(np.rint(row[j] * steps))
    return float(largest) / _STEPS


@jit
def _multiply(packed: Array, right: Array, out: Array, top: int, left: int, scale: float) -> None:
    """Add the products of a tile and of its mirror image; a tile on the diagonal has nothing below it."""
    height, width = packed.shape
    part, across = right[left : left + width].copy(), np.zeros(width, dtype=np.float32)
    quads = height - height % 4
    for i in range(0, quads, 4):  # four rows at a time share the reads and writes of vectors
        first, second, third, fourth = packed[i], packed[i + 1], packed[i + 2], packed[i + 3]
        x1, x2, x3, x4 = right[top + i], right[top + i + 1], right[top + i + 2], right[top + i + 3]
        t1 = t2 = t3 = t4 = np.float32(0.0)
        for j in range(width):
            a, b, c, d = np.float32(first[j]), np.float32(second[j]), np.float32(third[j]), np.float32(fourth[j])
            x = part[j]
            t1 += a * x
            t2 += b * x
            t3 += c * x
            t4 += d * x
            across[j] += (a * x1 + b * x2) + (c * x3 + d * x4)
        out[top + i] += scale * t1
        out[top + i + 1] += scale * t2
        out[top + i + 2] += scale * t3
        out[top + i + 3] += scale * t4
    for i in range(quads, height):
        row, other, total = packed[i], right[top + i], np.float32(0.0)
        for j in range(width):
            entry = np.float32(row[j])
            total += entry * part[j]
            across[j] += entry * other
        out[top + i] += scale * total
    for j in range(width):
        out[left + j] += scale * across[j]
