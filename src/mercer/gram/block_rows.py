"""Rows of features that are never one array of float64: stored in float32, or recomputed block by block.

A product with the rows is a sum over blocks of them. Which blocks there are depends on their number and width alone,
and sums are added up over a fixed tree: results are the same bit for bit for any number of threads. The rows take their
size in float32 if the budget allows it, and otherwise only a few blocks are in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer._cached import cached_property
from mercer._types import Float64, Floating, Index, Indices
from mercer.errors import InputError
from mercer.gram import budget, journal
from mercer.gram.executors import Threads, default_threads, elsewhere
from mercer.gram.folding import Fold
from mercer.gram.passes import (
    Alone,
    Combination,
    Found,
    Item,
    Outputs,
    RowCache,
    SquaredLengths,
    Task,
    Visit,
    collected,
    part_of,
    together,
)
from mercer.inputs.base import Objects
from mercer.inputs.blocks import ArrayBlocks
from mercer.inputs.streamed import Streamed
from mercer.kernels.base import FittedKernel
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.features.space import FeatureSpace, features_of

_BLOCK_BYTES = 2**25
"""A block of rows in float64: fast products need some thousand rows, more would only take memory in every thread."""
_PASS_BYTES = 2**23
"""The same for a piece of a block in a pass, of which every thread has some copies: passes exist to save memory. It
does not depend on the available memory, because sums depend on the pieces.
"""
_LEAST = 256
"""The fewest rows of a block: with fewer, preparing landmarks would take most of the time."""
_MANY = 2**25
"""Fewer numbers than this stay one exact array of float64, of up to a quarter of a gigabyte."""
_EXAMPLES = 2048
"""The number of rows from which the mean is estimated."""
_AS_ARRAY = 2**26
"""Selected rows become an array if they have at most this many numbers, and otherwise stay blocks."""


@final
class Writing:
    """Computes rows from objects with a fitted kernel, in float32: features, or what a fold turns into features."""

    def __init__(self, fitted: FittedKernel) -> None:
        self._fitted = fitted

    @cached_property
    def _features(self) -> FeatureMap:
        return features_of(self._fitted)  # rebuilt in every process: maps hold functions, which cannot be pickled

    @cached_property
    def fold(self) -> Fold | None:
        triangle = self._features.triangle
        return None if triangle is None else Fold(triangle)

    def __call__(self, part: Any) -> Floating:
        """One row for each object, before the fold."""
        if self.fold is not None:
            rows: Floating = self._features.unfolded(part)
        else:
            rows = self._features.rows(part, iter(()), self.dtype.type)[0]
        return np.ascontiguousarray(rows, dtype=self.dtype)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Single for computed coordinates, which have similar sizes; double for what users measured."""
        return np.dtype(np.float32 if self._features.in_blocks else np.float64)

    def __getstate__(self) -> FittedKernel:
        return self._fitted

    def __setstate__(self, fitted: FittedKernel) -> None:
        self._fitted = fitted


