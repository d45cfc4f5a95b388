"""What a machine minimises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mercer._types import Float64
from mercer.losses.base import Loss


@final
@dataclass(frozen=True, eq=False)
class LossProblem:
    """Minimise 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)) over f(x) = <w, phi(x)> + intercept.

    `y` holds targets as the loss wants them, `C` a penalty for each object. A joint loss has several `outputs`.
    """

    loss: Loss
    y: Float64
    C: Float64
    outputs: int = 1
    intercept: bool = True
