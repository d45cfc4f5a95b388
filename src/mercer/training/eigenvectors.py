"""Leading eigenvectors by the cheaper method."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mercer import _deadline, _speed
from mercer._process import decomposing
from mercer._types import Float64
from mercer.gram import cost
from mercer.solvers.eigen import leading
from mercer.solvers.numerics.conjugate_gradients import Product
from mercer.training.kernel_estimator import limits_of

PRODUCTS = 30.0
"""The typical number of block products for a few leading eigenvectors; used only to estimate costs."""


def leading_eigen(
    estimator: Any, product: Product, dense: Callable[[], Float64], n: int, k: int
) -> tuple[Float64, Float64]:
    """The k leading eigenvalues and eigenvectors by the cheaper method; the largest entry of a vector is positive.

    `tol`, `random_state` and limits are taken from the estimator.
    """
    if by_decomposition(n, k):
        _deadline.refuse_decomposition(n, _speed.EIGENVECTORS)
        with decomposing(n):
            values, vectors = scipy.linalg.eigh(dense(), subset_by_index=(n - k, n - 1), check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        tol, limits = float(estimator.tol), limits_of(estimator)
        found = leading(product, n, k, tol=tol, random_state=seed_of(estimator.random_state), limits=limits)
        values, vectors = found.values, found.vectors
        if not found.converged:
            worst = found.residuals.max() / abs(values[0])
            warnings.warn(
                f"{type(estimator).__name__} did not converge: a residual is {worst:.2g}, tol is {tol:g}. "
                "Ask for fewer components, use a wider kernel, or raise tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
    return values, vectors * signs_of_columns(vectors)


def by_decomposition(n: int, k: int) -> bool:
    """Whether LAPACK computes k eigenvectors at no higher cost than iteration."""
    return k > n // 10 or cost.of_some_eigenvectors(n) <= cost.of_leading_eigenvectors(n)


def signs_of_columns(vectors: Float64) -> Float64:
    """The sign of the largest entry of each column; multiplied by it, vectors do not depend on the LAPACK in use."""
    top = np.abs(vectors).argmax(axis=0)
    return np.where(vectors[top, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def seed_of(random_state: Any) -> int:
    """A seed for NumPy's generators from any random state that scikit-learn accepts."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
