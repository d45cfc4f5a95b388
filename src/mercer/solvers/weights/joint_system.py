"""The linear systems of Newton's method on the weights of a machine of several outputs.

Problem   solve V + X' R (X V + u) = -G and 1' R (X V + u) = -g for a step V of the weights and u of the intercepts
Given     R_i, the Hessian of C_i loss at object i, a matrix over outputs; gradients G and g
Result    the step, as exact as asked
Source    conjugate gradients on the weights as in Hsia, Chiang and Lin, Preconditioned conjugate gradient methods in
          truncated Newton frameworks for large-scale linear classification (2018)

A product with the matrix is one pass over the rows. The preconditioner takes each output as if it were alone, and
inverts 1 + X' diag(R_kk) X for it, seen on enough of the rows.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.gram.executors import Threads
from mercer.losses.curvature import CurvatureRoot
from mercer.solvers.weights.row_products import Rows, rows_of

_MOST_PRODUCTS = 200
_LEAST_PIECE, _PIECE_BYTES = 64, 1 << 19
_ROWS_PER_FEATURE = 8
_PASSES = 4
"""Few features may see more rows: as many as cost so many passes over all of them."""
_TINY = float(np.finfo(float).tiny)

Point = tuple[Float64, Float64]
"""Weights (features x outputs) and intercepts."""


@final
class JointSystem:
    """One step under way, solved until the preconditioned residual is `enough` of what it was."""

    def __init__(
        self, rows: Rows, root: CurvatureRoot, gradient: Point, preconditioner: Preconditioner, *, intercept: bool
    ) -> None:
        self._rows, self._root, self._intercept = rows, root, intercept
        self._preconditioner = preconditioner
        self._piece = max(_LEAST_PIECE, _PIECE_BYTES // (8 * max(gradient[0].shape)))
        self._r, self._t = -gradient[0], -gradient[1]
        self._p, self._q = preconditioner(self._r, self._t)
        self._rz = self._dot(self._p, self._q)
        self.length = float(np.sqrt(max(self._rz, 0.0)))
        """Of the gradient, as the preconditioner measures."""
        self._V, self._u = np.zeros_like(self._r), np.zeros_like(self._t)
        self.products = 0

    def iterate(self, enough: float) -> bool:
        """One conjugate-gradient step; whether the system is solved."""
        Hp, Hq = self._times(self._p, self._q)
        curvature = float((self._p * Hp).sum() + self._q @ Hq)
        self.products += 1
        if not curvature > 0.0:
            return True
        size = self._rz / curvature
        self._V += size * self._p
        self._u += size * self._q
        self._r -= size * Hp
        self._t = self._t - size * Hq
        z, y = self._preconditioner(self._r, self._t)
        before, self._rz = self._rz, self._dot(z, y)
        if self.products >= _MOST_PRODUCTS or not self._rz > (enough * self.length) ** 2:
            return True
        share = self._rz / before
        self._p, self._q = z + share * self._p, y + share * self._q
        return False

    def direction(self) -> Point:
        """The step as far as it is known; that of the preconditioner where nothing is."""
        return (self._V, self._u) if self._V.any() or self._u.any() else (self._p, self._q)

    def _dot(self, z: Float64, y: Float64) -> float:
        return float((self._r * z).sum() + self._t @ y)

    def _times(self, V: Float64, u: Float64) -> Point:
        """The matrix times a step, in pieces of rows that stay in cache between the two products."""
        rows = self._rows
        parts, sums = np.zeros((len(rows.blocks), *V.shape)), np.zeros((len(rows.blocks), len(u)))

        def visit(number: int) -> None:
            block = rows.blocks[number]
            for begin in range(block.start, block.stop, self._piece):
                piece = slice(begin, min(begin + self._piece, block.stop))
                change = np.empty((piece.stop - begin, len(u)))
                rows.outputs(piece, V, change)
                change += u
                bent = self._root.part(piece).bent(change)
                rows.add_combination(piece, bent, parts[number])
                sums[number] += bent.sum(axis=0)

        rows.each(visit)
        return V + parts.sum(axis=0), sums.sum(axis=0) if self._intercept else np.zeros_like(u)


@final
class Preconditioner:
    """(1 + X' diag(R_kk) X)^-1 for each output k, intercepts included."""

    def __init__(self, matrix: Any, root: CurvatureRoot, *, intercept: bool) -> None:
        curvature = root.diagonal()
        n, d = matrix.shape
        stride = max(1, n // max(_ROWS_PER_FEATURE * d, _PASSES * n // d))
        self._factors = _factors(rows_of(matrix[::stride]), curvature[::stride] * stride, intercept=intercept)
        self._intercept = intercept
        self._differences = root.of_differences()

    def __call__(self, V: Float64, u: Float64) -> Point:
        # Where outputs count by their differences alone, steps keep their mean at zero.
        both = self._centred(np.vstack([V, u]) if self._intercept else V)
        solved = np.empty_like(both)
        for output, factor in enumerate(self._factors):
            solved[:, output] = scipy.linalg.cho_solve(factor, both[:, output], check_finite=False)
        solved = self._centred(solved)
        return solved[: len(V)], solved[-1] if self._intercept else np.zeros_like(u)

    def _centred(self, v: Float64) -> Float64:
        return v - v.mean(axis=1, keepdims=True) if self._differences else v


def _factors(rows: Rows, curvature: Float64, *, intercept: bool) -> list[Any]:
    """Cholesky factors of the matrices of all outputs."""
    d = rows.shape[1]
    factors: list[Any] = [None] * curvature.shape[1]

    def work(output: int) -> None:
        weights = np.ascontiguousarray(curvature[:, output])
        normal, ends = np.zeros((d, d)), np.zeros(d)
        for block in rows.blocks:
            rows.add_normal(block, weights[block], normal)
            rows.add_combination(block, weights[block], ends)
        normal.flat[:: d + 1] += 1.0
        matrix = normal
        if intercept:
            corner = max(float(weights.sum()), _TINY)
            matrix = np.block([[normal, ends[:, None]], [ends[None, :], np.full((1, 1), corner)]])
        try:
            factors[output] = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:  # curvatures so large that the penalty is lost in rounding
            factors[output] = (np.diag(np.sqrt(np.diagonal(matrix))), True)

    if (curvature == curvature[:, :1]).all():  # as at the start, where all weights are zero
        work(0)
        return [factors[0]] * len(factors)
    Threads().each(work, range(len(factors)))
    return factors
