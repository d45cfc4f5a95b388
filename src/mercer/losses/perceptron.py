"""The perceptron's own loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic


@final
@dataclass(frozen=True)
class PerceptronLoss(PiecewiseQuadratic):
    """l(y, f) = max(0, -y f) for y in {-1, +1}: zero for objects on the right side, however near the boundary.

    >>> import numpy as np
    >>> PerceptronLoss().value(np.array([1.0, -1.0]), np.array([0.1, 2.0]))
    array([0., 2.])
    """

    smooth = False
    classifies = True

    def dual(self, y: Float64, C: Float64) -> Dual:
        return Dual.of(np.zeros_like(y), lower=np.where(y > 0, 0.0, -C), upper=np.where(y > 0, C, 0.0))
