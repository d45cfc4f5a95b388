"""The smooth cousin of the epsilon-insensitive loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic


@final
@dataclass(frozen=True)
class SquaredEpsilonInsensitive(PiecewiseQuadratic):
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

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=-np.inf, upper=np.inf, kink=self.epsilon, ridge=0.5 / C)
