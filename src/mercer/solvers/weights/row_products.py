"""Products with the rows of a matrix, dense or CSR, in blocks that threads share. Weights may have several columns.

Blocks depend only on the matrix, and their sums are added in order, so results are bit for bit the same for any number
of threads. Sums are float64, even over float32 rows.
"""

from __future__ import annotations

import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from mercer._jit import Array, jit
from mercer._types import Float64, Floating, Indices
from mercer.gram.block_rows import BlockRows
from mercer.gram.executors import Threads
from mercer.gram.passes import Found

_BLOCKS = 8
"""Maximum number of blocks: more would let more threads help, but each has its own copy of the sums."""
_SMALLEST_BLOCK = 4096
"""Minimum rows of a block: smaller ones take less time than handing them to a thread."""
_NEIGHBOURS = 16
"""Rows that stay together when many are shuffled: enough to read memory in streams, few enough to be random."""
_ROWS_IN_CACHE = 2048
"""Up to this many rows are shuffled one by one."""
_ROWS_OF_A_PRODUCT = 512
"""Rows at a time for the normal matrix: with fewer it would be written too often."""
PIECE_BYTES = 1 << 19
"""A piece of dense rows that stays in a core's cache while it is used several times."""


class RowProducts(ABC):
    """Products with the rows of a matrix; methods that take a block work on its rows alone."""

    def __init__(self, matrix: Any) -> None:
        self.shape: tuple[int, int] = matrix.shape
        count = max(1, min(_BLOCKS, self.shape[0] // _SMALLEST_BLOCK))
        edges = np.linspace(0, self.shape[0], count + 1).astype(np.intp)
        self.blocks = [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
        self._executor = Threads()
        self.pass_at_once = True
        self.in_passes = False

    def into(self, w: Float64) -> Float64:
        """Weights as `outputs` takes them: for the underlying rows, if those differ from the rows."""
        return w

    def back(self, sums: Float64) -> Float64:
        """Convert a sum of `add_combination` into a combination of rows."""
        return sums

    def back_normal(self, matrix: Float64) -> Float64:
        """Convert a sum of `add_normal` into the matrix of rows."""
        return matrix

    def stretches(self, block: slice) -> list[slice]:
        """The parts of a block that are processed one after the other."""
        return [block]

    def each(self, job: Callable[[int], None]) -> None:
        """Run a job for the number of each block."""
        if len(self.blocks) == 1:
            job(0)
        else:
            self._executor.each(job, range(len(self.blocks)))

    @abstractmethod
    def outputs(self, block: slice, w: Float64, out: Float64) -> None:
        """out = X w, on these rows, with w as `into` gives it."""

    @abstractmethod
    def add_combination(self, block: slice, b: Float64, out: Float64) -> None:
        """out += X'b, over these rows; b has one entry for each of them. The sum is taken `back`."""

    @abstractmethod
    def add_squares(self, block: slice, r: Float64, out: Float64) -> None:
        """out_j += sum_i r_i x_ij^2, over these rows."""

    @abstractmethod
    def add_normal(self, block: slice, r: Float64, out: Float64) -> None:
        """out += X' diag(r) X, over these rows, in the lower triangle at least. The sum is taken `back_normal`."""

    def all_outputs(self, w: Float64) -> Float64:
        """X w."""
        out, own = np.empty((self.shape[0], *w.shape[1:])), self.into(w)
        self.each(lambda number: self.outputs(self.blocks[number], own, out[self.blocks[number]]))
        return out

    def combination(self, b: Float64) -> Float64:
        """X'b."""
        return self.back(self._sum_over_blocks(self.add_combination, b))

    def squares(self, r: Float64) -> Float64:
        """The diagonal of X' diag(r) X."""
        return self._sum_over_blocks(self.add_squares, r)

    def normal(self, r: Float64) -> Float64:
        """X' diag(r) X, in the lower triangle at least."""
        parts = np.zeros((len(self.blocks), self.shape[1], self.shape[1]))
        self.each(lambda number: self.add_normal(self.blocks[number], r[self.blocks[number]], parts[number]))
        return self.back_normal(np.asarray(parts.sum(axis=0)))

    def _sum_over_blocks(self, add: Callable[[slice, Float64, Float64], None], values: Float64) -> Float64:
        parts = np.zeros((len(self.blocks), self.shape[1], *values.shape[1:]))
        self.each(lambda number: add(self.blocks[number], values[self.blocks[number]], parts[number]))
        return np.asarray(parts.sum(axis=0))


class DenseRows(RowProducts):
    """Rows of a C-contiguous array, by BLAS."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix)
        self._matrix = matrix
        self._piece = max(64, PIECE_BYTES // (8 * self.shape[1]))

    def _pieces(self, block: slice, least: int = 1) -> Any:
        step = max(self._piece, least)
        for start in range(block.start, block.stop, step):
            stop = min(start + step, block.stop)
            yield (
                slice(start - block.start, stop - block.start),
                self._matrix[start:stop].astype(np.float64, copy=False),
            )

    def outputs(self, block: slice, w: Float64, out: Float64) -> None:
        for part, piece in self._pieces(block):
            np.dot(piece, w, out=out[part])

    def add_combination(self, block: slice, b: Float64, out: Float64) -> None:
        for part, piece in self._pieces(block):
            out += piece.T @ b[part] if b.ndim == 2 else b[part] @ piece

    def add_squares(self, block: slice, r: Float64, out: Float64) -> None:
        for part, piece in self._pieces(block):
            out += r[part] @ (piece * piece)

    def add_normal(self, block: slice, r: Float64, out: Float64) -> None:
        mixed = bool((r < 0).any())
        for part, piece in self._pieces(block, _ROWS_OF_A_PRODUCT):
            used = np.flatnonzero(r[part])
            if not len(used):
                continue
            picked = piece if len(used) == len(piece) else piece[used]
            out += weighted_normal(picked, r[part][used], mixed=mixed)


@final
class RowsInBlocks(DenseRows):
    """Rows that are held in float32, or recomputed whenever they are used; the last ones that a thread computed are
    kept.

    Methods that take a block see rows before their fold. If objects are read from blocks, these are the same blocks,
    and every sum over all rows takes a pass.
    """

    def __init__(self, matrix: BlockRows) -> None:
        super().__init__(matrix)
        self.pass_at_once = matrix.held
        self.in_passes = matrix.streamed
        self._step = self._piece if matrix.held else matrix.step
        self._last = threading.local()

    @property
    def matrix(self) -> BlockRows:
        found: BlockRows = self._matrix
        return found

    def into(self, w: Float64) -> Float64:
        return w if self.matrix.fold is None else self.matrix.fold.weights(w)

    def back(self, sums: Float64) -> Float64:
        return sums if self.matrix.fold is None else self.matrix.fold.combination(sums)

    def back_normal(self, matrix: Float64) -> Float64:
        return matrix if self.matrix.fold is None else self.matrix.fold.normal(matrix)

    def all_outputs(self, w: Float64) -> Float64:
        return self.matrix @ w if self.in_passes else super().all_outputs(w)

    def combination(self, b: Float64) -> Float64:
        return self.matrix.T @ b if self.in_passes else super().combination(b)

    def normal(self, r: Float64) -> Float64:
        if not self.in_passes:
            return super().normal(r)
        return self.back_normal(self.matrix.swept(Normal(), r)[0][0])

    def squares(self, r: Float64) -> Float64:
        if self.matrix.fold is None and not self.in_passes:
            return super().squares(r)
        return np.diagonal(self.normal(r)).copy()

    def stretches(self, block: slice) -> list[slice]:
        if self.pass_at_once:
            return [block]
        return [slice(a, min(a + self._step, block.stop)) for a in range(block.start, block.stop, self._step)]

    def _pieces(self, block: slice, least: int = 1) -> Any:
        step = max(self._step, least)
        for start in range(block.start, block.stop, step):
            part = slice(start, min(start + step, block.stop))
            yield slice(part.start - block.start, part.stop - block.start), self._written(part)

    def _written(self, part: slice) -> Float64:
        if self.pass_at_once:
            return np.asarray(self.matrix.before_fold(part), dtype=np.float64)
        if getattr(self._last, "part", None) != part:
            self._last.part, self._last.rows = part, self.matrix.before_fold(part).astype(np.float64)
        found: Float64 = self._last.rows
        return found


@final
@dataclass(frozen=True, eq=False)
class Normal:
    """X' diag(r) X, as the task of a pass."""

    def __call__(self, rows: Floating, r: Float64) -> Found:
        return (weighted_normal(rows.astype(np.float64), r, mixed=bool((r < 0).any())),), ()


def weighted_normal(rows: Float64, r: Float64, *, mixed: bool) -> Float64:
    """X' diag(r) X, with r of `mixed` signs, or nonnegative."""
    if mixed:
        return np.asarray((rows * r[:, None]).T @ rows)
    half = rows * np.sqrt(r)[:, None]
    return np.asarray(half.T @ half)  # NumPy notices that both sides are the same, and computes half


@final
class SparseRows(RowProducts):
    """Rows of a CSR matrix, by compiled loops."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix)
        self.parts = (matrix.indptr, matrix.indices, matrix.data)

    def outputs(self, block: slice, w: Float64, out: Float64) -> None:
        loop = _outputs if w.ndim == 1 else _outputs_of_several
        loop(*self.parts, w, block.start, out)

    def add_combination(self, block: slice, b: Float64, out: Float64) -> None:
        loop = _add_combination if b.ndim == 1 else _add_combination_of_several
        loop(*self.parts, b, block.start, out)

    def add_squares(self, block: slice, r: Float64, out: Float64) -> None:
        _add_squares(*self.parts, r, block.start, out)

    def add_normal(self, block: slice, r: Float64, out: Float64) -> None:
        _add_normal(*self.parts, r, block.start, out)


def shuffled(rows: Indices, random: np.random.Generator) -> Indices:
    """Row numbers in random order; among many, a few neighbours stay together, for faster memory access."""
    if len(rows) < _ROWS_IN_CACHE:
        return random.permutation(rows)
    starts = _NEIGHBOURS * random.permutation(-(-len(rows) // _NEIGHBOURS))
    places = (starts[:, None] + random.permutation(_NEIGHBOURS)).ravel()
    return np.asarray(rows[places[places < len(rows)]])


def rows_of(matrix: Any) -> RowProducts:
    """Products with a matrix, dense or CSR, or with rows in blocks."""
    if isinstance(matrix, BlockRows):
        return RowsInBlocks(matrix)
    return SparseRows(matrix) if sp.issparse(matrix) else DenseRows(matrix)


@jit
def _outputs(indptr: Array, indices: Array, data: Array, w: Array, start: int, out: Array) -> None:
    for i in range(out.shape[0]):
        total = 0.0
        for p in range(indptr[start + i], indptr[start + i + 1]):
            total += data[p] * w[np.uint64(indices[p])]  # unsigned: no check for negative indices
        out[i] = total


@jit
def _add_combination(indptr: Array, indices: Array, data: Array, b: Array, start: int, out: Array) -> None:
    for i in range(b.shape[0]):
        if b[i] != 0.0:
            for p in range(indptr[start + i], indptr[start + i + 1]):
                out[np.uint64(indices[p])] += b[i] * data[p]


@jit
def _add_squares(indptr: Array, indices: Array, data: Array, r: Array, start: int, out: Array) -> None:
    for i in range(r.shape[0]):
        if r[i] != 0.0:
            for p in range(indptr[start + i], indptr[start + i + 1]):
                out[np.uint64(indices[p])] += r[i] * data[p] * data[p]


@jit
def _outputs_of_several(indptr: Array, indices: Array, data: Array, w: Array, start: int, out: Array) -> None:
    out[:] = 0.0
    for i in range(out.shape[0]):
        line = out[i]
        for p in range(indptr[start + i], indptr[start + i + 1]):
            weights = w[np.uint64(indices[p])]
            for k in range(len(line)):
                line[k] += data[p] * weights[k]


@jit
def _add_combination_of_several(indptr: Array, indices: Array, data: Array, b: Array, start: int, out: Array) -> None:
    for i in range(b.shape[0]):
        for p in range(indptr[start + i], indptr[start + i + 1]):
            line = out[np.uint64(indices[p])]
            for k in range(len(line)):
                line[k] += data[p] * b[i, k]


@jit
def _add_normal(indptr: Array, indices: Array, data: Array, r: Array, start: int, out: Array) -> None:
    for i in range(r.shape[0]):
        if r[i] != 0.0:
            begin = indptr[start + i]
            for p in range(begin, indptr[start + i + 1]):
                line = out[np.uint64(indices[p])]
                weighted = r[i] * data[p]
                for q in range(begin, p + 1):  # columns ascend: the lower triangle
                    line[np.uint64(indices[q])] += weighted * data[q]
