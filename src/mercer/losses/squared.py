"""Least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic


@final
@dataclass(frozen=True)
class Squared(PiecewiseQuadratic):
    """l(y, f) = (y - f)^2 / 2.

    >>> import numpy as np
    >>> Squared().value(np.array([1.0, 1.0]), np.array([2.0, 4.0]))
    array([0.5, 4.5])
    """

    smooth = True
    classifies = False

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=-np.inf, upper=np.inf, ridge=1.0 / C)
