"""The leading eigenvectors of a symmetric operator, from products with blocks of vectors.

Problem   A u = lambda u for the k largest eigenvalues (not the largest in magnitude)
Given     a function that multiplies A by an n x b block: a Gram matrix, centred or scaled by degrees on the way
Result    eigenvalues in falling order, orthonormal eigenvectors, and the residuals |A u - lambda u|
Source    the block Davidson method without preconditioner, which spans the block Krylov space of the residuals: Saad,
          Numerical Methods for Large Eigenvalue Problems (2011), chapter 8

The space is grown by the residuals of what is wanted, a matrix-matrix product at a time, and is cut back to its best
part when it becomes large. Products may be in single precision; the small problem is in double.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.errors import TimeLimitError
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.conjugate_gradients import Product

_NARROWEST = 4
"""Vectors of a block: products with fewer take hardly less time, and more of them find close eigenvalues sooner."""
_DEPENDENT = 1e-6
"""What is left of a unit vector when it lies in a space but for rounding, in single precision."""
_LARGEST_SPACE = 16
"""In blocks; then the space is cut back to two. Larger ones converge in fewer products, but each costs more algebra."""
_MOST_BLOCKS = 500
"""Products with a block, before the method gives up."""


@final
@dataclass(frozen=True, eq=False)
class Eigen:
    """What was found, and whether every residual is below the tolerance."""

    values: Float64
    vectors: Float64
    residuals: Float64
    converged: bool
    products: int
    """The number of vectors multiplied by A."""


def leading(
    product: Product,
    n: int,
    k: int,
    *,
    tol: float = 1e-6,
    random_state: int = 0,
    limits: Limits | None = None,
) -> Eigen:
    """The k leading eigenpairs, with residuals below `tol` times the largest eigenvalue in magnitude.

    An iteration is a product with a block of vectors, of which there is one at least; limits are seen between them.

    >>> A = np.diag([5.0, -9.0, 3.0, 1.0])
    >>> leading(lambda block: A @ block, 4, 2).values.round(6)
    array([5., 3.])
    """
    rng = np.random.default_rng(random_state)
    width = min(max(k, _NARROWEST), n)
    fresh = _orthonormal(rng.normal(size=(n, width)), np.empty((n, 0)))
    space, images = np.empty((n, 0)), np.empty((n, 0))
    products, limits = 0, limits or Limits()
    most = _MOST_BLOCKS if limits.max_iter < 0 else limits.max_iter
    with single_threaded_blas():  # tall and thin matrices gain nothing from more threads, and results stay the same
        for _ in range(max(most, 1)):
            limits.raise_if_stopped()
            try:
                image = product(fresh)
            except TimeLimitError:
                if not products:
                    raise
                break
            space, images = np.hstack([space, fresh]), np.hstack([images, image])
            products += fresh.shape[1]
            small = space.T @ images
            all_values, turns = scipy.linalg.eigh(0.5 * (small + small.T))
            all_values, turns = all_values[::-1], turns[:, ::-1]
            values = all_values[:width]
            vectors = space @ turns[:, :width]
            residual = images @ turns[:, :width] - vectors * values
            lengths = np.linalg.norm(residual, axis=0)
            limit = tol * float(np.abs(all_values).max())
            done = bool((lengths[:k] <= limit).all()) or space.shape[1] >= n
            if done or limits.out_of_time:
                break
            if space.shape[1] + width > _LARGEST_SPACE * width:
                space, images = space @ turns[:, : 2 * width], images @ turns[:, : 2 * width]
            fresh = _orthonormal(residual[:, lengths > 0.1 * limit], space)
            if not fresh.shape[1]:
                break
    return Eigen(values[:k], vectors[:, :k], lengths[:k], done, products)


def _orthonormal(block: Float64, space: Float64) -> Float64:
    """The block made orthogonal to the space, twice for the sake of rounding, and to itself; what is dependent goes."""
    out = block / np.maximum(np.linalg.norm(block, axis=0), np.finfo(float).tiny)
    for _ in range(2):
        out = out - space @ (space.T @ out)
    q, r, _ = scipy.linalg.qr(out, mode="economic", pivoting=True, check_finite=False)
    # The diagonal of r falls; rounding is blown up by one over the smallest entry that is kept.
    independent = int((np.abs(np.diag(r)) > _DEPENDENT).sum())
    return np.asarray(q[:, : min(independent, space.shape[0] - space.shape[1])])
