"""The Gram matrix as solvers and learners see it, wherever its entries come from.

===================  ====================================================================
`tiled.TiledGram`    entries are computed by a kernel, tile by tile, whenever they are needed
`of_features`        entries are dot products of rows; products go through the rows
`stored.StoredGram`  all entries lie in memory
===================  ====================================================================

`make.gram_of` chooses. A matrix never changes: `stored` gives a second one with the same entries.
"""

from __future__ import annotations

import dataclasses
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, final

import numpy as np

from mercer import _deadline
from mercer._cached import cached_property
from mercer._types import DType, Float64, Floating, Indices
from mercer.errors import KernelError
from mercer.gram import budget, cost
from mercer.gram.executors import Sink, Threads

_SECONDS_PER_BYTE = 1.0 / 2**30
"""The cost of fresh memory that the system has to find: see `pages`."""
_TIMED = 0.01
"""Seconds of sampling from which the cost of all entries is estimated: shorter samples are dominated by the cost of
calls."""
_TIMES, _SURELY = 4, 0.5
"""How many samples, each of other objects, must agree that entries are slow: on a busy machine a process may wait for a
tenth of a second now and then. A sample that takes longer than half a second needs no second one.
"""
TILE_BYTES = 2 * 2**20
"""Bytes of a tile and its inputs, which should stay in the second-level cache. Larger tiles do not fit, smaller ones
spend more time on calls."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The objects of the underlying matrix that a view has, in order; an object may occur several times."""

    size: int
    """The number of objects of the underlying matrix."""
    chosen: Indices | None = None
    """None for all of them, in order."""

    def __len__(self) -> int:
        return self.size if self.chosen is None else len(self.chosen)

    @property
    def ids(self) -> Indices:
        return np.arange(self.size) if self.chosen is None else self.chosen

    def of(self, ids: Indices) -> Self:
        """These objects of the underlying matrix."""
        return dataclasses.replace(self, chosen=ids)

    def select(self, index: Any) -> Self:
        """The objects at these positions of the view."""
        return self if isinstance(index, slice) and index == slice(None) else self.of(self.ids[index])


@dataclass
class Tally:
    """Kernel values computed so far."""

    entries: int = 0


@final
@dataclass(frozen=True)
class Rounding:
    """The errors of float32 entries relative to |x| |z| (h + k) / 2: lengths in feature space times the mean
    hardness."""

    largest: float = 0.0
    typical: float = 0.0
    """The root mean square of a row, in the worst row."""


class InDouble(Protocol):
    """Source of the entries of a float32 matrix in float64."""

    def of(self, ids: Indices) -> InDouble:
        """The same for some of the objects."""

    def gram(self) -> Gram:
        """The matrix in float64."""

    def rounding(self) -> Rounding:
        """The errors of entries, measured on a sample."""

    def hardness(self) -> Float64:
        """The relative loss of float32 in the entries of each object: at least 1, and 2 on average."""


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """Properties shared by all views of a matrix."""

    dtype: DType
    executor: Threads
    memory: budget.Memory = "auto"
    """The memory that stored entries may take."""
    expensive: bool = False
    """Whether entries are so expensive that they should be stored rather than recomputed."""
    width: float = 0.0
    """The numbers per row from which a cheap entry is computed; 0 if unknown."""
    tally: Tally = field(default_factory=Tally)
    finer: InDouble | None = None
    """The float64 source of a float32 matrix, if known."""

    def __post_init__(self) -> None:
        if self.memory != "auto":
            budget.stored_bytes(self.memory)  # refuses what is not an amount of memory

    def at_once(self, entries: int) -> bool:
        """Whether this many entries take less time than planning tiles and waking a thread."""
        return not self.expensive and entries * (cost.ENTRY + self.width * cost.MULTIPLY) < cost.THREADS

    def holds(self, needed: int) -> bool:
        """Whether this many bytes may be stored; small amounts always may."""
        return (self.memory == "auto" and needed <= budget.SURE) or needed <= self.budget

    @cached_property
    def budget(self) -> int:
        """The bytes that stored entries may take; asking the system takes longer than computing a small matrix."""
        return budget.stored_bytes(self.memory)

    def of(self, ids: Indices) -> Setting:
        """The setting of a matrix of some of the objects."""
        if self.finer is None:
            return self
        return dataclasses.replace(self, finer=self.finer.of(ids), memory=self.budget / budget.MIB)


