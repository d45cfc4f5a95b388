"""The Euclidean distance between vectors, accurate also between near neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from mercer._jit import Array, jit
from mercer._types import Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import State
from mercer.kernels.vectors.distances import SquaredEuclidean, VectorDistance
from mercer.kernels.vectors.features import RowFeatures, is_sparse

_PAIRS_AT_ONCE = 1024
"""Sparse near neighbours recomputed together: more would save little of SciPy's overhead and copy more rows."""


@final
@dataclass(frozen=True)
class Euclidean(SquaredEuclidean):
    """|x - z|.

    Near neighbours lose digits in |x|^2 + |z|^2 - 2 x'z, and the square root doubles the loss: two equal rows would be
    1e-8 apart. Where the squared distance is a small share of the squared lengths, it is computed anew, from
    differences.
    """

    def gamma(self, rule: str, objects: Vectors, state: State) -> float:
        return VectorDistance.gamma(self, rule, objects, state)  # from distances, not from the variance

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        super().tile(left, right, state, out)
        share = out.dtype.type(1e-2 if out.dtype == np.float32 else 1e-6)
        lengths = left.squared_lengths.astype(out.dtype), right.squared_lengths.astype(out.dtype)
        if not (is_sparse(left.rows) or is_sparse(right.rows)):
            _renew(left.rows, right.rows, *lengths, share, out)
        else:
            near = np.argwhere(out < share * (lengths[0][:, None] + lengths[1]))
            for start in range(0, len(near), _PAIRS_AT_ONCE):
                i, j = near[start : start + _PAIRS_AT_ONCE].T
                difference: Any = left.rows[i] - right.rows[j]
                out[i, j] = np.asarray(sp.csr_array(difference).power(2).sum(axis=1)).ravel()
        np.sqrt(out, out=out)


@jit
def _renew(left: Array, right: Array, own: Array, other: Array, share: Array, out: Array) -> None:
    zero = out.dtype.type(0)
    for i in range(out.shape[0]):
        row = out[i]
        near = 0
        for j in range(row.shape[0]):
            near += row[j] < share * (own[i] + other[j])
        if near:
            for j in range(row.shape[0]):
                if row[j] < share * (own[i] + other[j]):
                    total = zero
                    for k in range(left.shape[1]):
                        total += (left[i, k] - right[j, k]) ** 2
                    row[j] = total
