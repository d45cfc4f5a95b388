"""What kernels on vectors keep of each row, and the products of two batches of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import InputError
from mercer.inputs.base import Index
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import DType, Float64, Floating

# A CSR block with at most this many columns is expanded tile by tile: a dense product is far faster than a sparse one.
_EXPANDED_COLUMNS = 4096


@final
@dataclass(frozen=True, eq=False)
class RowFeatures:
    """Rows in the precision of the Gram matrix, with their squared lengths in float64."""

    rows: Any
    """A C-contiguous array, or CSR."""
    squared_lengths: Float64

    @classmethod
    def of(cls, vectors: Vectors, dtype: DType, shift: Float64 | None = None) -> Self:
        """`shift` is subtracted from every row (dense only: it would fill a sparse matrix)."""
        values: Any = vectors.values
        with np.errstate(over="ignore"):
            if vectors.is_sparse:
                exact = values.astype(np.float64)
                lengths = np.asarray(exact.multiply(exact).sum(axis=1)).ravel()
                rows: Any = values.astype(dtype)
            else:
                if shift is not None:
                    values = values - shift
                lengths = np.einsum("ij,ij->i", values, values, dtype=np.float64)
                rows = np.ascontiguousarray(values, dtype=dtype)
        if not np.isfinite(lengths).all():
            row = int(np.flatnonzero(~np.isfinite(lengths))[0])
            raise InputError(
                f"overflow in kernel: the squared length of row {row} exceeds the range of float64. "
                "Rescale the features, for example with sklearn.preprocessing.StandardScaler."
            )
        return cls(rows, lengths)

    def __len__(self) -> int:
        return len(self.squared_lengths)

    def take(self, index: Index) -> RowFeatures:
        return RowFeatures(self.rows[index], self.squared_lengths[index])


def dot_products(left: RowFeatures, right: RowFeatures, out: Floating) -> None:
    """out[i, j] = <left_i, right_j>."""
    if _is_sparse(left.rows) or _is_sparse(right.rows):
        if left.rows.shape[1] > _EXPANDED_COLUMNS:
            product: Any = left.rows @ right.rows.T
            out[...] = product.toarray() if _is_sparse(product) else product
            return
        np.matmul(_expanded(left.rows, out.dtype), _expanded(right.rows, out.dtype).T, out=out)
        return
    np.matmul(left.rows, right.rows.T, out=out)


def _expanded(rows: Any, dtype: npt.DTypeLike) -> Any:
    return rows.toarray().astype(dtype, copy=False) if _is_sparse(rows) else rows


def _is_sparse(rows: Any) -> bool:
    return bool(sp.issparse(rows))
