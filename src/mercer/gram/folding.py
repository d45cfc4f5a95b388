"""Rows x = T^-1 r that are never written: products with the r, and a triangle T that is solved for afterwards.

Computing x costs as much as a normal matrix. But X w = R (T^-T w), X'b = T^-1 (R'b) and X'DX = T^-1 (R'DR) T^-T, so one
triangular solve for all rows together is enough. Sums over rows are in float64: squaring first and whitening afterwards
would lose too much in float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Floating
from mercer.kernels.features.landmarks import whiten


@final
@dataclass(frozen=True, eq=False)
class Fold:
    """The lower triangle T."""

    triangle: Float64

    def weights(self, w: Float64) -> Float64:
        """T^-T w: the weights on r that give the same outputs as w on x."""
        import scipy.linalg

        return np.asarray(scipy.linalg.solve_triangular(self.triangle, w, lower=True, trans="T", check_finite=False))

    def combination(self, sums: Float64) -> Float64:
        """T^-1 times sums of r."""
        import scipy.linalg

        return np.asarray(scipy.linalg.solve_triangular(self.triangle, sums, lower=True, check_finite=False))

    def normal(self, matrix: Float64) -> Float64:
        """T^-1 M T^-T for a symmetric matrix M, given by its lower triangle."""
        full = np.tril(matrix)
        full += np.tril(matrix, -1).T
        return self.combination(self.combination(full).T)

    def rows(self, rows: Floating) -> Any:
        """x of each r, in the memory of the r."""
        return whiten(rows, self.triangle)
