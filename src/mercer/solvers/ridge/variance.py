"""The uncertainty of kernel ridge regression: the variance of the corresponding Gaussian process.

Problem   v(x) = k(x, x) - k_x' (K + alpha W^-1)^-1 k_x, for new objects x
Given     the Gram matrix K of training objects, or their rows of features Phi with K = Phi Phi'; weights W, alpha
Result    by the matrix, how much of k(x, x) is explained: k_x' W^1/2 (W^1/2 K W^1/2 + alpha)^-1 W^1/2 k_x, which allows
          weights of zero; by features, v itself: alpha phi(x)' (Phi'W Phi + alpha)^-1 phi(x)
Source    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), 2.1 and 2.2

On features nothing is subtracted, so small variances keep their digits, and memory grows with the square of the number
of features. If Phi'W Phi + alpha is nearly singular, as with redundant features and a small alpha, its triangular
factor is computed from the rows themselves, block by block, without squaring their condition number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import scipy.linalg

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.errors import KernelError
from mercer.gram.executors import Threads
from mercer.inputs.vectors import squared_lengths
from mercer.kernels.vectors.features import is_sparse
from mercer.solvers.ridge.direct import weighted
from mercer.solvers.weights.row_products import rows_of

_BLOCK = 2**21
"""Entries of rows made dense at a time: 16 MiB."""
_FULL = 8
"""Sparse rows are multiplied as dense ones if more than one in eight of their entries is nonzero."""
_CONDITION = 1e-9
"""Below this reciprocal condition number, small variances lose too many digits: the slower triangular factor is
used."""
_INDEFINITE = 1e-8
"""Negative eigenvalues larger than this fraction of the largest are not rounding errors."""
_QUIET: dict[str, Any] = {"over": "ignore", "invalid": "ignore", "under": "ignore"}


def explaining(K: Float64, weights: Float64, alpha: float) -> Callable[[Float64], Float64]:
    """A function from kernel values between new objects (rows) and training objects to the variance that they
    explain."""
    root = np.sqrt(weights)[:, None]
    try:
        factor = scipy.linalg.cholesky(weighted(K, root, alpha).T, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:  # alpha is too small for K: rounding errors explain nothing
        values, vectors = scipy.linalg.eigh(weighted(K, root), overwrite_a=True, check_finite=False)
        largest = float(np.abs(values).max())
        if values[0] < -_INDEFINITE * largest:
            raise KernelError(
                f"A Gram matrix with an eigenvalue of about {values[0]:.3g} is not a covariance, even with "
                f"alpha = {alpha:g}: it has no standard deviation. Use a positive semi-definite kernel, or raise alpha."
            ) from None
        seen = values > len(K) * np.finfo(np.float64).eps * largest
        whitening = (vectors[:, seen] / np.sqrt(values[seen] + alpha)).T
        return lambda across: np.asarray(np.square(whitening @ (root * across.T)).sum(axis=0))

    def explained(across: Float64) -> Float64:
        half = scipy.linalg.solve_triangular(factor, root * across.T, lower=True, check_finite=False)
        return np.asarray(np.square(half).sum(axis=0))

    return explained


@final
@dataclass(frozen=True, eq=False)
class Scatter:
    """The scatter matrix of the training rows: all that variances need of them.

    >>> scatter = Scatter.of(np.array([[1.0], [2.0]]), np.ones(2), 1.0)
    >>> scatter.variances(np.array([[0.0], [6.0]]), 1.0).round(9).tolist()
    [0.0, 6.0]
    """

    matrix: Float64
    """Phi'W Phi in the lower triangle ..."""
    triangular: bool
    """... or the upper triangle R with R'R equal to it."""

    @classmethod
    def of(cls, rows: Any, weights: Float64, alpha: float) -> Self:
        """From rows, dense or CSR with ascending columns; `alpha` is the smallest value that will be used."""
        root = np.sqrt(weights)
        with single_threaded_blas(), np.errstate(**_QUIET):
            normal = _normal(rows, root)
            if _factor(normal, alpha)[1] > _CONDITION:
                return cls(normal, triangular=False)
            return cls(_triangle(rows, root), triangular=True)

    def variances(self, rows: Any, alpha: float) -> Float64:
        """alpha phi' (Phi'W Phi + alpha)^-1 phi for each of these rows."""
        with single_threaded_blas(), np.errstate(**_QUIET):
            factor = _augmented(self.matrix, alpha) if self.triangular else _factor(self.matrix, alpha)[0]
        out = squared_lengths(rows)

        def work(block: slice) -> None:
            with np.errstate(**_QUIET):  # one per thread
                half = scipy.linalg.solve_triangular(factor, _dense(rows[block]).T, trans="T", check_finite=False)
                found = np.square(np.sqrt(alpha) * half).sum(axis=0)
            out[block] = np.fmin(found, out[block])  # training never increases the variance

        Threads().each(work, list(_blocks(rows)))
        return out


def _blocks(rows: Any) -> Iterator[slice]:
    n, d = rows.shape
    step = max(64, _BLOCK // max(1, d))
    yield from (slice(start, min(start + step, n)) for start in range(0, n, step))


def _dense(rows: Any) -> Float64:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)


def _normal(rows: Any, root: Float64) -> Float64:
    """Phi'W Phi, in the lower triangle at least."""
    d = rows.shape[1]
    normal = np.zeros((d, d))
    for block in _blocks(rows):
        part = rows[block]
        if is_sparse(part) and _FULL * part.nnz < part.shape[0] * d:
            rows_of(part).add_normal(slice(0, part.shape[0]), np.square(root[block]), normal)
        else:
            half = root[block, None] * _dense(part)
            normal += half.T @ half
    return normal


def _factor(normal: Float64, alpha: float) -> tuple[Float64, float]:
    """The upper triangle R with R'R = normal + alpha, and its reciprocal condition number: 1 at best, 0 if singular."""
    scale = np.sqrt(np.diagonal(normal) + alpha)
    system = normal / scale[:, None] / scale  # scaled, so features of any size keep their digits
    np.fill_diagonal(system, 1.0)
    below = np.abs(np.tril(system, -1))
    size = 1.0 + float((below.sum(axis=0) + below.sum(axis=1)).max())
    factor, failed = scipy.linalg.lapack.dpotrf(system.T, lower=False, clean=True, overwrite_a=True)
    if failed or not np.isfinite(scale).all():
        return np.zeros_like(normal), 0.0
    condition, _ = scipy.linalg.lapack.dpocon(factor, size, uplo="U")
    return np.asarray(factor * scale), float(condition)


def _triangle(rows: Any, root: Float64) -> Float64:
    """The upper triangle R with R'R = Phi'W Phi, without that product."""
    d = rows.shape[1]
    triangle = np.zeros((d, d))
    for block in _blocks(rows):
        triangle = _triangle_of(np.vstack([triangle, root[block, None] * _dense(rows[block])]))
    return triangle


def _augmented(triangle: Float64, alpha: float) -> Float64:
    """The upper triangle whose square is that of `triangle` plus alpha."""
    found = _triangle_of(np.vstack([triangle, np.sqrt(alpha) * np.eye(len(triangle))]))
    diagonal = np.diagonal(found)
    least = np.sqrt(alpha)  # in exact arithmetic; rounding must not make it zero
    np.fill_diagonal(found, np.where(np.abs(diagonal) < least, least, diagonal))
    return found


def _triangle_of(matrix: Float64) -> Float64:
    (found,) = scipy.linalg.qr(matrix, mode="r", overwrite_a=True, check_finite=False)
    return np.asarray(found[: matrix.shape[1]])