class Gram(ABC):
    """The matrix of kernel values between two batches of objects, or of one batch with itself.

    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> gram = gram_of(kernels.Linear().fit([[1.0], [2.0]]), [[1.0], [2.0]])
    >>> gram.dense().tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    def __init__(self, setting: Setting, diagonal: Float64 | None) -> None:
        self.setting = setting
        self.dtype, self.executor = setting.dtype, setting.executor
        self.expensive = setting.expensive
        self._underlying_diagonal = diagonal

    @property
    @abstractmethod
    def axes(self) -> tuple[Axis, Axis]:
        """The rows and columns of the underlying matrix."""

    @abstractmethod
    def _part(self, rows: Any, columns: Any) -> Gram:
        """The same matrix with other axes."""

    @abstractmethod
    def _entries(self) -> Floating:
        """All entries as one array."""

    @abstractmethod
    def rows(self, index: Any, columns: Any = None) -> Floating:
        """The rows at `index` (of the columns at `columns`) as an array."""

    @abstractmethod
    def each_tile(self, sink: Sink, *, by_columns: bool = False) -> None:
        """Send every tile to a sink, without storing the matrix.

        The tiles of one strip of rows (or columns) come in order, those of different strips in any order.
        """

    @abstractmethod
    def _product(self, vectors: Float64) -> Float64: ...

    @abstractmethod
    def stored(self) -> Gram:
        """The same matrix with all entries in memory; a second call returns the same one."""

    @property
    def in_memory(self) -> bool:
        """Whether all entries are in one array in memory, so that `dense` computes nothing."""
        return False

    @property
    def factor(self) -> Any | None:
        """The rows whose dot products are the entries, dense or CSR, for learners that can train on them."""
        return None

    @final
    @property
    def budget(self) -> int:
        """The bytes that stored entries may take."""
        return self.setting.budget

    def fits(self) -> bool:
        """Whether all entries may be stored within the budget."""
        return self.in_memory or self.setting.holds(self.bytes)

    @final
    def stored_if_it_fits(self) -> Gram:
        """The stored matrix, unless there is not enough memory or time."""
        return self.stored() if self.fits() and self._in_time() else self

    @final
    def _in_time(self) -> bool:
        """Whether all entries can be computed and stored in half of the remaining time."""
        if not _deadline.is_limited() or self.in_memory:
            return True
        return self.seconds + _SECONDS_PER_BYTE * self.bytes <= 0.5 * _deadline.left()

    @final
    @cached_property
    def seconds(self) -> float:
        """An estimate of the seconds that all entries take, from a sample of them."""
        n, m = self.shape
        side, share = 1, 0.0
        self.rows(np.arange(1), np.arange(1))  # compiles
        while share < 1.0:
            side = min(2 * side, n, m)
            share = side * side / (n * m)
            took = self._took(side, 0)
            for place in range(1, min(_TIMES, min(n, m) // side)):
                if not _TIMED < took < _SURELY:
                    break
                took = min(took, self._took(side, place))
            if took > _TIMED or side == min(n, m):
                break
        return took / share * (0.5 if self.symmetric else 1.0)

    def _took(self, side: int, place: int) -> float:
        """The seconds that a block of entries takes: of different objects, off the diagonal."""
        first, last = place * side, self.shape[0] - place * side
        began = time.perf_counter()
        self.rows(np.arange(last - side, last), np.arange(first, first + side))
        return time.perf_counter() - began

    @final
    def view(self, rows: Any, columns: Any = None) -> Gram:
        """A part of this matrix that shares everything with it; without `columns`, rows and columns are the same."""
        own_rows, own_columns = self.axes
        if columns is not None:
            return self._part(own_rows.select(rows), own_columns.select(columns))
        ids = own_rows.ids[rows]
        return self._part(own_rows.of(ids), own_columns.of(ids))

    @final
    def dense(self, dtype: DType | None = None) -> Floating:
        """All entries as one array; refused, before anything is allocated, if it exceeds the budget."""
        if not self.fits():
            n, m = self.shape
            budget.require(
                self.bytes,
                self.budget,
                f"A Gram matrix of {n:,} x {m:,} objects",
                "Train on fewer objects, raise `memory`, or use an approximation of the kernel.",
            )
        return self._entries().astype(dtype or self.dtype, copy=False)

    @final
    def matvec(self, vectors: Float64) -> Float64:
        """The product with a vector, or with the columns of a matrix, in float64, without storing the entries."""
        if vectors.shape[0] != self.shape[1]:
            raise ValueError(f"matvec needs {self.shape[1]} rows, one per column of the matrix; got {vectors.shape}")
        return self._product(vectors)

    @final
    def exact(self) -> Float64:
        """All entries in float64, for direct solvers."""
        return np.asarray(self.dense(np.float64), dtype=np.float64)

    @final
    def refined(self, index: Any = slice(None)) -> Gram:
        """The float64 matrix of some of the objects: of the kernel itself, if this matrix is rounded to float32.

        Its entries are recomputed. If that is impossible, or this matrix is float64, it is a part of this matrix.
        """
        finer = self.setting.finer
        if finer is None or not self.symmetric:
            return self if isinstance(index, slice) and index == slice(None) else self.view(index)
        chosen = self.axes[0].chosen
        whole = isinstance(index, slice) and index == slice(None) and chosen is None
        return finer.gram() if whole else finer.of(self.axes[0].ids[index]).gram()

    @final
    def diagonal(self) -> Float64:
        """k(x, x) of each object, in float64."""
        if self._underlying_diagonal is None or not self.symmetric:
            raise KernelError("A matrix of new objects against training objects has no diagonal.")
        chosen = self.axes[0].chosen
        return self._underlying_diagonal if chosen is None else self._underlying_diagonal[chosen]

    @final
    @property
    def symmetric(self) -> bool:
        """Whether rows and columns are the same objects, in the same order."""
        if self._underlying_diagonal is None:
            return False
        rows, columns = self.axes
        return rows.chosen is columns.chosen or np.array_equal(rows.ids, columns.ids)

    @final
    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.axes
        return len(rows), len(columns)

    @final
    @property
    def bytes(self) -> int:
        """The bytes of all entries."""
        return self.shape[0] * self.shape[1] * np.dtype(self.dtype).itemsize

    @final
    @property
    def entries_computed(self) -> int:
        """Kernel values computed so far, over all views."""
        return self.setting.tally.entries
