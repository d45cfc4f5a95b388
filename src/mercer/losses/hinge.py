"""The loss of support vector machines."""

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
class Hinge(Loss):
    """l(y, f) = max(0, 1 - y f) for y in {-1, +1}: nothing on the right side of the margin, linear beyond.

    >>> import numpy as np
    >>> Hinge().value(np.array([1.0, 1.0, -1.0]), np.array([2.0, 0.5, 1.0]))
    array([0. , 0.5, 2. ])
    """

    smooth = False
    classifies = True

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(0.0, 1.0 - y * f)

    def slope(self, y: Float64, f: Float64) -> Float64:
        return np.where(y * f < 1.0, -y, 0.0)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(f)))

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        inside = (y * a <= 0.0) & (y * a >= -1.0)
        return np.where(inside, y * a, np.inf)

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=np.where(y > 0, 0.0, -C), upper=np.where(y > 0, C, 0.0))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
