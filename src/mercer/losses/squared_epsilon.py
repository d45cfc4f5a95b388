"""The smooth cousin of the epsilon-insensitive loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.dual import Dual, unbounded


@final
@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """l(y, f) = max(0, |y - f| - epsilon)^2.

    >>> import numpy as np
    >>> SquaredEpsilonInsensitive(0.5).value(np.array([1.0, 1.0]), np.array([1.2, 3.0]))
    array([0.  , 2.25])
    """

    epsilon: float = 0.1

    smooth = True
    classifies = False

    def __post_init__(self) -> None:
        _check.real("SquaredEpsilonInsensitive", "epsilon", self.epsilon, low=0, high_open=True)

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon) ** 2

    def slope(self, y: Float64, f: Float64) -> Float64:
        return 2.0 * np.sign(f - y) * np.maximum(0.0, np.abs(f - y) - self.epsilon)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        return np.where(np.abs(f - y) > self.epsilon, 2.0, 0.0)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        return a * y + self.epsilon * np.abs(a) + 0.25 * a * a

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, *unbounded(C), kink=self.epsilon, ridge=0.5 / C)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
