"""The spline kernel."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import Float64, Floating
from mercer.kernels.base import Kernel, State
from mercer.kernels.vectors.coordinate_loops import SPLINE, coordinate_products
from mercer.kernels.vectors.coordinates import CoordinateFeatures, Coordinatewise
from mercer.kernels.vectors.features import column_blocks


@final
@dataclass(frozen=True)
class Spline(Coordinatewise, Kernel):
    """The spline kernel of order s, whose features are 1, x, ..., x^s and (x - t)_+^s for every knot t.

    With a knot at every number from 0 up, and m = min(x, z), for one coordinate

    k(x, z) = sum_{i=0..s} (x z)^i + sum_{r=0..s} C(s, r) / (2s - r + 1) m^(2s - r + 1) |x - z|^r

    for x, z >= 0 (negative numbers are refused, because the formula is not a kernel for them). With `knots`, k(x, z) =
    sum_i (x z)^i + sum_j (x - t_j)_+^s (z - t_j)_+^s for any numbers; (u)_+^0 is 1 if u > 0. For several coordinates,
    it is the product.

    >>> from mercer import kernels
    >>> kernels.Spline(order=1).fit([[0.5]])([[0.5]], [[0.8]]).round(6)
    array([[1.479167]])
    >>> kernels.Spline(order=1, knots=(0.25, 0.5, 0.75)).fit([[0.5]])([[0.5]], [[0.8]]).round(6)
    array([[1.5375]])
    """

    order: int = 1
    knots: tuple[float, ...] | None = None

    variants = ({}, {"order": 3}, {"order": 0}, {"order": 1, "knots": (0.25, 0.5, 0.75)})

    def __post_init__(self) -> None:
        _check.integer("Spline", "order", self.order, low=0, high=50, remedy="Powers beyond lose all digits.")
        if self.knots is not None:
            rule = "None (knots everywhere) or a non-empty list of numbers"
            if not isinstance(self.knots, tuple | list | np.ndarray) or np.ndim(self.knots) != 1 or not len(self.knots):
                raise _check.fail("Spline", "knots", rule, self.knots)
            knots = _check.reals("Spline", "knots", self.knots, low_open=True, high_open=True)
            object.__setattr__(self, "knots", knots)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0 if self.knots is None else -np.inf, np.inf

    @property
    def every(self) -> bool:
        return self.knots is not None

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        if self.knots is None:
            s = self.order
            coefficients = np.array([comb(s, r) / (2 * s - r + 1) for r in range(s + 1)])
            coordinate_products(left, right, SPLINE, out, parameters=coefficients)
            return
        out.fill(1)
        for rows, columns in column_blocks(left.rows, right.rows, out.dtype, every=True):
            for k in range(rows.shape[1]):
                out *= self._basis(rows[:, k]) @ self._basis(columns[:, k]).T

    def own(self, rows: Float64) -> Float64:
        if self.knots is not None:
            values = np.ones(len(rows))
            for k in range(rows.shape[1]):
                basis = self._basis(rows[:, k])
                values *= np.einsum("ij,ij->i", basis, basis)
            return values
        squares = rows * rows
        powers = np.zeros_like(rows)
        for _ in range(self.order + 1):
            powers = powers * squares + 1.0
        return np.asarray((powers + rows ** (2 * self.order + 1) / (2 * self.order + 1)).prod(axis=1))

    def _basis(self, x: Any) -> Any:
        """The features of one coordinate: powers, then the truncated power of each knot."""
        powers = [x**i for i in range(self.order + 1)]
        assert self.knots is not None
        above = [x - x.dtype.type(t) for t in self.knots]
        rising = [(u > 0).astype(x.dtype) if self.order == 0 else np.maximum(u, 0) ** self.order for u in above]
        return np.stack(powers + rising, axis=1)
