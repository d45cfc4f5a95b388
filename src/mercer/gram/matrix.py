"""The Gram matrix as solvers see it: a view over features, never a kernel.

A `Gram` may be a view of part of a larger one (`view`): folds of a cross-validation and pairs of classes share one set
of features and, once `store` was called, one stored matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._progress import reporting
from mercer._types import DType, Float64, Floating, Indices
from mercer.errors import KernelError
from mercer.gram import budget, pages
from mercer.gram.cache import RowCache
from mercer.gram.executors import Executor, Serial, Sink, Threads
from mercer.gram.pair_rows import PairRows
from mercer.gram.sinks import ProductSink, StoreSink
from mercer.gram.tiles import Strip, plan
from mercer.gram.work import ExactWork, StoredWork, TileWork, gathered
from mercer.inputs.base import Objects
from mercer.kernels.base import ANY_TILE, Features, FittedKernel, State
from mercer.kernels.features.rows import squared_lengths
from mercer.kernels.vectors.features import RowFeatures
from mercer.kernels.vectors.linear import Linear

TILE_BYTES = 2 * 2**20
"""A tile and what it is computed from stay within the second-level cache."""
DOUBLE_ENTRIES = 2048 * 2048
"""Matrices up to this many entries are computed in float64: they are cheap, and exact."""
_SERIAL_ENTRIES = 64 * 1024
_ASYMMETRY = 1e-5


@dataclass(eq=False)
class _Source:
    """What all views of one Gram matrix share."""

    fitted: FittedKernel
    left: Features
    right: Features
    diagonal: Float64 | None
    dtype: DType
    executor: Executor
    budget: int
    stored: Floating | None = None
    cache: RowCache | None = field(default=None)
    entries: int = 0
    factored: bool = False


@final
class Gram:
    """The matrix of kernel values between two batches of objects, or of one batch with itself.

    >>> from mercer import kernels
    >>> from mercer.gram.matrix import Gram
    >>> gram = Gram.of(kernels.Linear().fit([[1.0], [2.0]]), [[1.0], [2.0]])
    >>> gram.dense().tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    def __init__(self, source: _Source, rows: Indices | None, columns: Indices | None) -> None:
        self._source = source
        self._rows = rows
        self._columns = columns
        self._taken: dict[str, Features] = {}
        self.pair: PairRows | None = None
        """All entries, if this is the matrix of a pair of groups, of which rows are put together when needed."""

    @classmethod
    def of(
        cls,
        fitted: FittedKernel,
        rows: Any,
        columns: Any = None,
        *,
        dtype: DType | None = None,
        memory: budget.Memory = "auto",
        executor: Executor | None = None,
    ) -> Self:
        """Rows against columns; without `columns`, training objects against themselves.

        `rows` and `columns` are objects, or anything that the kernel can parse; `columns` are training objects.
        """
        row_objects = _objects(fitted, rows, new=columns is not None)
        column_objects = row_objects if columns is None else _objects(fitted, columns, new=False)
        entries = len(row_objects) * len(column_objects)
        kind = dtype or (np.float64 if entries <= DOUBLE_ENTRIES else np.float32)
        left = fitted.features(row_objects, kind)
        right = left if columns is None else fitted.features(column_objects, kind)
        diagonal = fitted.diagonal(left) if columns is None else None
        if dtype is None and kind is np.float32 and not _single_precision(fitted, left, right):
            return cls.of(fitted, row_objects, None if columns is None else column_objects, dtype=np.float64,
                          memory=memory, executor=executor)  # fmt: skip
        left, right = fitted.align(left, right)
        dear = fitted.tile_entries(left, right) < ANY_TILE
        chosen = executor or (Serial() if entries < _SERIAL_ENTRIES and not dear else Threads())
        whole = fitted.kernel.whole(left, right, fitted.state)
        stored = whole if whole is not None and whole.dtype == kind else None
        return cls(
            _Source(fitted, left, right, diagonal, kind, chosen, budget.stored_bytes(memory), stored), None, None
        )

    @classmethod
    def of_rows(cls, rows: Any, *, memory: budget.Memory = "auto") -> Self:
        """The dot products of rows, dense or CSR, that stand for features of a kernel: products cost what the rows do.

        Such a matrix is never stored; `factor` gives its rows to those who train on them. As for a matrix of kernel
        values, single precision serves where objects are many.
        """
        if rows.shape[0] ** 2 <= DOUBLE_ENTRIES:
            rows = rows.astype(np.float64, copy=False)
        lengths = squared_lengths(rows)
        features = RowFeatures(rows, lengths)
        fitted = FittedKernel(Linear(), State())
        kind: DType = np.float32 if rows.dtype == np.float32 else np.float64
        budgeted = budget.stored_bytes(memory)
        return cls(_Source(fitted, features, features, lengths, kind, Threads(), budgeted, factored=True), None, None)

    @property
    def factor(self) -> Any | None:
        """The rows whose dot products these are, where it was made of them."""
        return self._left().rows if self._source.factored else None  # type: ignore[attr-defined]

    @property
    def shape(self) -> tuple[int, int]:
        rows = len(self._source.left) if self._rows is None else len(self._rows)
        return rows, len(self._source.right) if self._columns is None else len(self._columns)

    @property
    def dtype(self) -> DType:
        return self._source.dtype

    @property
    def executor(self) -> Executor:
        return self._source.executor

    @property
    def budget(self) -> int:
        """The bytes that what is stored may take."""
        return self._source.budget

    @property
    def dear(self) -> bool:
        """Whether entries cost so much that memory is better spent on them than saved."""
        source = self._source
        return source.fitted.tile_entries(source.left, source.right) < ANY_TILE

    @property
    def stored(self) -> Floating | None:
        """All entries, if they are stored already and this is no view of a part of them."""
        if self.pair is not None:
            return self.pair.whole()
        return self._source.stored if self._rows is None and self._columns is None else None

    @property
    def entries_computed(self) -> int:
        """Kernel values computed so far, over all views."""
        return self._source.entries

    @property
    def symmetric(self) -> bool:
        """Whether rows and columns are the same objects, in the same order."""
        if self._source.diagonal is None:
            return False
        return self._rows is self._columns or np.array_equal(self._row_ids(), self._column_ids())

    def view(self, rows: Any, columns: Any = None) -> Gram:
        """Part of this matrix, sharing everything with it; without `columns`, the same rows and columns."""
        if columns is None:
            row_ids = self._row_ids()[rows]
            return Gram(self._source, row_ids, row_ids)
        all_rows, all_columns = _is_everything(rows), _is_everything(columns)
        part = Gram(
            self._source,
            self._rows if all_rows else self._row_ids()[rows],
            self._columns if all_columns else self._column_ids()[columns],
        )
        if all_rows:
            part._taken["left"] = self._left()
        if all_columns:
            part._taken["right"] = self._right()
        return part

    def part(self, ids: Indices, entries: PairRows) -> Gram:
        """The view of these rows and columns, whose entries the caller knows already."""
        part = self.view(ids)
        part.pair = entries
        return part

    def across(self, other: Gram) -> Floating:
        """The entries between the objects of this view and those of another one, with no object in common."""
        between = Gram(self._source, self._row_ids(), other._row_ids())
        between._taken = {"left": self._left(), "right": other._right()}
        source = self._source
        if source.stored is not None:
            return gathered(source.stored, self._row_ids(), other._row_ids())
        out = pages.empty(between.shape, source.dtype)
        between._run(StoreSink(out, mirror=False), symmetric=False)
        return out

    def diagonal(self) -> Float64:
        """k(x, x) of each row's object, in float64."""
        if self._source.diagonal is None:
            raise KernelError("A matrix of new objects against training objects has no diagonal.")
        return self._source.diagonal if self._rows is None else self._source.diagonal[self._rows]

    def fits(self, views: int = 1) -> bool:
        """Whether this matrix (and so many copies) may be stored within the budget; one made of rows never is."""
        return not self._source.factored and views * self._bytes() <= self._source.budget

    def store(self) -> None:
        """Compute the whole underlying matrix once, and serve every view from it."""
        if self._source.stored is None:
            self._source.stored = Gram(self._source, None, None).dense()

    def exact(self) -> Float64:
        """All entries in float64, for direct solvers."""
        return np.asarray(self.dense(np.float64), dtype=np.float64)

    def dense(self, dtype: DType | None = None) -> Floating:
        """All entries as one array; refuses, before allocating, what is beyond the budget."""
        source = self._source
        if self.pair is not None:
            return self.pair.whole().astype(dtype or source.dtype, copy=False)
        if source.stored is not None:
            whole = self._rows is None and self._columns is None
            found = source.stored if whole else gathered(source.stored, self._row_ids(), self._column_ids())
            return found if dtype is None else found.astype(dtype, copy=False)
        n, m = self.shape
        budget.require(
            self._bytes(),
            source.budget,
            f"A Gram matrix of {n:,} x {m:,} objects",
            "Train on fewer objects, raise `memory`, or use an approximation of the kernel.",
        )
        out = pages.empty((n, m), source.dtype)
        self._fill(out)
        return out if dtype is None else out.astype(dtype, copy=False)

    def rows(self, index: Any, columns: Any = None) -> Floating:
        """The rows at `index` (of the columns at `columns`) as an array."""
        if self.pair is not None:
            self.pair.ensure(np.arange(self.shape[0])[index])
            known: Floating = self.pair.square[index]
            return known if columns is None else np.asarray(known[:, columns])
        part = self.view(index, slice(None) if columns is None else columns)
        if part._source.stored is not None:
            return gathered(part._source.stored, part._row_ids(), part._column_ids())
        block = pages.empty(part.shape, self.dtype)
        part._fill(block)
        return block

    def cached_rows(self, index: Indices) -> RowCache:
        """A cache of whole rows of the underlying matrix that holds at least these, within the budget."""
        source = self._source
        if source.cache is None:
            source.cache = RowCache(len(source.left), len(source.right), source.dtype, source.budget)
        source.cache.ensure(index, lambda rows, out: Gram(source, rows, None)._fill(out))
        return source.cache

    def matvec(self, vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """K @ vectors in float64, tile by tile, without storing K."""
        n, m = self.shape
        if vectors.shape[0] != m:
            raise ValueError(f"matvec needs {m} rows, one per column of the matrix; got {vectors.shape}")
        if self._source.factored:
            left: Any = self._left()
            right: Any = self._right()
            return np.asarray(left.rows @ (right.rows.T @ vectors), dtype=np.float64)
        out = np.zeros((n, *vectors.shape[1:]))
        stored = self.stored
        if stored is not None:
            self._stored_product(stored, vectors, out)
        else:
            self.each_tile(ProductSink(out, vectors, self.dtype))
        return out

    def each_tile(self, sink: Sink, *, by_columns: bool = False) -> None:
        """Compute every tile into a sink, without storing K.

        The tiles of one strip of rows (or of columns) come one after the other, those of different strips in any order.
        """
        self._run(sink, symmetric=False, by_columns=by_columns)

    def _bytes(self) -> int:
        n, m = self.shape
        return n * m * np.dtype(self.dtype).itemsize

    def _row_ids(self) -> Indices:
        return np.arange(len(self._source.left)) if self._rows is None else self._rows

    def _column_ids(self) -> Indices:
        return np.arange(len(self._source.right)) if self._columns is None else self._columns

    def _left(self) -> Features:
        if "left" not in self._taken:  # taking rows copies them: once per view, not once per product
            source = self._source
            self._taken["left"] = source.left if self._rows is None else source.left.take(self._rows)
        return self._taken["left"]

    def _right(self) -> Features:
        if "right" not in self._taken:
            source = self._source
            self._taken["right"] = source.right if self._columns is None else source.right.take(self._columns)
        return self._taken["right"]

    def _coincident(self) -> tuple[Indices, Indices]:
        """Positions (row, column) of equal objects, ordered by row; either may hold an object several times."""
        rows, columns = self._rows, self._columns
        if columns is None:
            return np.arange(self.shape[0]), self._row_ids()
        order = np.argsort(columns, kind="stable")
        if rows is None:
            return columns[order], order
        first = np.searchsorted(columns, rows, side="left", sorter=order)
        times = np.searchsorted(columns, rows, side="right", sorter=order) - first
        hits = np.repeat(np.arange(len(rows)), times)
        nth = np.arange(len(hits)) - np.repeat(np.cumsum(times) - times, times)
        return hits, order[first[hits] + nth]

    def _fill(self, out: Floating) -> None:
        """Compute every entry into `out`."""
        source = self._source
        if source.stored is not None:
            out[...] = gathered(source.stored, self._row_ids(), self._column_ids())
            return
        half = self.symmetric and source.fitted.kernel.symmetric
        self._run(StoreSink(out, mirror=half), symmetric=half)
        if source.diagonal is not None:
            hits, places = self._coincident()
            out[hits, places] = source.diagonal[self._row_ids()[hits]]
        if self.symmetric and not source.fitted.kernel.symmetric:
            _refuse_asymmetry(out, source.fitted)

    def _stored_product(self, stored: Floating, vectors: Float64, out: Float64) -> None:
        """Straight from the stored matrix, in the same tiles and the same order of sums, without copying them."""
        right = np.ascontiguousarray(vectors, dtype=stored.dtype)

        def work(strip: Strip) -> None:
            for tile in strip:
                out[tile.rows] += stored[tile.rows, tile.columns] @ right[tile.columns]

        strips = plan(*self.shape, itemsize=stored.itemsize, budget=TILE_BYTES)
        self._source.executor.each(work, strips)

    def _run(self, sink: Sink, *, symmetric: bool, by_columns: bool = False) -> None:
        source = self._source
        itemsize, most = np.dtype(self.dtype).itemsize, TILE_BYTES
        if source.stored is None:
            work: Any = TileWork(source.fitted, self._left(), self._right())
            most = min(most, itemsize * source.fitted.tile_entries(work.left, work.right))
        else:
            work = StoredWork(source.stored, self._row_ids(), self._column_ids())
        strips = plan(*self.shape, itemsize=itemsize, budget=most, symmetric=symmetric, by_columns=by_columns)
        if isinstance(sink, StoreSink) and not symmetric:  # few long rows: no order to keep, so every tile for itself
            strips = tuple((tile,) for strip in strips for tile in strip)
        if not isinstance(sink, StoreSink) and source.stored is None and source.diagonal is not None:
            hits, places = self._coincident()
            work = ExactWork(work, hits, places, source.diagonal[self._row_ids()[hits]])
        with reporting("Kernel values") as report:
            source.executor.map(work, strips, sink, report)
        if source.stored is None:
            source.entries += sum(tile.entries for strip in strips for tile in strip)


def _objects(fitted: FittedKernel, raw: Any, *, new: bool) -> Objects:
    if isinstance(raw, Objects):
        return raw
    return fitted.coerce(raw) if new else fitted.kernel.coerce(raw)


def _single_precision(fitted: FittedKernel, left: Features, right: Features) -> bool:
    safe = fitted.kernel.single_precision(left, fitted.state)
    return safe if left is right else safe and fitted.kernel.single_precision(right, fitted.state)


def _is_everything(index: Any) -> bool:
    return isinstance(index, slice) and index == slice(None)


def _refuse_asymmetry(out: Floating, fitted: FittedKernel) -> None:
    """Rounding is averaged away; anything more means that this is no kernel."""
    gap = np.abs(out - out.T)
    worst = float(gap.max(initial=0.0))
    if worst > _ASYMMETRY * max(1.0, float(np.abs(out).max(initial=0.0))):
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise KernelError(
            f"The matrix of {fitted.kernel} is not symmetric: entries ({i}, {j}) and ({j}, {i}) are {out[i, j]:g} and "
            f"{out[j, i]:g}, apart by {worst:g}. A kernel gives the same value both ways round; for example use "
            "(k(x, z) + k(z, x)) / 2."
        )
    out += out.T
    out *= 0.5
