"""Inverses of K + alpha I for many alphas, from one reduction of K to a band.

Problem   (K + alpha I)^-1 y, the diagonal of that inverse and blocks on it, for alpha after alpha
Given     a symmetric matrix K
Result    K = Q B Q' with B of a few dozen diagonals; then for each alpha the Cholesky factor L of B + alpha I, and
          columns of L^-1 Q', whose products with each other are the entries of the inverse
Source    Bischof, Lang and Sun, A framework for symmetric band reduction (2000), the first of its steps

An eigendecomposition reduces K to three diagonals, and half of that work passes over the matrix once for each column.
A band leaves only products of matrices: about 8/3 n^3 operations for B and Q, and 4 n^2 per diagonal and alpha.
The matrix is worked on in tiles that threads share; the result does not depend on which thread computes which tile.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer import _deadline
from mercer._cached import cached_property
from mercer._jit import Array, jit
from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.gram import pages
from mercer.gram.executors import Threads
from mercer.solvers.drive import Limits

UseBlock = Callable[[int, Float64], None]

WIDTH = 48
"""Diagonals below the main one: enough for fast products, few enough for every alpha to be cheap."""
_TILE = 256
"""Rows of a tile: larger tiles leave threads idle towards the end, smaller ones make products slower ..."""
_COLUMNS = 256
"""... and columns of a tile that are updated at a time: few enough to stay in a core's cache."""
_SOLVED_COLUMNS = 1024
"""Columns solved for at a time: enough for fast products, while two groups of their rows stay in cache."""


