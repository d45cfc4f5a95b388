"""Kernel ridge regression, directly.

Problem   minimise  sum_i w_i (y_i - f(x_i))^2 + alpha |w|^2  over  f(x) = sum_i b_i k(x_i, x) + c
Given     a Gram matrix K, targets y (several columns at once), weights w, alpha for each column
Result    b and c, from (K + alpha W^-1) b = y - c 1 with sum(b) = 0; without intercept c = 0
Source    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), 7.3; the leave-one-out residual
          b_i / (G^-1)_ii and its block form are the classical partitioned-inverse identity

For one alpha a Cholesky factorisation; for a path of alphas one reduction of K serves all of them, their leave-one-out
and their k-fold residuals: to a band (see `band`), or by eigenvectors where alphas are many or K + alpha I is not
positive definite.

Every method can be stopped through its limits, between alphas, and within the reduction to a band. A Cholesky
factorisation and an eigendecomposition are single calls of LAPACK and run to their end. A partial result is useless, so
work that would end after the time limit is refused before it begins.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import scipy.linalg

from mercer import _deadline, _speed
from mercer._cached import cached_property
from mercer._process import decomposing
from mercer._types import Float64
from mercer.errors import KernelWarning
from mercer.gram import pages
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.symmetric import significant_eigen
from mercer.solvers.ridge.band import BandForm, UseBlock

_RESIDUAL = 1e-6
"""The relative residual above which a solution is rejected: far above rounding errors of well-conditioned systems, far
below the noise of targets."""
_ROWS_PER_ALPHA = 64
"""An eigendecomposition takes longer than a band form, but less per alpha: it pays off with fewer rows per alpha than
this."""


@final
@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """Coefficients (objects x outputs) and an intercept for each output."""

    coefficients: Float64
    intercept: Float64


def solve(
    K: Float64, y: Float64, alpha: Float64, weights: Float64, *, intercept: bool, limits: Limits | None = None
) -> RidgeSolution:
    """Solve for each output with its own alpha; outputs that share one share its factorisation."""
    coefficients, constants = np.empty_like(y), np.zeros(y.shape[1])
    limits = limits or Limits()
    for value in np.unique(alpha):
        limits.raise_if_stopped()
        columns = alpha == value
        right = y[:, columns]
        if not intercept:
            coefficients[:, columns] = _solve_one(K, right, float(value), weights)
            continue
        both = _solve_one(K, np.column_stack([right, np.ones(len(y))]), float(value), weights)
        b, ones = both[:, :-1], both[:, -1:]
        constants[columns] = b.sum(axis=0) / ones.sum()
        coefficients[:, columns] = b - ones * constants[columns]
    return RidgeSolution(coefficients, constants)


def _solve_one(K: Float64, right: Float64, alpha: float, weights: Float64) -> Float64:
    root = np.sqrt(weights)[:, None]
    right = root * right
    _deadline.refuse_decomposition(len(K), _speed.CHOLESKY)
    try:
        # The transpose of a symmetric matrix is itself, in the order of LAPACK, which then needs no copy.
        system = weighted(K, root, alpha).T
        with decomposing(len(K)):
            factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
            solved = np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
        error = root * (K @ (root * solved)) + alpha * solved - right
        if np.abs(error).max() <= _RESIDUAL * np.abs(right).max(initial=_RESIDUAL):
            return root * solved
    except scipy.linalg.LinAlgError:
        pass
    warn_of_lost_alpha("Directions without curvature are left out; raise alpha.")
    values, vectors = significant_eigen(weighted(K, root, alpha))
    return root * (vectors @ ((vectors.T @ right) / values[:, None]))


def warn_of_lost_alpha(remedy: str) -> None:
    """Warn that alpha was too small to be used as given."""
    warnings.warn(
        "K + alpha I cannot be inverted in floating point: alpha is too small for this kernel, or the kernel is "
        f"indefinite. {remedy}",
        KernelWarning,
        stacklevel=6,
    )


def weighted(K: Float64, root: Float64, alpha: float = 0.0) -> Float64:
    """W^1/2 K W^1/2 + alpha I, as a matrix of its own."""
    weighted = pages.empty(K.shape, np.float64)
    np.multiply(K, root, out=weighted)
    weighted *= root.T
    weighted.flat[:: len(K) + 1] += alpha
    return weighted


@final
@dataclass(frozen=True, eq=False)
class EigenForm:
    """K = U S U', with negative eigenvalues set to zero."""

    values: Float64
    vectors: Float64

    @classmethod
    def of(cls, matrix: Float64) -> Self:
        """Decompose a symmetric matrix, which is overwritten."""
        _deadline.refuse_decomposition(len(matrix), _speed.EIGENVECTORS)
        with decomposing(len(matrix)):
            values, vectors = scipy.linalg.eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
        return cls(np.maximum(values, 0.0), vectors)

    @cached_property
    def _squares(self) -> Float64:
        return np.square(self.vectors)

    def rotated(self, right: Float64) -> Float64:
        return np.asarray(self.vectors.T @ right)

    def solve(self, alpha: float, rotated: Float64) -> Float64:
        return np.asarray(self.vectors @ (rotated / (self.values + alpha)[:, None]))

    def inverse_diagonal(self, alpha: float, limits: Limits) -> Float64:
        limits.raise_if_stopped()
        return np.asarray(self._squares @ (1.0 / (self.values + alpha)))

    def inverse_blocks(self, alpha: float, folds: Sequence[Any], use: UseBlock, limits: Limits) -> None:
        for number, fold in enumerate(folds):
            limits.raise_if_stopped()
            part = self.vectors[fold]
            use(number, (part / (self.values + alpha)) @ part.T)


