"""The smallest eigenvalue of a Gram matrix: negative means that no feature space has such inner products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from mercer import _deadline, _speed
from mercer._process import decomposing, single_threaded_blas
from mercer._types import Float64
from mercer.gram import cost
from mercer.gram.contract import Gram

_EIGENVALUES = 4.0
"""The cost of one eigenvalue of a whole matrix, relative to a Cholesky factor."""
_STEP = 40_000.0
"""The Python overhead of a Lanczos step, in the units of the cost model."""
FACTORED = 4096
"""Up to this size a Cholesky factor, which takes about a second and 128 MiB, is worth its certainty."""
STEPS = 32
"""Lanczos steps, each a product with the matrix. More of them find eigenvalues nearer to zero."""
_RESTARTS = 20
"""The most restarts of ARPACK, each of some twenty products; then its answer is used as it is."""


def smallest_eigenvalue(gram: Gram) -> float:
    """Exact for small matrices. For larger ones an upper bound, by Lanczos's method: a negative one is a proof.

    Up to some thousand objects, a Cholesky factor of the matrix, with an allowance for rounding on the diagonal,
    decides whether to look further: if there is one, the answer is zero.

    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> smallest_eigenvalue(gram_of(kernels.Precomputed().fit([[1.0, 2.0], [2.0, 1.0]]), [[1.0, 2.0], [2.0, 1.0]]))
    -1.0
    """
    n = gram.shape[0]
    if directly(n):
        _deadline.refuse_decomposition(n, _speed.EIGENVALUES)
        with decomposing(n):
            return float(scipy.linalg.eigvalsh(gram.exact(), subset_by_index=(0, 0), check_finite=False)[0])
    if n <= FACTORED and _has_factor(gram):
        return 0.0
    with single_threaded_blas():  # once: entering it for each product would cost more than the product
        lowest = _lowest_ritz_value(gram)
    if n <= FACTORED and lowest >= -negligible(gram):  # too small for Lanczos steps to find
        _deadline.refuse_decomposition(n, _speed.EIGENVALUES)
        return float(scipy.linalg.eigvalsh(gram.exact(), subset_by_index=(0, 0))[0])
    return lowest


def directly(n: int) -> bool:
    """Whether an eigenvalue of the whole matrix costs less than a factor and Lanczos steps after it."""
    return _EIGENVALUES * cost.of_factor(n) <= cost.of_factor(n) + STEPS * of_product(n)


def of_product(n: int) -> float:
    """The cost of a Lanczos step."""
    return n * n * cost.READ + _STEP


def _has_factor(gram: Gram) -> bool:
    matrix = gram.exact().copy()
    _deadline.refuse_decomposition(len(matrix), _speed.CHOLESKY)
    matrix.flat[:: len(matrix) + 1] += negligible(gram)
    with decomposing(len(matrix)):
        # LAPACK counts by columns, which are rows here, so nothing is copied; nobody needs the other half cleared.
        failed = scipy.linalg.lapack.dpotrf(matrix.T, lower=True, clean=False, overwrite_a=True)[1]
    return not failed


def _lowest_ritz_value(gram: Gram) -> float:
    return float(lanczos(gram.matvec, np.random.default_rng(0).normal(size=gram.shape[0]), STEPS)[0][0])


def lanczos(product: Callable[[Float64], Float64], start: Float64, steps: int) -> tuple[Float64, Float64]:
    """Ascending Ritz values and their vectors on the Krylov space of `start`, every step orthogonal to all before."""
    n = len(start)
    basis = np.empty((min(steps, n), n))
    basis[0] = start / np.linalg.norm(start)
    diagonal: list[float] = []
    beside: list[float] = []
    for k in range(len(basis)):
        step = product(basis[k])
        diagonal.append(float(basis[k] @ step))
        for _ in range(2):
            step -= basis[: k + 1].T @ (basis[: k + 1] @ step)
        length = float(np.linalg.norm(step))
        if k + 1 == len(basis) or length <= np.finfo(float).eps * max(abs(value) for value in diagonal):
            break
        beside.append(length)
        basis[k + 1] = step / length
    values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside)
    return np.asarray(values, dtype=np.float64), np.asarray(basis[: len(diagonal)].T @ vectors)


def negligible(gram: Gram) -> float:
    """How far below zero rounding alone can push an eigenvalue of this matrix."""
    precision = 1e-10 if gram.dtype is np.float64 else 1e-6
    return precision * max(float(np.abs(gram.diagonal()).sum()), np.finfo(float).tiny)


def lowest_pair(
    product: Callable[[Float64], Float64], n: int, rng: np.random.Generator
) -> tuple[float, Float64, float]:
    """The lowest Ritz value of a symmetric matrix with its unit vector, and the largest, from products alone.

    Both values lie between the extreme eigenvalues, so a negative one is a proof.
    """
    operator = LinearOperator((n, n), matvec=lambda v: product(np.ravel(v)), dtype=np.float64)
    highest = _ritz(operator, "LA", rng.normal(size=n))[0]
    value, vector = _ritz(operator, "SA", rng.normal(size=n))
    return value, vector, highest


def lowest_values(product: Callable[[Float64], Float64], n: int, count: int, rng: np.random.Generator) -> Float64:
    """The `count` lowest eigenvalues of a symmetric matrix, in ascending order, from products alone.

    Those on which Lanczos iterations did not converge in time are 0.
    """
    operator = LinearOperator((n, n), matvec=lambda v: product(np.ravel(v)), dtype=np.float64)
    count = min(count, n - 1)
    found: Any
    try:
        found = eigsh(
            operator, k=count, which="SA", v0=rng.normal(size=n), maxiter=_RESTARTS, tol=1e-3, return_eigenvectors=False
        )
    except ArpackNoConvergence as unfinished:
        found = unfinished.eigenvalues
    values = np.zeros(count)
    values[: len(found)] = np.sort(found)
    return values


def _ritz(operator: LinearOperator, which: Literal["LA", "SA"], start: Float64) -> tuple[float, Float64]:
    try:
        values, vectors = eigsh(operator, k=1, which=which, v0=start, maxiter=_RESTARTS, tol=1e-3)
        return float(values[0]), np.asarray(vectors[:, 0])
    except ArpackNoConvergence as unfinished:
        if len(unfinished.eigenvalues):
            return float(unfinished.eigenvalues[0]), np.asarray(unfinished.eigenvectors[:, 0])
    # Nothing has converged: a few plain steps still give a value that is attained.
    values, vectors = lanczos(operator.matvec, start, STEPS)
    place = -1 if which == "LA" else 0
    return float(values[place]), np.asarray(vectors[:, place])
