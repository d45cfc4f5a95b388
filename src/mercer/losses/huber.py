"""Least squares that is robust to outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mercer import _check
from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic


@final
@dataclass(frozen=True)
class Huber(PiecewiseQuadratic):
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

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=-self.delta * C, upper=self.delta * C, ridge=1.0 / C)
