"""Kernel ridge regression on the weights of features.

Problem   minimise  sum_i w_i (y_i - <v, x_i> - c)^2 + alpha |v|^2
Given     rows x_i, dense or CSR, targets y (several columns at once), weights w, alpha for each column
Result    b_i = w_i (y_i - <v, x_i> - c) / alpha, with v = sum_i b_i x_i, and c: what `ridge` finds on the Gram matrix
Source    the normal equations; conjugate gradients preconditioned by their diagonal

Few objects of many features are solved on their dot products. Up to about two thousand features the normal matrix is
formed and factored, once for all columns that share alpha; with more, conjugate gradients run on all columns at once.
An intercept is the mean that centring takes out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.gram.executors import single_threaded_blas
from mercer.solvers import ridge
from mercer.solvers.ridge import RidgeSolution
from mercer.solvers.rows import rows_of

Float64 = npt.NDArray[np.float64]

MOST_FEATURES = 2000
_RESIDUAL = 1e-10
_MOST_STEPS = 5000


def solve(rows: Any, y: Float64, alpha: Float64, weights: Float64, *, intercept: bool) -> RidgeSolution:
    """Solve for each output with its own alpha."""
    n, d = rows.shape
    if n < d and n <= MOST_FEATURES:  # few objects of many features: their dot products are the smaller matrix
        products = rows @ rows.T
        K = np.asarray(products.toarray() if hasattr(products, "toarray") else products, dtype=np.float64)
        return ridge.solve(K, y, alpha, weights, intercept=intercept)
    mean = weighted_mean(rows, weights) if intercept else np.zeros(rows.shape[1])
    middle = weighted_mean(y, weights) if intercept else np.zeros(y.shape[1])
    centred = Centred(rows, mean, weights)
    right = centred.combination(weights[:, None] * (y - middle))
    found = np.empty_like(right)
    with single_threaded_blas():
        if d <= MOST_FEATURES:
            normal = centred.normal()
            for value in np.unique(alpha):
                columns = alpha == value
                found[:, columns] = _inverse_times(normal, float(value), right[:, columns])
        else:
            found = _conjugate_gradients(centred, right, alpha)
        residual = y - middle - centred.outputs(found)
    return RidgeSolution(weights[:, None] * residual / alpha, middle - mean @ found)


def _inverse_times(normal: Float64, alpha: float, right: Float64) -> Float64:
    """(normal + alpha I)^-1 right, where eigenvalues that rounding made negative count as zero."""
    system = normal.copy()
    system.flat[:: len(system) + 1] += alpha
    try:
        factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
    except scipy.linalg.LinAlgError:  # alpha is lost beside features of a vast scale
        values, vectors = scipy.linalg.eigh(normal, check_finite=False)
        return np.asarray(vectors @ ((vectors.T @ right) / (np.maximum(values, 0.0) + alpha)[:, None]))


def weighted_mean(rows: Any, weights: Float64) -> Float64:
    """The mean of rows, dense or CSR."""
    return np.asarray(rows.T @ weights, dtype=np.float64) / max(float(weights.sum()), np.finfo(float).tiny)


class Centred:
    """Products with rows from which their weighted mean is taken, without writing that down."""

    def __init__(self, rows: Any, mean: Float64, weights: Float64) -> None:
        self._rows, self._mean, self._weights = rows, mean, weights

    def outputs(self, v: Float64) -> Float64:
        return np.asarray(self._rows @ v, dtype=np.float64) - self._mean @ v

    def combination(self, b: Float64) -> Float64:
        return np.asarray(self._rows.T @ b, dtype=np.float64) - np.outer(self._mean, b.sum(axis=0))

    def normal(self) -> Float64:
        """X' W X of the centred rows, full."""
        rows = rows_of(self._rows)
        parts = np.zeros((len(rows.blocks), rows.shape[1], rows.shape[1]))
        rows.each(
            lambda number: rows.add_normal(rows.blocks[number], self._weights[rows.blocks[number]], parts[number])
        )
        lower = np.tril(parts.sum(axis=0))
        full = lower + np.tril(lower, -1).T
        return np.asarray(full - self._weights.sum() * np.outer(self._mean, self._mean))

    def diagonal(self) -> Float64:
        squares = rows_of(self._rows).squares(self._weights) - self._weights.sum() * self._mean**2
        return np.asarray(np.maximum(squares, 0.0))

    def weighted(self, v: Float64) -> Float64:
        """X' W X v."""
        return self.combination(self._weights[:, None] * self.outputs(v))


def _conjugate_gradients(products: Centred, right: Float64, alpha: Float64) -> Float64:
    scale = products.diagonal()[:, None] + alpha
    found = np.zeros_like(right)
    residual = right.copy()
    z = residual / scale
    p, rz = z, (residual * z).sum(axis=0)
    goal = _RESIDUAL * np.sqrt((right * right).sum(axis=0))
    for _ in range(_MOST_STEPS):
        if (np.sqrt((residual * residual).sum(axis=0)) <= goal).all():
            break
        image = products.weighted(p) + alpha * p
        curvature = (p * image).sum(axis=0)
        size = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0)
        found += size * p
        residual -= size * image
        z = residual / scale
        before, rz = rz, (residual * z).sum(axis=0)
        p = z + np.divide(rz, before, out=np.zeros_like(rz), where=before > 0) * p
    return found
