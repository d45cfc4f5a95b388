"""Products with rows minus their weighted mean, without storing the difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Floating
from mercer.gram.executors import Threads
from mercer.gram.passes import Found
from mercer.solvers.weights.row_products import RowsInBlocks, rows_of

_PIECE = 512
"""Rows centred at a time: enough for fast products, few enough to stay in cache."""


def weighted_mean(rows: Any, weights: Float64) -> Float64:
    """The mean of rows, dense or CSR."""
    return np.asarray(rows.T @ weights, dtype=np.float64) / max(float(weights.sum()), np.finfo(float).tiny)


@final
@dataclass(frozen=True, eq=False)
class Around:
    """(X - middle)' W (X - middle), as the task of a pass."""

    middle: Float64

    def __call__(self, rows: Floating, weights: Float64) -> Found:
        half = rows - self.middle
        half *= np.sqrt(weights)[:, None]
        return (np.asarray(half.T @ half),), ()


@final
class CentredRows:
    """Rows X, dense or CSR, minus their mean (zero without an intercept), with weights W."""

    def __init__(self, rows: Any, weights: Float64, *, intercept: bool) -> None:
        self._rows, self._weights = rows, weights
        self.mean = weighted_mean(rows, weights) if intercept else np.zeros(rows.shape[1])

    def outputs(self, v: Float64) -> Float64:
        """X v."""
        found = np.asarray(self._rows @ v, dtype=np.float64)
        found -= self.mean @ v
        return found

    def combination(self, b: Float64) -> Float64:
        """X'b."""
        found = np.asarray(self._rows.T @ b, dtype=np.float64)
        found -= np.outer(self.mean, b.sum(axis=0))
        return found

    def weighted(self, v: Float64) -> Float64:
        """X' W X v."""
        return self.combination(self._weights[:, None] * self.outputs(v))

    def diagonal(self) -> Float64:
        """The diagonal of X' W X."""
        squares = rows_of(self._rows).squares(self._weights) - self._weights.sum() * self.mean**2
        return np.asarray(np.maximum(squares, 0.0))

    def normal(self) -> Float64:
        """X' W X, full."""
        rows = rows_of(self._rows)
        if isinstance(rows, RowsInBlocks):
            return self._normal_in_blocks(rows)
        if self.mean.any() and not hasattr(self._rows, "indptr"):
            parts = np.zeros((len(rows.blocks), rows.shape[1], rows.shape[1]))
            rows.each(lambda number: self._add_centred(rows.blocks[number], parts[number]))
            return np.asarray(parts.sum(axis=0))
        lower = np.tril(rows.normal(self._weights))
        full = lower + np.tril(lower, -1).T
        return np.asarray(full - self._weights.sum() * np.outer(self.mean, self.mean))

    def _normal_in_blocks(self, rows: RowsInBlocks) -> Float64:
        """Before the fold: the underlying rows, around their own mean."""
        fold = rows.matrix.fold
        middle = self.mean if fold is None else fold.triangle @ self.mean
        task = Around(middle)
        if rows.in_passes:
            return rows.back_normal(rows.matrix.swept(task, self._weights)[0][0])

        def part_of(part: slice) -> Float64:
            found: Float64 = task(rows.matrix.before_fold(part), self._weights[part])[0][0]
            return found

        return rows.back_normal(Threads().reduce(part_of, rows.matrix.blocks, np.add))

    def _add_centred(self, block: slice, out: Float64) -> None:
        """Centre row by row: subtracting the square of a large mean afterwards would leave little but rounding
        errors."""
        for start in range(block.start, block.stop, _PIECE):
            part = slice(start, min(start + _PIECE, block.stop))
            half = np.sqrt(self._weights[part, None]) * (self._rows[part] - self.mean)
            out += half.T @ half
