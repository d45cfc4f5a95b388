"""The hinge with its kink rounded off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from mercer._types import Float64
from mercer.losses.base import Loss


@final
@dataclass(frozen=True)
class SmoothHinge(Loss):
    """l(y, f) = log(1 + exp(1 - y f)) for y in {-1, +1}, the softplus of the hinge.

    >>> import numpy as np
    >>> SmoothHinge().value(np.array([1.0, 1.0]), np.array([1.0, 3.0])).round(4)
    array([0.6931, 0.1269])
    """

    smooth = True
    classifies = True

    def value(self, y: Float64, f: Float64) -> Float64:
        return np.logaddexp(0.0, 1.0 - y * f)

    def slope(self, y: Float64, f: Float64) -> Float64:
        return -y * expit(1.0 - y * f)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        p = expit(1.0 - y * f)
        return p * (1.0 - p)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        u = -(y * a)
        inside = (u >= 0.0) & (u <= 1.0)
        v = np.clip(u, 0.0, 1.0)
        return np.where(inside, xlogy(v, v) + xlog1py(1.0 - v, -v) - v, np.inf)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
