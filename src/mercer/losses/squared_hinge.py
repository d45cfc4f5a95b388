"""The smooth cousin of the hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic


@final
@dataclass(frozen=True)
class SquaredHinge(PiecewiseQuadratic):
    """l(y, f) = max(0, 1 - y f)^2 for y in {-1, +1}: slope everywhere, curvature within the margin.

    >>> import numpy as np
    >>> SquaredHinge().value(np.array([1.0, 1.0, -1.0]), np.array([2.0, 0.5, 1.0]))
    array([0.  , 0.25, 4.  ])
    """

    smooth = True
    classifies = True

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(-y, lower=np.where(y > 0, 0.0, -np.inf), upper=np.where(y > 0, np.inf, 0.0), ridge=0.5 / C)
