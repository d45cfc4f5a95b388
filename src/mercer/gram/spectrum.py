"""The smallest eigenvalue of a Gram matrix: negative means that no feature space has such inner products."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from mercer.gram.matrix import Gram

_DIRECT = 600
_ITERATIONS = 100


def smallest_eigenvalue(gram: Gram) -> float:
    """Exact for small matrices; for large ones the lowest value that Lanczos iterations reach, an upper bound.

    >>> from mercer import kernels
    >>> smallest_eigenvalue(Gram.of(kernels.Precomputed().fit([[1.0, 2.0], [2.0, 1.0]]), [[1.0, 2.0], [2.0, 1.0]]))
    -1.0
    """
    n = gram.shape[0]
    if n <= _DIRECT:
        return float(scipy.linalg.eigvalsh(gram.exact(), subset_by_index=(0, 0))[0])
    operator = LinearOperator((n, n), matvec=lambda v: gram.matvec(np.ravel(v)), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    try:
        found = eigsh(operator, k=1, which="SA", v0=start, maxiter=_ITERATIONS, tol=1e-4, return_eigenvectors=False)
        return float(found[0])
    except ArpackNoConvergence as unfinished:
        reached = unfinished.eigenvalues
        return float(reached.min()) if len(reached) else 0.0


def negligible(gram: Gram) -> float:
    """How far below zero rounding alone can push an eigenvalue of this matrix."""
    precision = 1e-10 if gram.dtype is np.float64 else 1e-6
    return precision * max(float(np.abs(gram.diagonal()).sum()), np.finfo(float).tiny)
