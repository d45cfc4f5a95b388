"""The duals of losses that coordinate descent minimises one coefficient at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.quantile import Quantile
from mercer.losses.squared import Squared
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.losses.squared_hinge import SquaredHinge


@final
@dataclass(frozen=True, eq=False)
class DualForm:
    """Minimise 1/2 |sum_i b_i x_i|^2 + sum_i (1/2 ridge_i b_i^2 - y_i b_i + epsilon |b_i|) over lower <= b <= upper."""

    y: Float64
    ridge: Float64
    lower: Float64
    upper: Float64
    epsilon: float = 0.0


def dual_form(loss: Loss, y: Float64, C: Float64) -> DualForm | None:
    """The dual of 1/2 |w|^2 + sum_i C_i loss(y_i, <w, x_i>), or None where it has another form."""
    nothing, free = np.zeros_like(C), np.full_like(C, np.inf)
    match loss:
        case Hinge():
            return DualForm(y, nothing, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0))
        case SquaredHinge():
            return DualForm(y, 0.5 / C, np.where(y > 0, 0.0, -free), np.where(y > 0, free, 0.0))
        case EpsilonInsensitive(epsilon):
            return DualForm(y, nothing, -C, C, epsilon)
        case Quantile(tau):
            return DualForm(y, nothing, (tau - 1.0) * C, tau * C)
        case SquaredEpsilonInsensitive(epsilon):
            return DualForm(y, 0.5 / C, -free, free, epsilon)
        case Squared():
            return DualForm(y, 1.0 / C, -free, free)
    return None
