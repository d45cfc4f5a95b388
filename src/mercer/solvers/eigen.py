"""The leading eigenvectors of a symmetric operator, from products with blocks of vectors.

Problem   A u = lambda u for the k largest eigenvalues (not the largest in magnitude)
Given     a function that multiplies A by an n x b block: a Gram matrix, centred or scaled by degrees on the way
Result    eigenvalues in falling order, orthonormal eigenvectors, and the residuals |A u - lambda u|
Source    the block Davidson method without preconditioner, which spans the block Krylov space of the residuals: Saad,
          Numerical Methods for Large Eigenvalue Problems (2011), chapter 8

The space grows by the residuals of the wanted eigenvectors, one matrix-matrix product at a time, and is restarted from
its best part when it becomes large. Products may be in single precision; the small problem is solved in double.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.errors import TimeLimitError
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.conjugate_gradients import Product

_NARROWEST = 4
"""Block size: products with fewer vectors are hardly faster, and larger blocks separate close eigenvalues sooner."""
_DEPENDENT = 1e-6
"""A unit vector whose remainder is shorter than this lies in the space, up to single-precision rounding."""
_LARGEST_SPACE = 16
"""Largest space, in blocks; it is then restarted with two. Larger spaces converge in fewer products, each at a higher
cost."""
_MOST_BLOCKS = 500
"""Maximum number of products with a block: a few dozen are usual, and a run that needs more reports that it did not
converge. Chosen, not tuned."""


@final
@dataclass(frozen=True, eq=False)
class Eigen:
    """Eigenpairs, and whether every residual is below the tolerance."""

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

    An iteration is a product with a block of vectors; there is at least one. Limits are checked between iterations.

    >>> A = np.diag([5.0, -9.0, 3.0, 1.0])
    >>> leading(lambda block: A @ block, 4, 2).values.round(6)
    array([5., 3.])
    """
    rng = np.random.default_rng(random_state)
    width = min(max(k, _NARROWEST), n)
    room = min((_LARGEST_SPACE + 1) * width, n + width)
    space, images = np.empty((2, room, n))  # rows are vectors, so that parts of them are contiguous
    small, size = np.empty((room, room)), 0
    products, limits = 0, limits or Limits()
    most = _MOST_BLOCKS if limits.max_iter < 0 else limits.max_iter
    with single_threaded_blas():  # tall and thin matrices gain nothing from more threads, and results stay the same
        fresh = _orthonormal(rng.normal(size=(n, width)).T, space[:0])
        for _ in range(max(most, 1)):
            limits.raise_if_stopped()
            try:
                image = product(fresh.T).T
            except TimeLimitError:
                if not products:
                    raise
                break
            new = slice(size, size + len(fresh))
            size = new.stop
            space[new], images[new] = fresh, image
            products += len(fresh)
            small[:size, new] = space[:size] @ images[new].T
            small[new, :size] = small[:size, new].T
            corner = small[new, new]
            small[new, new] = 0.5 * (corner + corner.T)
            all_values, turns = np.linalg.eigh(small[:size, :size])
            all_values, turns = all_values[::-1], turns.T[::-1]
            values = all_values[:width]
            vectors = turns[:width] @ space[:size]
            residual = turns[:width] @ images[:size] - values[:, None] * vectors
            lengths = np.sqrt(np.einsum("ij,ij->i", residual, residual))
            limit = tol * float(np.abs(all_values).max())
            done = bool((lengths[:k] <= limit).all()) or size >= n
            if done or limits.out_of_time:
                break
            if size + width > _LARGEST_SPACE * width:
                kept = min(2 * width, size)
                space[:kept], images[:kept] = turns[:kept] @ space[:size], turns[:kept] @ images[:size]
                size = kept
                small[:size, :size] = space[:size] @ images[:size].T
            # Vectors that are ten times as accurate as required need no further direction.
            fresh = _orthonormal(residual[lengths > 0.1 * limit], space[:size])
            if not len(fresh):
                break
    return Eigen(values[:k], vectors[:k].T, lengths[:k], done, products)


def _orthonormal(block: Float64, space: Float64) -> Float64:
    """Orthogonalise rows against the space, twice to remove rounding errors, and against each other.

    Dependent rows are dropped.
    """
    out = block / np.maximum(np.sqrt(np.einsum("ij,ij->i", block, block)), np.finfo(float).tiny)[:, None]
    for _ in range(2):
        out = out - (out @ space.T) @ space
        shares, turns = np.linalg.eigh(out @ out.T)
        kept = shares > _DEPENDENT**2  # the squared length of the remainder, in the direction where it is smallest
        out = (turns[:, kept] / np.sqrt(shares[kept])).T @ out
    most = space.shape[1] - len(space)
    return np.asarray(out[-most:] if len(out) > most else out)
