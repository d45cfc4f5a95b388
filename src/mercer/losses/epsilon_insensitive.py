"""The loss of support vector regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer import _check
from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic


@final
@dataclass(frozen=True)
class EpsilonInsensitive(PiecewiseQuadratic):
    """l(y, f) = max(0, |y - f| - epsilon): errors within the tube of half-width epsilon cost nothing.

    >>> import numpy as np
    >>> EpsilonInsensitive(0.5).value(np.array([1.0, 1.0]), np.array([1.2, 3.0]))
    array([0. , 1.5])
    """

    epsilon: float = 0.1

    smooth = False
    classifies = False

    def __post_init__(self) -> None:
        _check.real("EpsilonInsensitive", "epsilon", self.epsilon, low=0, high_open=True)

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=-C, upper=C, kink=self.epsilon)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(epsilon=0.0)
