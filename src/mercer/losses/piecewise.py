"""Losses made of straight and quadratic pieces."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.dual import Dual


class PiecewiseQuadratic(Loss):
    """A loss that its dual determines: subclasses define `dual`, and value, slope, curvature and conjugate follow."""

    @abstractmethod
    def dual(self, y: Float64, C: Float64) -> Dual:
        """The dual of sum_i C_i l(y_i, f_i) + 1/2 |w|^2; every C_i is positive."""

    def value(self, y: Float64, f: Float64) -> Float64:
        return self._unit(y).value(f)

    def slope(self, y: Float64, f: Float64) -> Float64:
        return self._unit(y).slope(f)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return self._unit(y).curvature(f)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        return self._unit(y).price(-a)

    def _unit(self, y: Float64) -> Dual:
        return self.dual(y, np.ones(np.shape(y)))
