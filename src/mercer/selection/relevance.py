"""The relevance of columns: a Gaussian width for each, by the marginal likelihood of a Gaussian process.

Problem: maximise over gamma, s and v the density of targets Y (n objects, m of them), whose columns are independent
normal vectors with covariance C = s K + v I + 1, K_ij = exp(-sum_g gamma_g d_g(x_i, x_j)), where d_g is the squared
distance in the columns of group g, and 1 stands for an unknown mean. A normal prior on log gamma keeps each width near
the common one, unless the data indicate otherwise.

Result: gamma. The gradient in gamma_g is a sum of W_ij K_ij d_g(x_i, x_j) with W = m C^-1 - C^-1 Y Y^T C^-1. Since d_g
is a squared distance, the sums over all pairs are matrix products, and a step costs n^3 + n^2 d.

Source: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), sections 5.1 and 5.4.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack
from scipy.optimize import minimize

from mercer._process import single_threaded_blas
from mercer._types import Float64, Indices

_STEPS = 25
"""Steps of the minimiser. The widths that matter settle in the first ten; later steps fit noise."""
_SPREAD = 1.5
"""The deviation of the prior on log gamma: a column may be 4 times as narrow or wide without much evidence."""
_FARTHEST = (-9.0, 5.0)
"""The range of log gamma around the common one: a ten-thousandth leaves a column out, 150 separates neighbours."""
_NOISE = 0.3
"""The initial variance of the noise, as a fraction of that of the targets."""
_JITTER = 1e-6
"""Added to the diagonal of about 1, so that rounding does not make the matrix indefinite."""


def column_widths(X: Float64, groups: Indices, Y: Float64) -> Float64:
    """The gamma of each group of columns; `groups` has the group of each column of `X`, `Y` a row for each of its rows.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> gamma = column_widths(X, np.arange(3), np.sin(2 * X[:, :1]))
    >>> bool(gamma[0] > 20 * gamma[1:].max())
    True
    """
    density = _Density(X, groups, Y)
    many = density.many
    usual = float(np.log(density.usual))
    start = np.concatenate([np.full(many, usual), [0.0, np.log(_NOISE)]])
    # The signal may be 400 times as large or small, the noise from a thousandth to 20 times the variance of targets.
    bounds = [(usual + _FARTHEST[0], usual + _FARTHEST[1])] * many + [(-6.0, 6.0), (-7.0, 3.0)]
    with single_threaded_blas():  # small matrices, for which threads only wait for each other
        found = minimize(density, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _STEPS})
    return np.asarray(np.exp(found.x[:many]))


class _Density:
    """The negative logarithm of the density at logarithms of gamma, s and v, with its gradient."""

    def __init__(self, X: Float64, groups: Indices, Y: Float64) -> None:
        self.many = int(groups.max()) + 1
        self._X, self._groups = X, groups
        centred = Y - Y.mean(axis=0)
        self._Y = centred / (np.sqrt(np.square(centred).mean()) or 1.0)
        squares = np.square(X).sum(axis=1)
        apart = (squares[:, None] + squares - 2.0 * X @ X.T)[np.triu_indices(len(X), 1)]
        self.usual = 1.0 / (float(np.median(apart)) or float(apart.mean()) or 1.0)

    def __call__(self, place: Float64) -> tuple[float, Float64]:
        gamma, (signal, noise) = np.exp(place[: self.many]), np.exp(place[self.many :])
        X, Y, outputs = self._X, self._Y, self._Y.shape[1]
        scaled = X * np.sqrt(gamma)[self._groups]
        squares = np.square(scaled).sum(axis=1)
        K = signal * np.exp(-np.maximum(squares[:, None] + squares - 2.0 * scaled @ scaled.T, 0.0))
        covariance = K + 1.0
        covariance[np.diag_indices(len(X))] += noise + _JITTER
        factor, failed = lapack.dpotrf(covariance, lower=1)
        if failed:
            return 1e10, np.zeros_like(place)
        inverse = _symmetric(lapack.dpotri(factor, lower=1)[0])
        solved = inverse @ Y
        value = 0.5 * float((Y * solved).sum()) + outputs * float(np.log(np.diag(factor)).sum())
        W = outputs * inverse - solved @ solved.T
        by_noise = 0.5 * noise * float(np.trace(W))
        W *= K
        apart = 2.0 * (W.sum(axis=1) @ np.square(X) - np.einsum("ij,ij->j", X, W @ X))
        by_gamma = -0.5 * gamma * np.bincount(self._groups, apart, self.many)
        off = (place[: self.many] - np.log(self.usual)) / _SPREAD
        gradient = np.concatenate([by_gamma + off / _SPREAD, [0.5 * float(W.sum()), by_noise]])
        return value + 0.5 * float(off @ off), gradient


def _symmetric(lower: npt.NDArray[np.float64]) -> Float64:
    """A symmetric matrix from its lower triangle."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)
