"""Kernel ridge regression, directly.

Problem   minimise  sum_i w_i (y_i - f(x_i))^2 + alpha |w|^2  over  f(x) = sum_i b_i k(x_i, x) + c
Given     a Gram matrix K, targets y (several columns at once), weights w, alpha for each column
Result    b and c, from (K + alpha W^-1) b = y - c 1 with sum(b) = 0; without intercept c = 0
Source    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), 7.3; the leave-one-out residual
          b_i / (G^-1)_ii and its block form are the classical partitioned-inverse identity

For one alpha a Cholesky factorisation; for a path of alphas one eigendecomposition serves all of them, their
leave-one-out and their k-fold residuals.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.errors import KernelWarning

Float64 = npt.NDArray[np.float64]

_RESIDUAL = 1e-6


@final
@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """Coefficients (objects x outputs) and an intercept for each output."""

    coefficients: Float64
    intercept: Float64


def solve(K: Float64, y: Float64, alpha: Float64, weights: Float64, *, intercept: bool) -> RidgeSolution:
    """Solve for each output with its own alpha; outputs that share one share its factorisation."""
    coefficients, constants = np.empty_like(y), np.zeros(y.shape[1])
    for value in np.unique(alpha):
        columns = alpha == value
        right = y[:, columns]
        both = _solve_one(K, np.column_stack([right, np.ones(len(y))]), float(value), weights)
        b, ones = both[:, :-1], both[:, -1:]
        if intercept:
            constants[columns] = b.sum(axis=0) / ones.sum()
            b = b - ones * constants[columns]
        coefficients[:, columns] = b
    return RidgeSolution(coefficients, constants)


def _solve_one(K: Float64, right: Float64, alpha: float, weights: Float64) -> Float64:
    root = np.sqrt(weights)[:, None]
    system = K * root * root.T
    system.flat[:: len(K) + 1] += alpha
    right = root * right
    try:
        factor = scipy.linalg.cho_factor(system, lower=True, check_finite=False)
        solved = np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
        if np.abs(system @ solved - right).max() <= _RESIDUAL * np.abs(right).max(initial=_RESIDUAL):
            return root * solved
    except scipy.linalg.LinAlgError:
        pass
    warnings.warn(
        "K + alpha I cannot be inverted in floating point: alpha is too small for this kernel, or the kernel is "
        "indefinite. Directions without curvature are left out; raise alpha.",
        KernelWarning,
        stacklevel=5,
    )
    values, vectors = scipy.linalg.eigh(system, overwrite_a=True, check_finite=False)
    usable = values > len(K) * np.finfo(float).eps * np.abs(values).max()
    inverse = np.zeros_like(values)
    inverse[usable] = 1.0 / values[usable]
    return root * (vectors @ (inverse[:, None] * (vectors.T @ right)))


@final
@dataclass(frozen=True, eq=False)
class RidgePath:
    """All alphas from one eigendecomposition of the weighted Gram matrix W^1/2 K W^1/2 = U S U'."""

    values: Float64
    vectors: Float64
    root: Float64
    targets: Float64
    """W^1/2 y, and W^1/2 1 as a last column where there is an intercept."""
    intercept: bool

    @classmethod
    def of(cls, K: Float64, y: Float64, weights: Float64, *, intercept: bool) -> Self:
        root = np.sqrt(weights)[:, None]
        values, vectors = scipy.linalg.eigh(K * root * root.T, overwrite_a=True, check_finite=False, driver="evd")
        targets = root * np.column_stack([y, np.ones(len(y))]) if intercept else root * y
        return cls(np.maximum(values, 0.0), vectors, root, targets, intercept)

    @cached_property
    def _rotated(self) -> Float64:
        """The targets along the eigenvectors: once for all alphas."""
        return np.asarray(self.vectors.T @ self.targets)

    @cached_property
    def _squares(self) -> Float64:
        return np.square(self.vectors)

    def _inverse_targets(self, alpha: float) -> Float64:
        return np.asarray(self.vectors @ (self._rotated / (self.values + alpha)[:, None]))

    def _corrected(self, solved: Float64) -> tuple[Float64, Float64]:
        """Coefficients with the intercept taken out, and the weighted solution for the ones (n x 1, or n x 0)."""
        if not self.intercept:
            return solved, solved[:, :0]
        b, ones = solved[:, :-1], solved[:, -1:]
        total = float((self.root * ones).sum())
        return b - ones * ((self.root * b).sum(axis=0) / total), ones / np.sqrt(total)

    def leave_one_out(self, alpha: float) -> Float64:
        """y_i minus the prediction for object i by a machine that never saw it, for every i and output."""
        b, ones = self._corrected(self._inverse_targets(alpha))
        diagonal = self._squares @ (1.0 / (self.values + alpha)) - np.square(ones).sum(axis=1)
        residuals: Float64 = b / diagonal[:, None] / self.root
        return residuals

    def fold_residuals(self, alpha: float, folds: Iterable[Any]) -> Float64:
        """The same with each fold left out in turn: e_S = (G^-1_SS)^-1 b_S."""
        b, ones = self._corrected(self._inverse_targets(alpha))
        residuals = np.full(b.shape, np.nan)
        for fold in folds:
            part = self.vectors[fold]
            block = (part / (self.values + alpha)) @ part.T - ones[fold] @ ones[fold].T
            residuals[fold] = scipy.linalg.solve(block, b[fold], assume_a="pos", check_finite=False) / self.root[fold]
        return residuals
