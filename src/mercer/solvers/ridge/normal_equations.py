"""Kernel ridge regression on the weights of features.

Problem   minimise  sum_i w_i (y_i - <v, x_i> - c)^2 + alpha |v|^2
Given     rows x_i, dense or CSR, targets y (several columns at once), weights w, alpha for each column
Result    b_i = w_i (y_i - <v, x_i> - c) / alpha, with v = sum_i b_i x_i, and c: as `direct` finds on the Gram matrix
Source    the normal equations; conjugate gradients preconditioned by their diagonal

Few objects of many features are solved on their dot products. Up to about two thousand features the normal matrix is
formed and factored, once for all columns that share alpha; with more, conjugate gradients run on all columns at once.
An intercept is the mean that centring takes out. The result is b, whose entries may be much larger than the weights v =
sum_i b_i x_i. If rounding errors are noticeable, b is corrected so that it gives v; if alpha is too small for floating
point, the smallest such b is returned, with a warning.

Limits stop conjugate gradients between products, and factorisations between alphas. Time limits stop only conjugate
gradients: an unfinished factorisation is useless.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients
from mercer.solvers.numerics.symmetric import pseudo_inverse
from mercer.solvers.ridge import direct
from mercer.solvers.ridge.centred_rows import CentredRows, weighted_mean
from mercer.solvers.ridge.direct import RidgeSolution, warn_of_lost_alpha

MOST_FEATURES = 2000
"""Up to this many, forming and factoring a matrix over features takes about as long as conjugate gradients, and is more
exact."""
_RESIDUAL = 1e-10
"""Relative residual at which conjugate gradients stop: far below the noise of any targets."""
_MOST_PRODUCTS = 5000
"""Maximum number of iterations: no system that floating point can solve needs more."""
_REFINEMENTS = 4
"""Steps of iterative refinement: each must at least halve the residual, and the second rarely does."""
_AMISS = 1e-6
"""The error of outputs, relative to the targets, above which coefficients are corrected ..."""
_SPOILT = 1e-2
"""... and above which they are replaced."""


def solve(
    rows: Any, y: Float64, alpha: Float64, weights: Float64, *, intercept: bool, limits: Limits | None = None
) -> RidgeSolution:
    """Solve for each output with its own alpha."""
    n, d = rows.shape
    limits = limits or Limits()
    if n < d and n <= MOST_FEATURES:  # few objects of many features: their dot products are the smaller matrix
        products = rows @ rows.T
        K = np.asarray(products.toarray() if hasattr(products, "toarray") else products, dtype=np.float64)
        return direct.solve(K, y, alpha, weights, intercept=intercept, limits=limits)
    centred = CentredRows(rows, weights, intercept=intercept)
    middle = weighted_mean(y, weights) if intercept else np.zeros(y.shape[1])
    targets, scale = y - middle, weights[:, None]
    with single_threaded_blas():
        right = centred.combination(scale * targets)
        normal = centred.normal() if d <= MOST_FEATURES else None
        if normal is None:
            v = _iteratively(centred, right, alpha, limits)
        else:
            v = _directly(centred, normal, right, alpha, limits)
        outputs = centred.outputs(v)
        b = scale * (targets - outputs) / alpha
        if intercept:  # with a large mean, even a small sum of b would shift the outputs
            b -= scale * (b.sum(axis=0) / max(float(weights.sum()), np.finfo(float).tiny))
        constant = middle - centred.mean @ v

        def difference(b: Float64) -> Float64:
            """The distance between the outputs of b and those of the weights, relative to the targets."""
            off = np.abs(rows @ (rows.T @ b) + constant - middle - outputs).max(axis=0, initial=0.0)
            return np.asarray(off / np.maximum(np.abs(targets).max(axis=0, initial=0.0), _AMISS))

        off = difference(b)
        if normal is not None and not (off <= _AMISS).all():
            inverse = pseudo_inverse(normal)  # the smallest coefficients that give the weights
            corrected = b + scale * centred.outputs(inverse @ (v - centred.combination(b)))
            b = np.where(difference(corrected) < off, corrected, b)
            smallest, off = scale * centred.outputs(inverse @ v), difference(b)
            b = np.where((off > _SPOILT) & (difference(smallest) < off), smallest, b)
        if not (off <= _SPOILT).all():
            warn_of_lost_alpha("The machine may be off, and its certificate says by how much; raise alpha.")
    return RidgeSolution(b, constant)


def _directly(centred: CentredRows, normal: Float64, right: Float64, alpha: Float64, limits: Limits) -> Float64:
    """By the normal matrix, then refined: rounding errors are large if it is badly conditioned."""
    found = np.empty_like(right)
    for value in np.unique(alpha):
        limits.raise_if_stopped()
        columns = alpha == value
        inverse_times = _inverse(normal, float(value))
        best = inverse_times(right[:, columns])
        left = right[:, columns] - centred.weighted(best) - value * best
        for _ in range(_REFINEMENTS):
            better = best + inverse_times(left)
            still = right[:, columns] - centred.weighted(better) - value * better
            if not np.abs(still).max(initial=0.0) < 0.5 * np.abs(left).max(initial=0.0):
                break
            best, left = better, still
        found[:, columns] = best
    return found


def _inverse(normal: Float64, alpha: float) -> Callable[[Float64], Float64]:
    """(normal + alpha I)^-1 times some columns, with eigenvalues that rounding made negative counted as zero."""
    system = normal.copy()
    system.flat[:: len(system) + 1] += alpha
    try:
        factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return lambda right: np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
    except scipy.linalg.LinAlgError:  # alpha is too small for features of this scale
        values, vectors = scipy.linalg.eigh(normal, check_finite=False)
        divisors = (np.maximum(values, 0.0) + alpha)[:, None]
        return lambda right: np.asarray(vectors @ ((vectors.T @ right) / divisors))


def _iteratively(centred: CentredRows, right: Float64, alpha: Float64, limits: Limits) -> Float64:
    """By conjugate gradients, on all columns at once."""
    scale = centred.diagonal()[:, None] + alpha
    goal = _RESIDUAL * np.linalg.norm(right, axis=0)
    system = ConjugateGradients(
        lambda v: centred.weighted(v) + alpha * v, lambda residual: residual / scale, right, by_column=True
    )
    while system.products < _MOST_PRODUCTS and not (np.linalg.norm(system.residual, axis=0) <= goal).all():
        limits.raise_if_stopped()
        if limits.out_of_time or system.exhausted:
            break
        system.step()
    return system.x
