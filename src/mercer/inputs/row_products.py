"""Dot products and lengths of rows of numbers, dense or CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._jit import Array, jit
from mercer._types import Float64, Floating

EXPANDED_COLUMNS = 4096
"""CSR rows up to this wide are expanded tile by tile, because a dense product is far faster than a sparse one. Wider
rows would need more memory for a tile than the cache holds."""


def dot_products(left: Any, right: Any, out: Floating) -> None:
    """out[i, j] = <left_i, right_j>."""
    if not (_is_sparse(left) or _is_sparse(right)):
        np.matmul(left, right.T, out=out)
    elif left.shape[1] > EXPANDED_COLUMNS:
        product: Any = left @ right.T
        out[...] = product.toarray() if _is_sparse(product) else product
    else:
        np.matmul(expanded(left, out.dtype), expanded(right, out.dtype).T, out=out)


def expanded(rows: Any, dtype: npt.DTypeLike) -> Any:
    """Rows as an array; those that are one already stay as they are."""
    return rows.toarray().astype(dtype, copy=False) if _is_sparse(rows) else rows


def squared_lengths(rows: Any) -> Float64:
    """|x|^2 of each row, added up in float64."""
    if not _is_sparse(rows):
        return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths: Float64 = _squared_lengths(rows.indptr, rows.data)
    return lengths


def _is_sparse(rows: Any) -> bool:
    return bool(sp.issparse(rows))  # its own type tells mypy less than Any does


@jit
def _squared_lengths(indptr: Array, data: Array) -> Any:
    lengths = np.empty(indptr.shape[0] - 1)
    for i in range(lengths.shape[0]):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += float(data[p]) * data[p]
        lengths[i] = total
    return lengths
