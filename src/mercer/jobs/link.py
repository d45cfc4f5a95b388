"""The scale on which numbers are learnt: their own, or that of their logarithms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer._types import Float64

LOG = "log"
_SKEWED = 1.0
"""The skewness from which logarithms are tried: that of a distribution with a clear tail."""
_LARGEST = 700.0
"""Beyond this, exp overflows."""
_BEYOND = 0.5
"""How far predicted logarithms may lie beyond those learnt, as a share of the range of these. A typing error in a
column takes a machine far outside of what it learnt, and there one more on the scale of logarithms is three times the
price: such predictions are as large as the largest plausible one, not astronomical."""


@final
@dataclass(frozen=True)
class Link:
    """Transforms targets into what a machine learns, and its outputs back into predictions."""

    name: str = ""
    low: float = -_LARGEST
    """Predicted logarithms lie between these two."""
    high: float = _LARGEST

    @classmethod
    def logarithmic(cls, y: Float64) -> Self:
        """Logarithms, for targets like these."""
        least, most = math.log(float(y.min())), math.log(float(y.max()))
        beyond = _BEYOND * (most - least)
        return cls(LOG, round(least - beyond, 3), round(most + beyond, 3))

    @classmethod
    def restored(cls, name: Any, limits: Any) -> Self:
        """From the record of a model; older ones have no limits, and those of a damaged one are not used."""
        valid = isinstance(limits, list) and len(limits) == 2 and all(type(limit) is float for limit in limits)
        if not valid or not -_LARGEST <= limits[0] <= limits[1] <= _LARGEST:
            return cls(str(name or ""))
        return cls(str(name or ""), limits[0], limits[1])

    def __call__(self, y: Float64) -> Float64:
        """What the machine learns."""
        return np.log(y) if self.name == LOG else y

    def inverse(self, said: Float64) -> Float64:
        """Predictions from the outputs of the machine."""
        return np.exp(np.clip(said, self.low, self.high)) if self.name == LOG else said


PLAIN = Link()


def may_be_logarithmic(y: Float64) -> bool:
    """Whether targets are positive and have a long tail to the right."""
    deviation = float(np.std(y))
    if not (y > 0).all() or not deviation > 0:
        return False
    return float(np.mean(((y - y.mean()) / deviation) ** 3)) > _SKEWED
