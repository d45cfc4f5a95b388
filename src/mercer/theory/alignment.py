"""The similarity of two Gram matrices, and how well a matrix matches the labels.

The alignment of K and L is the cosine of the angle between them as long vectors, <K, L> / (|K| |L|) with the Frobenius
product. Centring both first (HKH, with H = I - 11'/n) removes what an intercept can do by itself; without centring, a
constant kernel looks well aligned if one class is large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.errors import InputError
from mercer.theory.geometry import centred


def alignment(K: Any, L: Any) -> float:
    """<K, L> / (|K| |L|), between -1 and 1, and never negative for positive semi-definite matrices; 0 if one is zero.

    >>> alignment([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]).__round__(4)
    0.7071
    """
    one, two = _pair(K, L)
    return _cosine(one, two)


def centred_alignment(K: Any, L: Any) -> float:
    """The alignment of HKH and HLH, that is, of the two centred kernels.

    >>> centred_alignment([[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]])
    0.0
    """
    one, two = _pair(K, L)
    return _cosine(centred(one), centred(two))


def kernel_target_alignment(K: Any, y: Any, *, centre: bool = True) -> float:
    """The alignment of K with the ideal matrix of the labels: 1 if objects are similar exactly within classes.

    For classes the ideal matrix is 1 for pairs of one class and -1 / (classes - 1) for others (so y y' for two classes
    coded -1 and +1); for numbers it is y y'. Labels with fractions are numbers, all others are classes.

    >>> import numpy as np
    >>> good = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]])
    >>> [round(kernel_target_alignment(K, [1, 1, 2, 2, 2]), 4) for K in (good, np.eye(5))]
    [0.9432, 0.5]
    """
    return (centred_alignment if centre else alignment)(K, ideal_matrix(y))


def ideal_matrix(y: Any) -> Float64:
    """The Gram matrix determined by the labels alone."""
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise InputError(f"Labels must be a list with one per object; got an array of shape {labels.shape}.")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            where = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise InputError(f"Labels must be finite; number {where} is {labels[where]}.")
        if (labels != np.round(labels)).any():
            return np.asarray(np.multiply.outer(labels, labels), dtype=np.float64)
    found, codes = np.unique(labels, return_inverse=True)
    other = -1.0 / max(len(found) - 1, 1)
    return np.where(codes[:, None] == codes, 1.0, other)


def _cosine(K: Float64, L: Float64) -> float:
    length = float(np.linalg.norm(K)) * float(np.linalg.norm(L))
    # After centring, a constant matrix consists of rounding errors only.
    if length <= 1e-14 * len(K) ** 2 * max(float(np.abs(K).max()), float(np.abs(L).max())) ** 2:
        return 0.0
    return float(np.clip(float((K * L).sum()) / length, -1.0, 1.0))


def _pair(K: Any, L: Any) -> tuple[Float64, Float64]:
    one, two = np.asarray(K, dtype=np.float64), np.asarray(L, dtype=np.float64)
    for matrix in (one, two):
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            raise InputError(f"An alignment needs square matrices; got one of shape {matrix.shape}.")
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            raise InputError(f"Entry ({row}, {column}) of a matrix is {matrix[row, column]}; all must be finite.")
    if one.shape != two.shape:
        raise InputError(f"An alignment needs two matrices over the same objects; got {len(one)} and {len(two)}.")
    largest = [max(float(np.abs(matrix).max()), np.finfo(float).tiny) for matrix in (one, two)]
    return one / largest[0], two / largest[1]  # the cosine does not change, and squares cannot overflow
