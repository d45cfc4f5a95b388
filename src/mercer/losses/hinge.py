"""The loss of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic


@final
@dataclass(frozen=True)
class Hinge(PiecewiseQuadratic):
    """l(y, f) = max(0, 1 - y f) for y in {-1, +1}: zero on the right side of the margin, linear on the other.

    >>> import numpy as np
    >>> Hinge().value(np.array([1.0, 1.0, -1.0]), np.array([2.0, 0.5, 1.0]))
    array([0. , 0.5, 2. ])
    """

    smooth = False
    classifies = True

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=np.where(y > 0, 0.0, -C), upper=np.where(y > 0, C, 0.0))
