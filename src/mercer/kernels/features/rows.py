"""Rows of features, dense or CSR, put together and measured."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from mercer._types import Float64
from mercer.inputs.row_products import is_sparse


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
    return sp.csr_array(rows.multiply(column)) if is_sparse(rows) else rows * column


def side_by_side(parts: Sequence[Any]) -> Any:
    """The columns of all parts; CSR if any of them is."""
    if not any(is_sparse(rows) for rows in parts):
        return np.hstack(parts)
    return sp.csr_array(sp.hstack([sp.csr_array(rows) for rows in parts], format="csr"))


def stacked(blocks: Sequence[Any]) -> Any:
    """Blocks of rows as one matrix; of CSR blocks whose columns grew, later ones have more of them."""
    if len(blocks) == 1:
        return _sorted(blocks[0])
    if not is_sparse(blocks[0]):
        return np.vstack(blocks)
    width = blocks[-1].shape[1]
    sizes = [0, *itertools.accumulate(block.nnz for block in blocks)]
    kind = np.int32 if max(sizes[-1], width) < 2**31 else np.int64
    indptr = np.concatenate([[0], *(block.indptr[1:] + start for block, start in zip(blocks, sizes, strict=False))])
    data, indices = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("data", "indices"))
    shape = (len(indptr) - 1, width)
    return _sorted(sp.csr_array((data, indices.astype(kind, copy=False), indptr.astype(kind)), shape=shape))


def _sorted(rows: Any) -> Any:
    if is_sparse(rows):
        rows.sort_indices()
    return rows
