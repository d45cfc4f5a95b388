"""Kernel ridge regression for a whole path of alphas, on the weights of features.

Problem   minimise  sum_i w_i (y_i - <v, x_i> - c)^2 + alpha |v|^2, for many alphas, with objects left out in turn
Given     rows x_i, dense or CSR, with fewer features than there are rows; targets y (several columns), weights w
Result    residuals of objects that were left out, singly or by folds, as in `ridge.RidgePath`
Source    Allen, The relationship between variable selection and data augmentation (1974), for the leave-one-out
          residual r_i / (1 - h_i); its block form is the classical partitioned-inverse identity

One eigendecomposition of the weighted, centred normal matrix X'WX = V S V' serves every alpha. Q, the columns of
W^1/2 X V divided by their lengths, are orthonormal, and the hat matrix of alpha is Q (1 - damping) Q' with damping =
alpha / (S + alpha). An intercept is one more such column, W^1/2 1, with no damping. Memory grows with rows times
features.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import scipy.linalg

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.symmetric import significant_eigen
from mercer.solvers.ridge.centred_rows import CentredRows

_BLOCK = 4096
"""Rows squared at a time: a small fraction of the memory of all rows."""


@final
@dataclass(frozen=True, eq=False)
class PrimalRidgePath:
    """All alphas from one eigendecomposition of the normal matrix.

    >>> rows, y = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [5.0]])
    >>> path = PrimalRidgePath.of(rows, y, np.ones(3), intercept=False)
    >>> path.leave_one_out(1.0).ravel().round(3).tolist()
    [0.0, -1.0, 4.0]
    """

    basis: Float64
    """Q: orthonormal columns, one row per object."""
    values: Float64
    """The eigenvalue of each; infinite for the intercept."""
    root: Float64
    coordinates: Float64
    """The weighted targets in the basis Q ..."""
    beyond: Float64
    """... and the part of them that no weights can explain."""
    outside: Float64
    """The part of each object outside the columns of Q: 1 - |Q_i|^2."""
    limits: Limits
    """Limits, checked between blocks of objects and folds."""
    within: dict[bytes, Float64] = field(default_factory=dict)
    """Q_S'Q_S of each large fold S: once for all alphas."""

    @classmethod
    def of(cls, rows: Any, y: Float64, weights: Float64, *, intercept: bool, limits: Limits | None = None) -> Self:
        root = np.sqrt(weights)[:, None]
        centred = CentredRows(rows, weights, intercept=intercept)
        with single_threaded_blas():
            vectors = significant_eigen(centred.normal())[1]
            basis = np.empty((len(y), int(intercept) + vectors.shape[1]))
            columns = basis[:, int(intercept) :]
            np.multiply(root, centred.outputs(vectors), out=columns)
            lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns))
            columns /= lengths
            if intercept:
                basis[:, 0] = root[:, 0] / np.sqrt(weights.sum())
            targets = root * y
            coordinates = basis.T @ targets
            beyond = targets - basis @ coordinates
        values = np.concatenate([np.full(int(intercept), np.inf), lengths**2])
        outside = 1.0 - np.einsum("ij,ij->i", basis, basis)
        return cls(basis, values, root, coordinates, beyond, np.maximum(outside, 0.0), limits or Limits())

    def _damped(self, alpha: float) -> tuple[Float64, Float64]:
        """The damping of each direction, and the weighted residuals of the machine trained on all objects."""
        damping = alpha / (self.values + alpha)
        return damping, np.asarray(self.beyond + self.basis @ (damping[:, None] * self.coordinates))

    def leave_one_out(self, alpha: float) -> Float64:
        """y_i minus the prediction for object i by a machine that never saw it, for every i and output."""
        with single_threaded_blas():
            damping, residuals = self._damped(alpha)
            own = self.outside.copy()
            for start in range(0, len(own), _BLOCK):
                self.limits.raise_if_stopped()
                own[start : start + _BLOCK] += np.square(self.basis[start : start + _BLOCK]) @ damping
        return np.asarray(residuals / np.maximum(own, np.finfo(np.float64).tiny)[:, None] / self.root)

    def fold_residuals(self, alpha: float, folds: Iterable[Any]) -> Float64:
        """The same with each fold left out in turn: e_S = (1 - H_SS)^-1 r_S, H the hat matrix."""
        with single_threaded_blas():
            damping, residuals = self._damped(alpha)
            out = np.full(residuals.shape, np.nan)
            for fold in folds:
                self.limits.raise_if_stopped()
                part, left = self.basis[fold], residuals[fold]
                if len(fold) <= part.shape[1]:
                    block = (part * damping) @ part.T + (np.eye(len(part)) - part @ part.T)
                    found = scipy.linalg.solve(block, left, assume_a="pos", check_finite=False)
                else:  # by the features of the fold rather than by its objects
                    kept = np.sqrt(1.0 - damping)
                    system = np.eye(len(kept)) - kept[:, None] * self._within(fold, part) * kept
                    pull = kept[:, None] * (part.T @ left)
                    moved = scipy.linalg.solve(system, pull, assume_a="pos", check_finite=False)
                    found = left + part @ (kept[:, None] * moved)
                out[fold] = found / self.root[fold]
        return out

    def _within(self, fold: Any, part: Float64) -> Float64:
        key = np.asarray(fold).tobytes()
        if key not in self.within:
            self.within[key] = part.T @ part
        return self.within[key]