@final
class BlockRows:
    """The rows of objects, in blocks: `write` computes them in float32; they are stored, or recomputed when used.

    With a `fold`, `write` does not compute the rows themselves, but what they are made from: see `mercer.gram.folding`.
    Objects that are read from blocks are processed by passes (`mercer.gram.passes`); `chosen` selects some of them, in
    order.
    """

    __array_ufunc__ = None  # makes NumPy leave products with an array on the left to this class

    ndim = 2

    def __init__(
        self,
        objects: Any,
        write: Callable[[Any], Any],
        columns: int,
        held: Floating | None = None,
        chosen: Indices | None = None,
    ) -> None:
        self._objects, self._write, self._held, self._chosen = objects, write, held, chosen
        self.fold: Fold | None = getattr(write, "fold", None)
        self.dtype: np.dtype[Any] = getattr(write, "dtype", np.dtype(np.float32))
        self.shape = (len(objects) if chosen is None else len(chosen), columns)
        self.cache = RowCache()
        size = _PASS_BYTES if self.streamed else _BLOCK_BYTES
        self.step = max(_LEAST, size // (8 * max(1, columns)))

    @property
    def held(self) -> bool:
        """Whether all rows are in memory."""
        return self._held is not None

    @property
    def streamed(self) -> bool:
        """Whether objects are read from blocks, so that only passes can process them."""
        return self._held is None and isinstance(self._objects, Streamed)

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def blocks(self) -> list[slice]:
        """The blocks, in order; if objects are read from blocks, the blocks they come in."""
        n = len(self)
        if not self.streamed:
            return [slice(start, min(start + self.step, n)) for start in range(0, n, self.step)]
        edges = self._objects.edges
        ends = edges if self._chosen is None else np.searchsorted(self._chosen, edges)
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    def swept(self, task: Task, *values: Any) -> Found:
        """The sums of a task over all rows, and what it keeps for each, in one pass over objects in blocks.

        `values` have one entry per row, or a method `part`. The task gets the rows before the fold.
        """
        items = [
            Item(number, self._places(number, part), tuple(part_of(each, part) for each in values))
            for number, part in enumerate(self.blocks)
            if part.stop > part.start
        ]
        visit = Alone(Visit(self._objects, self._write, self.step, task, self.cache))
        executor = journal.kept(self._objects.executor or elsewhere() or Threads())
        return collected(executor.reduce(visit, items, together))

    def _places(self, number: int, part: slice) -> Index:
        if self._chosen is None:
            return slice(None)
        return np.asarray(self._chosen[part] - self._objects.edges[number])

    def example(self, size: int = _EXAMPLES) -> Floating:
        """Some rows before the fold, for objects that are in memory."""
        objects = self._objects
        some = objects.first_known(size) if isinstance(objects, Streamed) else objects.known().take(slice(0, size))
        return self._write(some)  # type: ignore[no-any-return]

    def before_fold(self, part: slice) -> Floating:
        """The rows of a few objects before the fold; do not change them, since they may be the stored ones."""
        return self._written(part) if self._held is None else self._held[part]

    def _written(self, index: Any) -> Floating:
        if self._chosen is not None:
            index = self._chosen[index]
        rows: Floating = self._write(self._objects.take(index))
        return rows

    def block(self, part: slice) -> Floating:
        """The rows of a few objects, as an array of float32."""
        return self._folded(self.before_fold(part))

    def _folded(self, rows: Floating) -> Floating:
        if self.fold is None:
            return rows
        found: Floating = self.fold.rows(np.array(rows) if self.held else rows)
        return found

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            index = np.asarray(index)
            index = np.flatnonzero(index) if index.dtype == bool else index
        if self._held is not None:
            return self._folded(self._held[index])
        places: Indices = np.arange(len(self))[index]
        if len(places) * self.shape[1] <= _AS_ARRAY:
            return np.asarray(self._folded(self._written(index)))
        if not self.streamed:
            return BlockRows(self._objects.take(index), self._write, self.shape[1])
        if (np.diff(places) < 0).any():
            raise InputError("Objects that are read from blocks can only be taken in their order, unless they are few.")
        chosen: Indices = places if self._chosen is None else self._chosen[places]
        return BlockRows(self._objects, self._write, self.shape[1], chosen=chosen)

    def astype(self, dtype: Any, copy: bool = True) -> BlockRows:
        """The same rows: products with them are float64 in any case."""
        del dtype, copy
        return self

    def __matmul__(self, weights: Float64) -> Float64:
        """X w, in float64."""
        own = weights if self.fold is None else self.fold.weights(weights)
        if self.streamed:
            return np.asarray(self.swept(Outputs(own))[1][0])
        out = np.empty((len(self), *weights.shape[1:]))

        def multiply(part: slice) -> None:
            np.dot(self.before_fold(part).astype(np.float64), own, out=out[part])

        Threads().each(multiply, self.blocks)
        return out

    @property
    def T(self) -> Turned:  # noqa: N802 - NumPy's name
        return Turned(self)

    @cached_property
    def squared_lengths(self) -> Float64:
        """|x|^2 of each row."""
        if self.streamed:
            return np.asarray(self.swept(SquaredLengths(self.fold))[1][0])
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
            return np.asarray(rows.before_fold(part).astype(np.float64).T @ b[part])

        found = rows.swept(Combination(), b)[0][0] if rows.streamed else Threads().reduce(part_of, rows.blocks, np.add)
        return np.asarray(found if rows.fold is None else rows.fold.combination(found))


def _room(rows: BlockRows, memory: int) -> int:
    """The memory left for storing rows, after what threads need: sums of squares, a block, and pieces of it."""
    columns, threads = rows.shape[1], default_threads()
    piece = rows.step * columns * (4 + 2 * 8)
    return max(0, memory - (threads + 2) * 8 * columns**2 - threads * piece)


def many_rows(fitted: FittedKernel, objects: Objects, memory: budget.Memory = "auto") -> BlockRows | None:
    """Rows to be processed by passes, for objects in blocks or in memory; None if one array is as good."""
    features = features_of(fitted)
    if isinstance(objects, Streamed):  # one pass is enough, so nothing is kept
        found: BlockRows = rows_of_features(fitted, objects, memory, hold=False)
        return found
    if not features.in_blocks or len(objects) * _width(features, objects) <= _MANY:
        return None
    again: BlockRows = rows_of_features(fitted, Streamed(ArrayBlocks(objects), type(objects)), memory)
    return again


def _width(features: FeatureMap, objects: Objects) -> int:
    """The number of columns, from one object."""
    return int(features.rows(objects.take(slice(0, 1)), iter(()), np.float64)[0].shape[1])


def rows_of_features(
    fitted: FittedKernel, objects: Objects, memory: budget.Memory = "auto", *, hold: bool = True
) -> Any:
    """phi of each object: CSR for counted features, an array if small, blocks if large.

    Blocks are stored if they fit into `memory`, unless `hold` is false because they are used only once.
    """
    features = features_of(fitted)
    if not (features.in_blocks or isinstance(objects, Streamed)):
        return FeatureSpace.of(fitted, objects)[1]
    n, columns = len(objects), _width(features, objects)
    if n * columns <= _MANY and not isinstance(objects, Streamed):
        return FeatureSpace.of(fitted, objects)[1]

    write = Writing(fitted)
    streamed = BlockRows(objects, write, columns)
    if isinstance(objects, Streamed):
        if hold:
            streamed.cache = RowCache(_room(streamed, budget.stored_bytes(memory)))
        return streamed
    if not hold or not budget.holds(memory, n * columns * streamed.dtype.itemsize):
        return streamed
    held = np.empty((n, columns), dtype=np.float32)

    def fill(part: slice) -> None:
        held[part] = streamed.before_fold(part)

    Threads().each(fill, streamed.blocks)
    return BlockRows(objects, write, columns, held)
