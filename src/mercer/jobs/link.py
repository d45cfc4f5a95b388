"""The scale on which numbers are learnt: their own, or that of their logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64

LOG = "log"
_SKEWED = 1.0
"""The skewness from which logarithms are tried: that of a distribution with a clear tail."""
_LARGEST = 700.0
"""Beyond this, exp overflows."""


@final
@dataclass(frozen=True)
class Link:
    """Transforms targets into what a machine learns, and its outputs back into predictions."""

    name: str = ""

    def __call__(self, y: Float64) -> Float64:
        """What the machine learns."""
        return np.log(y) if self.name == LOG else y

    def inverse(self, said: Float64) -> Float64:
        """Predictions from the outputs of the machine."""
        return np.exp(np.minimum(said, _LARGEST)) if self.name == LOG else said


PLAIN = Link()


def may_be_logarithmic(y: Float64) -> bool:
    """Whether targets are positive and have a long tail to the right."""
    deviation = float(np.std(y))
    if not (y > 0).all() or not deviation > 0:
        return False
    return float(np.mean(((y - y.mean()) / deviation) ** 3)) > _SKEWED