@final
@dataclass(frozen=True, eq=False)
class BandForm:
    """K = Q B Q': the band as LAPACK stores it (diagonal d in row d), and Q' with its rows in memory order."""

    band: Float64
    basis: Float64

    @classmethod
    def of(cls, matrix: Float64, width: int = WIDTH, *, limits: Limits | None = None) -> Self:
        """Reduce a symmetric C-contiguous matrix, which is overwritten."""
        limits = limits or Limits()
        with single_threaded_blas():  # once for all tiles: setting it takes time
            band, scales = _reduce(matrix, width, limits)
            return cls(band, _basis(matrix, scales, width, limits))

    @cached_property
    def norm(self) -> float:
        """A bound on the largest eigenvalue in magnitude."""
        size = np.abs(self.band)
        sums = size.sum(axis=0)
        for lag in range(1, len(size)):
            sums[lag:] += size[lag, : max(size.shape[1] - lag, 0)]
        return float(sums.max(initial=0.0))

    def rotated(self, right: Float64) -> Float64:
        """Q' times some columns, once for all alphas."""
        with single_threaded_blas():
            return np.asarray(self.basis @ right)

    def solve(self, alpha: float, rotated: Float64) -> Float64:
        """(K + alpha I)^-1 times some columns; raises LinAlgError where K + alpha I is not positive definite."""
        with single_threaded_blas():
            solved = scipy.linalg.cho_solve_banded((self._factor(alpha), True), rotated, check_finite=False)
            return np.asarray(self.basis.T @ solved)

    def inverse_diagonal(self, alpha: float, limits: Limits | None = None) -> Float64:
        """The diagonal of (K + alpha I)^-1."""
        steps, n = self._steps(alpha), len(self.basis)
        diagonal, limits = np.zeros(n), limits or Limits()

        def add_up(columns: slice) -> None:
            limits.raise_if_stopped()
            total = diagonal[columns]
            for piece in self._half_solved(steps, self.basis[:, columns]):
                _add_squares(piece, total)

        Threads().each(add_up, _slices(0, n, _SOLVED_COLUMNS))
        return diagonal

    def inverse_blocks(self, alpha: float, folds: Sequence[Any], use: UseBlock, limits: Limits | None = None) -> None:
        """Pass on the block of (K + alpha I)^-1 that belongs to each fold, in any order."""
        steps, width, limits = self._steps(alpha), len(self.band) - 1, limits or Limits()

        def several(numbers: list[int]) -> None:
            limits.raise_if_stopped()
            chosen = np.concatenate([np.asarray(folds[number]) for number in numbers])
            half = np.empty((len(steps) * width, len(chosen)))
            for columns in _slices(0, len(chosen), _SOLVED_COLUMNS):
                pieces = self._half_solved(steps, self.basis[:, chosen[columns]])
                for number, piece in enumerate(pieces):
                    half[number * width : (number + 1) * width, columns] = piece
            start = 0
            for number in numbers:
                own = half[:, start : start + len(folds[number])]
                use(number, own.T @ own)
                start += len(folds[number])

        Threads().each(several, _grouped([len(fold) for fold in folds]))

    def _factor(self, alpha: float) -> Float64:
        shifted = self.band.copy()
        shifted[0] += alpha
        return np.asarray(scipy.linalg.cholesky_banded(shifted, overwrite_ab=True, lower=True, check_finite=False))

    @cached_property
    def _places(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Positions of the rows of L in its band, in groups of `width`, each with the 2 width columns that may be
        nonzero."""
        width, n = len(self.band) - 1, self.band.shape[1]
        groups = -(-n // width)
        rows = np.arange(groups * width).reshape(groups, width, 1)
        columns = rows[:, :1] + np.arange(-width, width)
        lag = rows - columns
        return np.where((lag < 0) | (lag > width) | (columns < 0), width + 1, lag), np.maximum(columns, 0)

    def _steps(self, alpha: float) -> Float64:
        """For each group of rows, the matrix that maps (Y of the previous group, Q' of this one) to Y = L^-1 Q'."""
        width, n = len(self.band) - 1, self.band.shape[1]
        lag, columns = self._places
        factor = np.zeros((width + 2, len(lag) * width))
        factor[0] = 1.0
        factor[: width + 1, :n] = self._factor(alpha)
        rows = factor[lag, columns]
        steps = np.empty_like(rows)
        with single_threaded_blas():
            steps[:, :, width:] = np.linalg.inv(rows[:, :, width:])
            np.matmul(steps[:, :, width:], -rows[:, :, :width], out=steps[:, :, :width])
        return steps

    @staticmethod
    def _half_solved(steps: Float64, right: Float64) -> Iterator[Float64]:
        """L^-1 times some columns of Q', one group of rows after the other; each is overwritten by the next."""
        width = steps.shape[1]
        now, then = np.zeros((2, 2 * width, right.shape[1]))
        for number, step in enumerate(steps):
            group = right[number * width : (number + 1) * width]
            now[width : width + len(group)] = group
            now[width + len(group) :] = 0.0
            np.matmul(step, now, out=then[:width])
            now, then = then, now
            yield now[:width]


def _reduce(A: Float64, width: int, limits: Limits) -> tuple[Float64, Float64]:
    """The band of Q'AQ, and the scale of each reflection I - t v v'; the vectors are left in A, below the band.

    Only tiles on and below the diagonal are kept up to date.
    """
    n = len(A)
    band, scales = np.zeros((width + 1, n)), np.zeros(n)
    timed = _deadline.Work(f"the reduction of a matrix of {n:,} x {n:,}", float(n) ** 3)
    for first in range(0, n, width):
        limits.raise_if_stopped()
        timed.look(float(n) ** 3 - float(n - first) ** 3)
        low = first + width
        _store(band, A[first:low, first:low], first, 0)
        if low < n:
            reflectors, own = np.linalg.qr(A[low:, first:low], mode="raw")
            scales[first : first + len(own)] = own
            _store(band, np.triu(reflectors.T[:width]), first, width)
            V = np.tril(reflectors.T, -1)
            np.fill_diagonal(V, 1.0)
            V[:, : len(own)][:, own == 0.0] = 0.0  # columns that have been reduced already
            A[low:, first:low] = V
            _two_sided(A, low, V, _mixer(V, scales[first:low]))
    return band, scales


def _store(band: Float64, block: Float64, first: int, below: int) -> None:
    """Copy the entries of a block into the band; its rows begin `below` its columns."""
    for lag in range(len(band)):
        diagonal = np.diagonal(block, below - lag)
        start = max(below - lag, 0)
        band[lag, first + start : first + start + len(diagonal)] = diagonal


def _mixer(V: Float64, scales: Float64) -> Float64:
    """T, for which the product of the reflections is I - V T V'."""
    inverse = np.triu(V.T @ V, 1)
    np.fill_diagonal(inverse, 1.0 / np.where(scales == 0.0, 1.0, scales))
    return np.asarray(np.linalg.inv(inverse), dtype=np.float64)


def _two_sided(A: Float64, low: int, V: Float64, T: Float64) -> None:
    """A = H'AH from row and column `low` on: A - V X' - X V', with X = A V T minus half of the part that both sides
    share."""
    n = len(A)
    executor, tiles = Threads(), _slices(low, n, _TILE)
    AV = np.empty_like(V)

    def multiply(rows: slice) -> None:
        own = AV[rows.start - low : rows.stop - low]
        np.matmul(A[rows, low : rows.stop], V[: rows.stop - low], out=own)
        if rows.stop < n:
            own += A[rows.stop :, rows].T @ V[rows.stop - low :]

    executor.each(multiply, tiles)
    X = AV @ T
    X -= V @ (0.5 * (T.T @ (V.T @ X)))
    left, right = np.hstack([V, X]), np.hstack([X, V]).T.copy()

    def subtract(rows: slice) -> None:
        own, spare = left[rows.start - low : rows.stop - low], np.empty((rows.stop - rows.start, _COLUMNS))
        for columns in _slices(low, rows.stop, _COLUMNS):
            update = spare[:, : columns.stop - columns.start]
            np.matmul(own, right[:, columns.start - low : columns.stop - low], out=update)
            A[rows, columns] -= update

    executor.each(subtract, tiles[::-1])  # the longest first


def _basis(A: Float64, scales: Float64, width: int, limits: Limits) -> Float64:
    """Q', one tile of rows after the other, each multiplied by all reflections, from the last to the first."""
    n, many = len(A), max(width, _TILE - _TILE % width)
    groups = []
    for first in range(0, n - width, many):
        for inner in range(first, min(first + many, n), width):
            A[first + width : inner + width, inner : inner + width] = 0.0  # what is above the vectors of a panel
        V = A[first + width :, first : min(first + many, n)]
        groups.append((first + width, V, _mixer(V, scales[first : first + many])))
    basis = pages.empty((n, n), np.float64)

    def reflect(rows: slice) -> None:
        limits.raise_if_stopped()
        own, spare = basis[rows], np.empty((rows.stop - rows.start, _COLUMNS))
        own[:] = 0.0
        own[:, rows] = np.eye(rows.stop - rows.start)
        for low, V, T in reversed(groups):
            if low >= rows.stop:
                continue
            mixed = (own[:, low:] @ V) @ T.T
            for columns in _slices(low, n, _COLUMNS):
                update = spare[:, : columns.stop - columns.start]
                np.matmul(mixed, V[columns.start - low : columns.stop - low].T, out=update)
                own[:, columns] -= update

    Threads().each(reflect, _slices(0, n, _TILE)[::-1])
    return basis


def _slices(start: int, stop: int, size: int) -> list[slice]:
    """A range cut at the multiples of a size."""
    edges = [start, *range(start - start % size + size, stop, size), stop]
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


def _grouped(lengths: Sequence[int]) -> list[list[int]]:
    """Indices of folds in groups: small folds together until they fill a few hundred columns."""
    groups: list[list[int]] = []
    filled = _SOLVED_COLUMNS
    for number, length in enumerate(lengths):
        if filled + length > _SOLVED_COLUMNS:
            groups.append([])
            filled = 0
        groups[-1].append(number)
        filled += length
    return groups


@jit
def _add_squares(block: Array, totals: Array) -> None:
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            totals[j] += block[i, j] * block[i, j]
