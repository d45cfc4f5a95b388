"""The smooth cousin of the hinge."""

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
class SquaredHinge(Loss):
    """l(y, f) = max(0, 1 - y f)^2 for y in {-1, +1}: slope everywhere, curvature within the margin.

    >>> import numpy as np
    >>> SquaredHinge().value(np.array([1.0, 1.0, -1.0]), np.array([2.0, 0.5, 1.0]))
    array([0.  , 0.25, 4.  ])
    """

    smooth = True
    classifies = True

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def slope(self, y: Float64, f: Float64) -> Float64:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * f)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.where(y * f < 1.0, 2.0, 0.0)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        s = y * a
        return np.where(s <= 0.0, s + 0.25 * s * s, np.inf)

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=np.where(y > 0, 0.0, -np.inf), upper=np.where(y > 0, np.inf, 0.0), ridge=0.5 / C)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
