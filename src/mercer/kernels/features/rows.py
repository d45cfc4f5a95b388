"""Rows of features, dense or CSR, put together and measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.inputs.vectors import is_sparse


@final
@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """One row of features per object, so that ``matrix @ matrix.T`` is the Gram matrix, and a name per feature."""

    matrix: Any
    """A float64 array, or CSR."""
    names: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])


def rows_times(rows: Any, factors: Float64) -> Any:
    """Each row times its factor."""
    column = factors.astype(rows.dtype, copy=False)[:, None]
    return rows.multiply(column).tocsr() if is_sparse(rows) else rows * column


def side_by_side(parts: Sequence[Any]) -> Any:
    """The columns of all parts; CSR if any of them is."""
    if not any(is_sparse(rows) for rows in parts):
        return np.hstack(parts)
    import scipy.sparse as sp

    return sp.csr_array(sp.hstack([sp.csr_array(rows) for rows in parts], format="csr"))


def stacked(blocks: Sequence[Any]) -> Any:
    """Blocks of rows as one matrix; later CSR blocks may have more columns."""
    if not is_sparse(blocks[0]):
        return blocks[0] if len(blocks) == 1 else np.vstack(blocks)
    rows = blocks[0]
    if len(blocks) > 1:
        import scipy.sparse as sp

        for block in blocks:
            block.resize(block.shape[0], blocks[-1].shape[1])
        rows = sp.csr_array(sp.vstack(blocks, format="csr"))
    rows.sort_indices()
    return rows
