"""Symmetric matrices that are nearly singular."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mercer import _deadline, _speed
from mercer._process import decomposing
from mercer._types import Float64


def significant_eigen(matrix: Float64) -> tuple[Float64, Float64]:
    """The eigenvalues that are larger than rounding errors, and their vectors; the matrix is overwritten.

    >>> significant_eigen(np.diag([2.0, 0.0, 1e-20]))[0].tolist()
    [2.0]
    """
    _deadline.refuse_decomposition(len(matrix), _speed.EIGENVECTORS)
    with decomposing(len(matrix)):
        values, vectors = scipy.linalg.eigh(matrix, overwrite_a=True, check_finite=False)
    kept = values > len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    return values[kept], vectors[:, kept]


def pseudo_inverse(matrix: Float64) -> Float64:
    """The inverse on the significant eigenvectors, and zero elsewhere; the matrix is overwritten."""
    values, vectors = significant_eigen(matrix)
    return np.asarray((vectors / values) @ vectors.T)
