"""Newton's method with conjugate gradients on the weights of a linear machine, for smooth losses and many features.

Problem   minimise  1/2 |w|^2 + 1/2 (c / freedom)^2 + sum_i C_i loss(y_i, <w, x_i> + c)
Given     a `LinearProblem` with a smooth loss, dense or CSR, of any number of features
Result    w, c, dual coefficients b_i = -C_i slope(y_i, f_i), and the duality gap
Source    Hsia, Chiang and Lin, Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale
          linear classification (2018), with their blend of the identity and the diagonal as preconditioner

The matrix 1 + X'RX is never formed: a product with it is two passes over the rows. Steps are as exact as the gradient
is small, so that convergence is faster than linear and early steps are cheap.
"""

from __future__ import annotations

import time

import numpy as np

from mercer._types import Float64
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.weights.problem import LinearProblem, LinearSolution
from mercer.solvers.weights.row_products import rows_of
from mercer.solvers.weights.run import PrimalRun

_BLEND = 0.01
_MOST_PRODUCTS = 200


class PrimalCGRun(PrimalRun):
    """Steps by preconditioned conjugate gradients."""

    _first_length = 0.0

    def _product(self, v: Float64) -> Float64:
        """(penalty + X'RX) v."""
        d = self._rows.shape[1]
        weighted = self._rows.all_outputs(v[:d])
        if self._has_intercept:
            weighted += v[d]
        weighted *= self._curvature
        out = self._penalty * v
        out[:d] += self._rows.combination(weighted)
        if self._has_intercept:
            out[d] += weighted.sum()
        return out

    def _scale(self) -> Float64:
        """The preconditioner: a little of the diagonal of the matrix, which alone would overdo it."""
        d = self._rows.shape[1]
        diagonal = self._penalty.copy()
        diagonal[:d] += self._rows.squares(self._curvature)
        if self._has_intercept:
            diagonal[d] += self._curvature.sum()
        blended: Float64 = (1.0 - _BLEND) * np.where(self._penalty > 0, self._penalty, 1.0) + _BLEND * diagonal
        if self._has_intercept:
            blended[d] = max(diagonal[d], np.finfo(float).tiny)
        return blended

    def _direction(self) -> Float64:
        scale = self._scale()
        residual = -self._gradient
        length = float(np.sqrt(residual @ (residual / scale)))
        self._first_length = self._first_length or length or 1.0  # none at all where squares underflow
        forcing = min(0.3, np.sqrt(length / self._first_length))
        z = residual / scale
        p, rz = z, float(residual @ z)
        step = np.zeros_like(residual)
        for _ in range(_MOST_PRODUCTS):
            Hp = self._product(p)
            curvature = float(p @ Hp)
            if curvature <= 0.0:  # an intercept at which no row pulls
                break
            size = rz / curvature
            step += size * p
            residual = residual - size * Hp
            z = residual / scale
            before, rz = rz, float(residual @ z)
            if np.sqrt(rz) <= forcing * length:
                break
            p = z + (rz / before) * p
        return step if step.any() else np.asarray(-self._gradient / scale)


def solve(
    problem: LinearProblem, *, tol: float = 1e-4, limits: Limits | None = None, on_chunk: OnChunk | None = None
) -> LinearSolution:
    """Minimise until the duality gap is at most `tol` of the objective, or as far as the limits allow."""
    began = time.monotonic()
    return PrimalCGRun(problem, rows_of(problem.rows), None, tol).solution(limits or Limits(), on_chunk, began)
