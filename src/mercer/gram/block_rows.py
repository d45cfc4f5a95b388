"""Rows of features that are never one array of float64: held in float32, or written anew block by block.

A product with the rows is a sum over blocks of them. Which blocks there are depends on their number and width alone,
and sums are added up over a fixed tree: results are the same bit for bit for any number of threads. Memory is that of
the rows in float32 where the budget allows it, else that of a few blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer._cached import cached_property
from mercer._types import Float64, Floating, Indices
from mercer.gram import budget
from mercer.gram.executors import Threads
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.kernels.features.space import FeatureSpace, features_of

_BLOCK_BYTES = 2**25
"""A block of rows in float64: fast products need some thousand rows, more would only take memory in every thread."""
_LEAST = 256
"""Rows of a block at least: fewer would spend their time on preparing landmarks."""
_MANY = 2**25
"""Fewer numbers than these stay one array of float64: a quarter of a gigabyte, and exact."""
_AS_ARRAY = 2**26
"""Rows that are picked become an array if they have at most this many numbers, and else stay blocks."""


@final
class BlockRows:
    """The rows of objects, in blocks: what `write` makes of them in float32, held or written whenever they are used."""

    __array_ufunc__ = None  # an array on the left leaves products to these rows

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, objects: Any, write: Callable[[Any], Any], columns: int, held: Floating | None = None) -> None:
        self._objects, self._write, self._held = objects, write, held
        self.shape = (len(objects), columns)
        self.step = max(_LEAST, _BLOCK_BYTES // (8 * max(1, columns)))

    @property
    def held(self) -> bool:
        """Whether all rows lie in memory."""
        return self._held is not None

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def blocks(self) -> list[slice]:
        """The blocks, in order."""
        n = len(self)
        return [slice(start, min(start + self.step, n)) for start in range(0, n, self.step)]

    def block(self, part: slice) -> Floating:
        """The rows of a few objects, as an array of float32."""
        return self._held[part] if self._held is not None else self._write(self._objects.take(part))

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            index = np.asarray(index)
            index = np.flatnonzero(index) if index.dtype == bool else index
        if self._held is not None:
            return self._held[index]
        places: Indices = np.arange(len(self))[index]
        if len(places) * self.shape[1] <= _AS_ARRAY:
            return np.asarray(self._write(self._objects.take(index)))
        return BlockRows(self._objects.take(index), self._write, self.shape[1])

    def astype(self, dtype: Any, copy: bool = True) -> BlockRows:
        """The same rows: products with them are float64 in any case."""
        del dtype, copy
        return self

    def __matmul__(self, weights: Float64) -> Float64:
        """X w, in float64."""
        out = np.empty((len(self), *weights.shape[1:]))

        def multiply(part: slice) -> None:
            np.dot(self.block(part).astype(np.float64), weights, out=out[part])

        Threads().each(multiply, self.blocks)
        return out

    @property
    def T(self) -> Turned:  # noqa: N802 - NumPy's name
        return Turned(self)

    @cached_property
    def squared_lengths(self) -> Float64:
        """|x|^2 of each row."""
        out = np.empty(len(self))

        def add(part: slice) -> None:
            rows = self.block(part)
            np.einsum("ij,ij->i", rows, rows, dtype=np.float64, out=out[part])

        Threads().each(add, self.blocks)
        return out


@final
class Turned:
    """The rows as columns."""

    __array_ufunc__ = None

    def __init__(self, rows: BlockRows) -> None:
        self._rows = rows
        self.shape = rows.shape[::-1]

    def __matmul__(self, b: Float64) -> Float64:
        """X'b, in float64."""
        rows = self._rows

        def part_of(part: slice) -> Float64:
            return np.asarray(rows.block(part).astype(np.float64).T @ b[part])

        return np.asarray(Threads().reduce(part_of, rows.blocks, np.add))


def rows_of_features(
    fitted: FittedKernel, objects: Objects, memory: budget.Memory = "auto", *, hold: bool = True
) -> Any:
    """phi of each object: CSR of features that are counted, an array of few numbers, blocks of many.

    Blocks are held in `memory` where they fit, unless they are used once and need no `hold`.
    """
    features = features_of(fitted)
    if not features.in_blocks:
        return FeatureSpace.of(fitted, objects)[1]
    example, _ = features.rows(objects.take(slice(0, 1)), iter(()), np.float64)
    n, columns = len(objects), int(example.shape[1])
    if n * columns <= _MANY:
        return FeatureSpace.of(fitted, objects)[1]

    def write(part: Objects) -> Floating:
        rows: Floating = features.rows(part, iter(()), np.float32)[0]
        return np.ascontiguousarray(rows, dtype=np.float32)

    streamed = BlockRows(objects, write, columns)
    if not hold or not budget.holds(memory, n * columns * streamed.dtype.itemsize):
        return streamed
    held = np.empty((n, columns), dtype=np.float32)

    def fill(part: slice) -> None:
        held[part] = streamed.block(part)

    Threads().each(fill, streamed.blocks)
    return BlockRows(objects, write, columns, held)
