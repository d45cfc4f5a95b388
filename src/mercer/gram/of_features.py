"""The Gram matrix of rows of features: its entries are their dot products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Floating, Index
from mercer.gram.block_rows import BlockRows
from mercer.gram.tiled import TiledGram
from mercer.inputs.vectors import dot_products
from mercer.kernels.base import ANY_TILE


@final
@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Rows, dense or CSR, in the shape of features."""

    rows: Any

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, index: Index) -> FeatureRows:
        return FeatureRows(self.rows[index])


@final
class DotProducts:
    """Compares rows by their dot product."""

    def tile(self, left: FeatureRows, right: FeatureRows, out: Floating) -> None:
        for rows, lines in _pieces(left.rows):
            for columns, others in _pieces(right.rows):
                dot_products(lines, others, out[rows, columns])

    def tile_entries(self, left: FeatureRows, right: FeatureRows) -> int:
        del left, right
        return ANY_TILE


def _pieces(rows: Any) -> Iterator[tuple[slice, Any]]:
    """Rows with their positions, block by block if they are in blocks."""
    if not isinstance(rows, BlockRows):
        yield slice(None), rows
        return
    for part in rows.blocks:
        yield part, rows.block(part)


@final
class FeaturesGram(TiledGram):
    """Products cost what the rows do, so it never pays to store the matrix: learners train on its `factor`."""

    @property
    def factor(self) -> Any:
        return self._rows.taken.rows

    def fits(self) -> bool:
        return False

    def _product(self, vectors: Float64) -> Float64:
        left, right = self._rows.taken.rows, self._columns.taken.rows
        return np.asarray(left @ (right.T @ vectors), dtype=np.float64)
