"""Least squares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.dual import Dual, unbounded


@final
@dataclass(frozen=True)
class Squared(Loss):
    """l(y, f) = (y - f)^2 / 2.

    >>> import numpy as np
    >>> Squared().value(np.array([1.0, 1.0]), np.array([2.0, 4.0]))
    array([0.5, 4.5])
    """

    smooth = True
    classifies = False

    def value(self, y: Float64, f: Float64) -> Float64:
        return 0.5 * (y - f) ** 2

    def slope(self, y: Float64, f: Float64) -> Float64:
        return f - y

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.ones(np.broadcast_shapes(np.shape(y), np.shape(f)))

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        return a * y + 0.5 * a * a

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, *unbounded(C), ridge=1.0 / C)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
