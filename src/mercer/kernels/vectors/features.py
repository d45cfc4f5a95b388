"""The features of kernels on vectors, and products of two batches of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._types import DType, Float64, Floating
from mercer.errors import InputError
from mercer.inputs import vectors as inputs
from mercer.inputs.vectors import EXPANDED_COLUMNS, Vectors, expanded
from mercer.inputs.vectors import is_sparse as is_sparse
from mercer.kernels.base import Batch


@final
@dataclass(frozen=True, eq=False)
class RowFeatures(Batch):
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
                lengths = inputs.squared_lengths(values)
                rows: Any = values if values.dtype == dtype else values.astype(dtype)
            else:
                if shift is not None:
                    refuse_other_width(vectors.n_features, len(shift))
                    values = values - shift
                lengths = np.einsum("ij,ij->i", values, values, dtype=np.float64)
                rows = np.ascontiguousarray(values, dtype=dtype)
        if not np.isfinite(lengths).all():
            row = int(np.flatnonzero(~np.isfinite(lengths))[0])
            raise InputError(
                f"overflow in kernel: the squared length of row {row} exceeds the range of float64. "
                "The dual coefficients or intercepts are not finite then. Rescale the features, for example with "
                "sklearn.preprocessing.StandardScaler."
            )
        return cls(rows, lengths)


def dot_products(left: Any, right: Any, out: Floating) -> None:
    """out[i, j] = <left_i, right_j>, for features with `rows`."""
    refuse_other_width(left.rows.shape[1], right.rows.shape[1])
    inputs.dot_products(left.rows, right.rows, out)


def column_blocks(left: Any, right: Any, dtype: npt.DTypeLike, *, every: bool = False) -> Iterator[tuple[Any, Any]]:
    """Two batches of rows as dense blocks of the same columns: one block, or several of wide CSR rows.

    Columns that are zero on both sides are left out of wide CSR rows unless `every` column counts; sums or products
    over the blocks must not depend on them.
    """
    refuse_other_width(left.shape[1], right.shape[1])
    if not (is_sparse(left) or is_sparse(right)):
        yield left, right
        return
    if left.shape[1] > EXPANDED_COLUMNS and not every and is_sparse(left) and is_sparse(right):
        used = np.union1d(left.indices, right.indices)
        left, right = left[:, used], right[:, used]
    for start in range(0, left.shape[1], EXPANDED_COLUMNS):
        part = slice(start, start + EXPANDED_COLUMNS)
        yield tuple(np.ascontiguousarray(expanded(rows[:, part], dtype)) for rows in (left, right))  # type: ignore[misc]


def refuse_other_width(features: int, expected: int) -> None:
    """Refuse vectors of different lengths: compiled loops would read past the end of the shorter."""
    if features != expected:
        raise InputError(
            f"Cannot compare vectors of {features} features with vectors of {expected}: X has {features} features, "
            f"but {expected} features are expected. Both sides must have the same columns in the same order."
        )
