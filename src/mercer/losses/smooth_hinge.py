"""The hinge with its kink rounded off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mercer.losses.softplus import Softplus


@final
@dataclass(frozen=True)
class SmoothHinge(Softplus):
    """l(y, f) = log(1 + exp(1 - y f)) for y in {-1, +1}, the softplus of the hinge.

    >>> import numpy as np
    >>> SmoothHinge().value(np.array([1.0, 1.0]), np.array([1.0, 3.0])).round(4)
    array([0.6931, 0.1269])
    """

    margin = 1.0
