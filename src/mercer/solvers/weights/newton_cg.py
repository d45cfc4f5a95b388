"""Newton's method with conjugate gradients on the weights of a linear machine, for smooth losses and many features.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c)
Given     a `LinearProblem` with a smooth loss, dense or CSR, of any number of features
Result    w, c, dual coefficients b_i = -C_i slope(y_i, f_i), and the duality gap
Source    Hsia, Chiang and Lin, Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale
          linear classification (2018), with their blend of the identity and the diagonal as preconditioner

The matrix 1 + X'RX is never formed: a product with it is two passes over the rows. Steps are as exact as the gradient
is small, which makes early steps cheap and convergence faster than linear.
"""

from __future__ import annotations

import time

import numpy as np

from mercer._types import Float64
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients
from mercer.solvers.weights.problem import LinearProblem, LinearSolution
from mercer.solvers.weights.row_products import rows_of
from mercer.solvers.weights.run import PrimalRun

_BLEND = 0.01
"""The share of the diagonal in the preconditioner, as in the source: alone it would overdo it."""
_ROUGHEST = 0.3
"""What a step may leave of its residual: far from the optimum a rough step is as good as an exact one."""
_MOST_PRODUCTS = 200
"""For one step; the next one has a better matrix."""


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
        """The diagonal preconditioner."""
        d = self._rows.shape[1]
        diagonal = self._penalty.copy()
        diagonal[:d] += self._rows.squares(self._curvature)
        blended: Float64 = (1.0 - _BLEND) * self._penalty + _BLEND * diagonal
        if self._has_intercept:
            blended[d] = max(self._penalty[d] + self._curvature.sum(), np.finfo(float).tiny)
        return blended

    def _direction(self) -> Float64:
        scale = self._scale()
        system = ConjugateGradients(self._product, lambda residual: residual / scale, -self._gradient)
        self._first_length = self._first_length or system.length or 1.0  # none at all where squares underflow
        goal = min(_ROUGHEST, np.sqrt(system.length / self._first_length)) * system.length
        while not system.exhausted and system.products < _MOST_PRODUCTS:
            system.step()
            if system.length <= goal:
                break
        return system.direction


def solve(
    problem: LinearProblem, *, tol: float = 1e-4, limits: Limits | None = None, on_chunk: OnChunk | None = None
) -> LinearSolution:
    """Minimise until the duality gap is at most `tol` of the objective, or as far as the limits allow."""
    began = time.monotonic()
    return PrimalCGRun(problem, rows_of(problem.rows), None, tol).solution(limits or Limits(), on_chunk, began)
