"""The linear systems of Newton's method on the weights of a machine of several outputs.

Problem   solve V + X' R (X V + u) = -G and 1' R (X V + u) = -g for a step V of the weights and u of the intercepts
Given     R_i, the Hessian of C_i loss at object i, a matrix over outputs; gradients G and g
Result    the parts of conjugate gradients: products with the matrix, and with a preconditioner
Source    conjugate gradients on the weights as in Hsia, Chiang and Lin, Preconditioned conjugate gradient methods in
          truncated Newton frameworks for large-scale linear classification (2018)

Points and steps are arrays with a row for each feature, then one for the intercepts where there are any, and a column
for each output. A product with the matrix is one pass over the rows. The preconditioner treats each output separately,
and inverts 1 + X' diag(R_kk) X for it, estimated from a sample of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.linalg

from mercer._types import Float64, Floating
from mercer.gram.cost import MULTIPLY, THREADS, of_factor
from mercer.gram.executors import Threads
from mercer.gram.passes import Found
from mercer.losses.curvature import CurvatureRoot
from mercer.solvers.numerics.conjugate_gradients import Product
from mercer.solvers.weights.row_products import PIECE_BYTES, RowProducts, RowsInBlocks, rows_of

_LEAST_PIECE = 64
"""Minimum number of rows multiplied at a time: products with fewer are slow."""
_ROWS_PER_FEATURE = 8
"""The preconditioner is estimated from this many rows per feature, which makes it accurate enough ..."""
_PASSES = 4
"""... or, with few features, from as many rows as cost no more than this many passes over all rows."""
_INVERTED = 64
"""Up to this many features, the overhead of LAPACK calls for each output exceeds their work."""
_TINY = float(np.finfo(float).tiny)


def hessian_product(rows: RowProducts, root: CurvatureRoot, *, intercept: bool) -> Product:
    """Multiply a step by the matrix, in pieces of rows that stay in cache between the two products."""
    d = rows.shape[1]

    def product(step: Float64) -> Float64:
        V, outputs = rows.into(step[:d]), step.shape[1]
        if isinstance(rows, RowsInBlocks) and rows.in_passes:
            found: Float64 = rows.matrix.swept(HessianProduct(V, step[d:]), root)[0][0][: len(step)]
            found[:d] = rows.back(found[:d]) + step[:d]
            return found
        size = max(_LEAST_PIECE, PIECE_BYTES // (8 * max(V.shape)))
        parts = np.zeros((len(rows.blocks), *step.shape))

        def visit(number: int) -> None:
            block, part = rows.blocks[number], parts[number]
            for begin in range(block.start, block.stop, size):
                piece = slice(begin, min(begin + size, block.stop))
                change = np.empty((piece.stop - begin, outputs))
                rows.outputs(piece, V, change)
                if intercept:
                    change += step[d]
                images = root.part(piece).hessian_times(change)
                rows.add_combination(piece, images, part[:d])
                if intercept:
                    part[d] += images.sum(axis=0)

        rows.each(visit)
        total = np.asarray(parts.sum(axis=0))
        total[:d] = rows.back(total[:d]) + step[:d]
        return total

    return product


@final
@dataclass(frozen=True, eq=False)
class HessianProduct:
    """X' R (X V + u), with its sum over rows appended, as the task of a pass."""

    V: Float64
    u: Float64
    """One line, or none without intercepts."""

    def __call__(self, rows: Floating, root: CurvatureRoot) -> Found:
        exact = rows.astype(np.float64)
        change = exact @ self.V
        for line in self.u:
            change += line
        images = root.hessian_times(change)
        return (np.vstack([exact.T @ images, images.sum(axis=0)]),), ()


@final
class Preconditioner:
    """(1 + X' diag(R_kk) X)^-1 for each output k, intercepts included."""

    def __init__(self, matrix: Any, root: CurvatureRoot, *, intercept: bool) -> None:
        n, d = matrix.shape
        stride = max(1, n // max(_ROWS_PER_FEATURE * d, _PASSES * n // d))
        some = slice(None, None, stride)
        self._factors = _factors(rows_of(matrix[some]), root.part(some).diagonal() * stride, intercept=intercept)
        self._differences = root.of_differences()
        self._inverses = _inverses(self._factors) if d <= _INVERTED else None

    def __call__(self, residual: Float64) -> Float64:
        # If only differences of outputs matter, steps keep their mean at zero.
        residual = self._centred(residual)
        if self._inverses is not None:
            return self._centred(np.matmul(self._inverses, residual.T[:, :, None])[:, :, 0].T)
        solved = np.empty_like(residual)
        for output, factor in enumerate(self._factors):
            solved[:, output] = scipy.linalg.cho_solve(factor, residual[:, output], check_finite=False)
        return self._centred(solved)

    def _centred(self, v: Float64) -> Float64:
        return v - v.mean(axis=1, keepdims=True) if self._differences else v


def _inverses(factors: list[Any]) -> Float64:
    """The inverses of the factored matrices: for few features, one product is faster than many solves."""
    one = np.eye(len(factors[0][0]))
    if all(factor is factors[0] for factor in factors):
        factors, repeats = factors[:1], len(factors)
    else:
        repeats = 1
    found = np.array([scipy.linalg.cho_solve(factor, one, check_finite=False) for factor in factors])
    return np.repeat((found + found.transpose(0, 2, 1)) / 2, repeats, axis=0)


def _factors(rows: RowProducts, curvature: Float64, *, intercept: bool) -> list[Any]:
    """Cholesky factors of the matrices of all outputs."""
    d = rows.shape[1]
    factors: list[Any] = [None] * curvature.shape[1]

    def work(output: int) -> None:
        weights = np.ascontiguousarray(curvature[:, output])
        normal, ends = np.zeros((d, d)), np.zeros(d)
        for block in rows.blocks:
            rows.add_normal(block, weights[block], normal)
            rows.add_combination(block, weights[block], ends)
        normal, ends = rows.back_normal(normal), rows.back(ends)
        normal.flat[:: d + 1] += 1.0
        corner = np.full((1, 1), max(float(weights.sum()), _TINY))
        matrix = np.block([[normal, ends[:, None]], [ends, corner]]) if intercept else normal
        try:
            factors[output] = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:  # curvatures so large that the penalty is lost to rounding
            factors[output] = (np.diag(np.sqrt(np.diagonal(matrix))), True)

    if (curvature == curvature[:, :1]).all():  # as at the start, when all weights are zero
        work(0)
        return [factors[0]] * len(factors)
    if len(factors) * (rows.shape[0] * d**2 * MULTIPLY / 2 + of_factor(d)) < THREADS:
        for output in range(len(factors)):
            work(output)
    else:
        Threads().each(work, range(len(factors)))
    return factors
