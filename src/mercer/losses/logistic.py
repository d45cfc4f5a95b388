"""The loss whose decision values are log odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mercer.losses.softplus import Softplus


@final
@dataclass(frozen=True)
class Logistic(Softplus):
    """l(y, f) = log(1 + exp(-y f)) for y in {-1, +1}: minus the log likelihood of P(y | x) = 1 / (1 + exp(-y f)).

    >>> import numpy as np
    >>> Logistic().value(np.array([1.0, -1.0]), np.array([0.0, 2.0])).round(4)
    array([0.6931, 2.1269])
    """

    margin = 0.0
