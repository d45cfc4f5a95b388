"""Newton's method on the weights of a linear machine, for smooth losses and few features.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c)
Given     a `LinearProblem` with a smooth loss, dense or CSR, of up to about a thousand features
Result    w, c, dual coefficients b_i = -C_i slope(y_i, f_i), and the duality gap
Source    Chapelle, Training a support vector machine in the primal (2007), section 4, with the matrix 1 + X'RX, R the
          curvatures, kept between steps

If few curvatures changed, the matrix is updated by those rows only: with squared hinges these are the rows that crossed
the margin, and when none does, the step was exact and the method ends. A start on every sixteenth row saves most passes
over all rows.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.thinning import thinned
from mercer.solvers.weights.problem import LinearProblem
from mercer.solvers.weights.row_products import RowProducts, rows_of
from mercer.solvers.weights.run import PrimalRun
from mercer.solvers.weights.terms import Terms, terms_of

_NOTHING = float(np.finfo(float).tiny)
STRIDE = 16
"""Stride between the rows of a rough start: a larger one saves more, and leaves more to do."""
ROWS_FOR_A_START = 16_000
"""With fewer rows, passes over all of them cost less than a second problem, so there is no rough start."""
_START_TOL = 1e-3
"""Tolerance of a rough start: the optimum of the full problem is farther away than this."""


class PrimalNewtonRun(PrimalRun):
    """Steps by a Cholesky factor of the normal matrix."""

    def __init__(
        self, problem: LinearProblem, rows: RowProducts, terms: Terms, start: Float64 | None, tol: float
    ) -> None:
        d = rows.shape[1]
        self._normals = np.zeros((1 if rows.in_passes else len(rows.blocks), d, d))
        self._ends: Float64 | None = None
        """The combination of curvatures, if a pass computed it."""
        super().__init__(problem, rows, terms, start, tol)

    @classmethod
    def begin(cls, problem: LinearProblem, tol: float, limits: Limits, seed: int = 0) -> Self:
        few = few_of(problem)
        start = None if few is None else cls.begin(few, _START_TOL, limits).driven(_START_TOL, limits).theta
        return cls(problem, rows_of(problem.rows), terms_of(problem), start, tol)

    def _begin(self) -> bool:
        return True

    def _improve(self) -> bool:
        return True  # one factorisation is the whole step

    def _note_curvature(self, number: int, part: slice, curvature: Float64) -> None:
        rows, normal = self._rows, self._normals[number]
        change = curvature - self._curvature[part]
        if rows.pass_at_once and 2 * np.count_nonzero(change) < np.count_nonzero(curvature):
            rows.add_normal(part, change, normal)
            return
        if part.start == rows.blocks[number].start:
            normal[:] = 0.0
        rows.add_normal(part, curvature, normal)

    _uses_normal = True

    def _note_normal(self, *normal: Float64) -> None:
        self._normals[0], self._ends = normal[0][:-1], normal[0][-1]

    def _direction(self) -> Float64:
        d = self._rows.shape[1]
        matrix = np.empty((len(self.theta), len(self.theta)))
        matrix[:d, :d] = self._rows.back_normal(self._normals.sum(axis=0))
        if self._has_intercept:
            ends = self._rows.combination(self._curvature) if self._ends is None else self._rows.back(self._ends)
            matrix[d, :d] = ends
            matrix[d, d] = self._curvature.sum()
        matrix.flat[:: len(matrix) + 1] += self._penalty
        if matrix[-1, -1] <= 0.0:
            # No row has curvature at the unpenalised intercept, so only its slope matters.
            off = float(np.abs(self._problem.y - self._f).max(initial=0.0))
            matrix[-1, -1] = max(float(self._problem.C.sum()), _NOTHING) / max(off, _NOTHING)
        return descent_direction(matrix, self._gradient)


def descent_direction(matrix: Float64, gradient: Float64) -> Float64:
    """The Newton step, from the lower triangle of a matrix."""
    try:
        factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        return np.asarray(-scipy.linalg.cho_solve(factor, gradient, check_finite=False))
    except scipy.linalg.LinAlgError:  # curvatures so large that the penalty is lost to rounding
        return np.asarray(-gradient / np.diagonal(matrix))


def few_of(problem: LinearProblem) -> LinearProblem | None:
    """The problem on a subset of many rows; None if there are too few."""
    n, d = problem.rows.shape
    part = thinned(problem.C, STRIDE) if n >= max(ROWS_FOR_A_START, 2 * STRIDE * d) else None
    if part is None:
        return None
    few, C = part
    rows = problem.rows[few]
    rows = np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows
    return LinearProblem(rows, problem.loss, problem.y[few], C, problem.intercept_scale)


solve = PrimalNewtonRun.solve
