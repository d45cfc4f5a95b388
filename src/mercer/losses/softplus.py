"""Losses that are the softplus of the violation of a margin."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from mercer._types import Float64
from mercer.losses.base import Loss


class Softplus(Loss):
    """l(y, f) = log(1 + exp(margin - y f)) for y in {-1, +1}."""

    smooth = True
    classifies = True

    @property
    @abstractmethod
    def margin(self) -> float:
        """The value of y f at which the corresponding hinge becomes zero."""

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.logaddexp(0.0, self.margin - y * f)

    def slope(self, y: Float64, f: Float64) -> Float64:
        return -y * expit(self.margin - y * f)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        p = expit(self.margin - y * f)
        return p * (1.0 - p)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        u = -(y * a)
        inside = (u >= 0.0) & (u <= 1.0)
        v = np.clip(u, 0.0, 1.0)
        return np.where(inside, xlogy(v, v) + xlog1py(1.0 - v, -v) - self.margin * v, np.inf)
