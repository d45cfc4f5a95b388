"""The perceptron's own loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.dual import Dual


@final
@dataclass(frozen=True)
class PerceptronLoss(Loss):
    """l(y, f) = max(0, -y f) for y in {-1, +1}: nothing for what is on its side, however near the boundary.

    >>> import numpy as np
    >>> PerceptronLoss().value(np.array([1.0, -1.0]), np.array([0.1, 2.0]))
    array([0., 2.])
    """

    smooth = False
    classifies = True

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(0.0, -y * f)

    def slope(self, y: Float64, f: Float64) -> Float64:
        return np.where(y * f < 0.0, -y, 0.0)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(f)))

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        inside = (y * a <= 0.0) & (y * a >= -1.0)
        return np.where(inside, 0.0, np.inf)

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(np.zeros_like(y), lower=np.where(y > 0, 0.0, -C), upper=np.where(y > 0, C, 0.0))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
