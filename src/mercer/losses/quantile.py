"""The pinball loss, whose minimiser is a quantile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.dual import Dual

_ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""tau C / C is not always tau."""


@final
@dataclass(frozen=True)
class Quantile(Loss):
    """l(y, f) = tau r for r = y - f >= 0, else (tau - 1) r: the best constant is the tau-quantile of y.

    >>> import numpy as np
    >>> Quantile(0.9).value(np.array([1.0, 1.0]), np.array([0.0, 2.0])).round(1)
    array([0.9, 0.1])
    """

    tau: float = 0.5

    smooth = False
    classifies = False

    def __post_init__(self) -> None:
        _check.real("Quantile", "tau", self.tau, low=0, high=1, low_open=True, high_open=True)

    def value(self, y: Float64, f: Float64) -> Float64:
        r = y - f
        return np.maximum(self.tau * r, (self.tau - 1.0) * r)

    def slope(self, y: Float64, f: Float64) -> Float64:
        return np.where(f < y, -self.tau, np.where(f > y, 1.0 - self.tau, 0.0))

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(f)))

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        low, high = -self.tau - _ROUNDING, 1.0 - self.tau + _ROUNDING
        return np.where((a >= low) & (a <= high), a * y, np.inf)

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=(self.tau - 1.0) * C, upper=self.tau * C)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(tau=0.9)
