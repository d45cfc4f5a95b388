"""Newton's method with conjugate gradients on the weights of a linear machine, for smooth losses and many features.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c)
Given     a `LinearProblem` with a smooth loss, dense or CSR, of any number of features
Result    w, c, dual coefficients b_i = -C_i slope(y_i, f_i), and the duality gap
Source    Hsia, Chiang and Lin, Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale
          linear classification (2018), with their blend of the identity and the diagonal as preconditioner

The matrix 1 + X'RX is never formed: a product with it is two passes over the rows. Steps are solved more accurately as
the gradient shrinks, which makes early steps cheap and convergence superlinear.
"""

from __future__ import annotations

from typing import Self, final

import numpy as np

from mercer._types import Float64
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients
from mercer.solvers.numerics.newton import RoughSystem
from mercer.solvers.weights.problem import LinearProblem
from mercer.solvers.weights.row_products import rows_of
from mercer.solvers.weights.run import PrimalRun
from mercer.solvers.weights.terms import terms_of

_BLEND = 0.01
"""The weight of the diagonal in the preconditioner, as in the source: the diagonal alone would overcorrect."""


@final
class PrimalCGRun(PrimalRun):
    """Steps by preconditioned conjugate gradients."""

    _system: RoughSystem
    _first_length = 0.0

    @classmethod
    def begin(cls, problem: LinearProblem, tol: float, limits: Limits, seed: int = 0) -> Self:
        return cls(problem, rows_of(problem.rows), terms_of(problem), None, tol)

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

    def _begin(self) -> bool:
        scale = self._scale()
        system = ConjugateGradients(self._product, lambda residual: residual / scale, -self._gradient)
        self._system = RoughSystem(system, self._first_length)
        self._first_length = self._system.first_length
        return True

    def _improve(self) -> bool:
        return self._system.improve()

    def _direction(self) -> Float64:
        return self._system.direction


solve = PrimalCGRun.solve