@final
@dataclass(frozen=True, eq=False)
class RidgePath:
    """All alphas from one reduction of the weighted Gram matrix W^1/2 K W^1/2."""

    matrix: Float64
    root: Float64
    targets: Float64
    """W^1/2 y, and W^1/2 1 as a last column where there is an intercept."""
    intercept: bool
    alphas: int
    limits: Limits

    @classmethod
    def of(
        cls,
        K: Float64,
        y: Float64,
        weights: Float64,
        *,
        intercept: bool,
        alphas: int = 1,
        limits: Limits | None = None,
    ) -> Self:
        """Prepare for about this number of alphas; K must not change until the path is no longer used."""
        root = np.sqrt(weights)[:, None]
        targets = np.column_stack([y, np.ones(len(y))]) if intercept else y
        return cls(K, root, root * targets, intercept, alphas, limits or Limits())

    @cached_property
    def _band(self) -> tuple[BandForm, Float64] | None:
        """The band form and the rotated targets, if the band form pays off."""
        if len(self.matrix) < _ROWS_PER_ALPHA * self.alphas:
            return None
        form = BandForm.of(weighted(self.matrix, self.root), limits=self.limits)
        return form, form.rotated(self.targets)

    @cached_property
    def _eigen(self) -> tuple[EigenForm, Float64]:
        form = EigenForm.of(weighted(self.matrix, self.root))
        return form, form.rotated(self.targets)

    def _solved(self, alpha: float) -> tuple[BandForm | EigenForm, Float64]:
        """A form of K that can be inverted with this alpha, and (K + alpha I)^-1 times the targets."""
        if self._band is not None:
            band, rotated = self._band
            # Below that, rounding errors of K dominate: eigenvalues that they made negative must count as zero.
            if alpha > len(self.matrix) * np.finfo(float).eps * band.norm:
                with contextlib.suppress(scipy.linalg.LinAlgError):
                    return band, band.solve(alpha, rotated)
        eigen, rotated = self._eigen
        return eigen, eigen.solve(alpha, rotated)

    def _corrected(self, solved: Float64) -> tuple[Float64, Float64]:
        """Coefficients corrected for the intercept, and the weighted solution for the ones (n x 1, or n x 0)."""
        if not self.intercept:
            return solved, solved[:, :0]
        b, ones = solved[:, :-1], solved[:, -1:]
        total = float((self.root * ones).sum())
        return b - ones * ((self.root * b).sum(axis=0) / total), ones / np.sqrt(total)

    def leave_one_out(self, alpha: float) -> Float64:
        """y_i minus the prediction for object i by a machine that never saw it, for every i and output."""
        form, solved = self._solved(alpha)
        b, ones = self._corrected(solved)
        diagonal = form.inverse_diagonal(alpha, self.limits) - np.square(ones).sum(axis=1)
        residuals: Float64 = b / diagonal[:, None] / self.root
        return residuals

    def fold_residuals(self, alpha: float, folds: Iterable[Any]) -> Float64:
        """The same with each fold left out in turn: e_S = (G^-1_SS)^-1 b_S."""
        form, solved = self._solved(alpha)
        b, ones = self._corrected(solved)
        residuals = np.full(b.shape, np.nan)
        parts = [np.asarray(fold) for fold in folds]

        def leave_out(number: int, block: Float64) -> None:
            part = parts[number]
            block -= ones[part] @ ones[part].T
            left_out = scipy.linalg.solve(block, b[part], assume_a="pos", check_finite=False)
            residuals[part] = left_out / self.root[part]

        form.inverse_blocks(alpha, parts, leave_out, self.limits)
        return residuals
