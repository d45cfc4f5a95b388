"""Kernel ridge regression on the weights of features.

Problem   minimise  sum_i w_i (y_i - <v, x_i> - c)^2 + alpha |v|^2
Given     rows x_i, dense or CSR, targets y (several columns at once), weights w, alpha for each column
Result    b_i = w_i (y_i - <v, x_i> - c) / alpha, with v = sum_i b_i x_i, and c: what `ridge` finds on the Gram matrix
Source    the normal equations; conjugate gradients preconditioned by their diagonal

Few objects of many features are solved on their dot products. Up to about two thousand features the normal matrix is
formed and factored, once for all columns that share alpha; with more, conjugate gradients run on all columns at once.
An intercept is the mean that centring takes out. The machine is that of b, which may be large beside the weights that
it adds up to: where rounding is felt, b is changed a little until it does, and where alpha is lost, the smallest b that
does is taken and a warning given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.gram.executors import single_threaded_blas
from mercer.solvers.ridge import direct
from mercer.solvers.ridge.direct import RidgeSolution, warn_of_lost_alpha
from mercer.solvers.weights.row_products import rows_of

MOST_FEATURES = 2000
_RESIDUAL = 1e-10
_MOST_STEPS = 5000
_REFINEMENTS = 4
_LESS = 0.5
_PIECE = 512
_AMISS = 1e-6
"""How far outputs may be off, as a share of the targets, before coefficients are mended ..."""
_SPOILT = 1e-2
"""... and given up."""


def solve(rows: Any, y: Float64, alpha: Float64, weights: Float64, *, intercept: bool) -> RidgeSolution:
    """Solve for each output with its own alpha."""
    n, d = rows.shape
    if n < d and n <= MOST_FEATURES:  # few objects of many features: their dot products are the smaller matrix
        products = rows @ rows.T
        K = np.asarray(products.toarray() if hasattr(products, "toarray") else products, dtype=np.float64)
        return direct.solve(K, y, alpha, weights, intercept=intercept)
    mean = weighted_mean(rows, weights) if intercept else np.zeros(rows.shape[1])
    middle = weighted_mean(y, weights) if intercept else np.zeros(y.shape[1])
    centred = Centred(rows, mean, weights)
    targets, scale = y - middle, weights[:, None]
    with single_threaded_blas():
        right = centred.combination(scale * targets)
        normal = centred.normal() if d <= MOST_FEATURES else None
        found = (
            _conjugate_gradients(centred, right, alpha) if normal is None else _directly(centred, normal, right, alpha)
        )
        wanted = centred.outputs(found)
        b = scale * (targets - wanted) / alpha
        if intercept:  # beside a large mean it matters much that they add up to nothing
            b -= scale * (b.sum(axis=0) / max(float(weights.sum()), np.finfo(float).tiny))
        constant = middle - mean @ found

        def amiss(b: Float64) -> Float64:
            """How far the machine, which is that of b, is from the weights: as a share of the targets."""
            off = np.abs(rows @ (rows.T @ b) + constant - middle - wanted).max(axis=0, initial=0.0)
            return np.asarray(off / np.maximum(np.abs(targets).max(axis=0, initial=0.0), _AMISS))

        off = amiss(b)
        if normal is not None and not (off <= _AMISS).all():
            inverse = pseudo_inverse(normal)  # of weights: the smallest coefficients that add up to them
            mended = b + scale * centred.outputs(inverse @ (found - centred.combination(b)))
            b = np.where(amiss(mended) < off, mended, b)
            smallest, off = scale * centred.outputs(inverse @ found), amiss(b)
            b = np.where((off > _SPOILT) & (amiss(smallest) < off), smallest, b)
        if not (off <= _SPOILT).all():
            warn_of_lost_alpha("The machine may be off, and its certificate says by how much; raise alpha.")
    return RidgeSolution(b, constant)


def _directly(centred: Centred, normal: Float64, right: Float64, alpha: Float64) -> Float64:
    """By the normal matrix, and then for what rounding left, which is much where that is badly conditioned."""
    found = np.empty_like(right)
    for value in np.unique(alpha):
        columns = alpha == value
        inverse_times = _inverse(normal, float(value))
        best = inverse_times(right[:, columns])
        left = right[:, columns] - centred.weighted(best) - value * best
        for _ in range(_REFINEMENTS):
            better = best + inverse_times(left)
            still = right[:, columns] - centred.weighted(better) - value * better
            if not np.abs(still).max(initial=0.0) < _LESS * np.abs(left).max(initial=0.0):
                break
            best, left = better, still
        found[:, columns] = best
    return found


def _inverse(normal: Float64, alpha: float) -> Callable[[Float64], Float64]:
    """(normal + alpha I)^-1 times some columns, where eigenvalues that rounding made negative count as zero."""
    system = normal.copy()
    system.flat[:: len(system) + 1] += alpha
    try:
        factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return lambda right: np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
    except scipy.linalg.LinAlgError:  # alpha is lost beside features of a vast scale
        values, vectors = scipy.linalg.eigh(normal, check_finite=False)
        divisors = (np.maximum(values, 0.0) + alpha)[:, None]
        return lambda right: np.asarray(vectors @ ((vectors.T @ right) / divisors))


def pseudo_inverse(normal: Float64) -> Float64:
    """Without the directions that rounding made up."""
    values, vectors = scipy.linalg.eigh(normal, check_finite=False)
    seen = values > len(values) * np.finfo(np.float64).eps * values.max(initial=0.0)
    return np.asarray((vectors[:, seen] / values[seen]) @ vectors[:, seen].T)


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
        if self._mean.any() and not hasattr(self._rows, "indptr"):
            rows.each(lambda number: self._add_centred(rows.blocks[number], parts[number]))
            return np.asarray(parts.sum(axis=0))
        rows.each(
            lambda number: rows.add_normal(rows.blocks[number], self._weights[rows.blocks[number]], parts[number])
        )
        lower = np.tril(parts.sum(axis=0))
        full = lower + np.tril(lower, -1).T
        return np.asarray(full - self._weights.sum() * np.outer(self._mean, self._mean))

    def _add_centred(self, block: slice, out: Float64) -> None:
        """Row by row: beside a large mean, nothing would be left of what they differ by after its square is taken."""
        for start in range(block.start, block.stop, _PIECE):
            part = slice(start, min(start + _PIECE, block.stop))
            half = np.sqrt(self._weights[part, None]) * (self._rows[part] - self._mean)
            out += half.T @ half

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
