"""Least squares that outliers cannot rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.dual import Dual


@final
@dataclass(frozen=True)
class Huber(Loss):
    """l(y, f) = r^2 / 2 for |r| <= delta, else delta (|r| - delta / 2), with r = y - f.

    >>> import numpy as np
    >>> Huber(1.0).value(np.array([0.0, 0.0]), np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    delta: float = 1.0

    smooth = True
    classifies = False

    def __post_init__(self) -> None:
        _check.real("Huber", "delta", self.delta, low=0, low_open=True, high_open=True)

    def value(self, y: Float64, f: Float64) -> Float64:
        r = np.abs(y - f)
        return np.where(r <= self.delta, 0.5 * r * r, self.delta * (r - 0.5 * self.delta))

    def slope(self, y: Float64, f: Float64) -> Float64:
        return np.clip(f - y, -self.delta, self.delta)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.where(np.abs(f - y) < self.delta, 1.0, 0.0)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        return np.where(np.abs(a) <= self.delta, a * y + 0.5 * a * a, np.inf)

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=-self.delta * C, upper=self.delta * C, ridge=1.0 / C)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
