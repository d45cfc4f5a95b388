"""The pinball loss, whose minimiser is a quantile."""

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
class Quantile(PiecewiseQuadratic):
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

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=(self.tau - 1.0) * C, upper=self.tau * C)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(tau=0.9)
