"""The quadratic problem behind support vector machines of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64


@final
@dataclass(frozen=True, eq=False)
class BoxProblem:
    """Minimise 1/2 b'Kb + linear'b over lower <= b <= upper, and sum(b) = total unless `total` is None.

    The sum constraint is what an unpenalised intercept becomes in the dual; without it there is no intercept. `mass`
    also fixes sum(|b|), as the nu-forms do; every box then lies on one side of zero, and both sides have their sums.
    `kink` adds kink'|b| to what is minimised, as the epsilon-insensitive loss does; it needs a total.
    """

    linear: Float64
    lower: Float64
    upper: Float64
    total: float | None = 0.0
    mass: float | None = None
    kink: Float64 | None = None

    def objective(self, b: Float64, F: Float64) -> float:
        """What is minimised, at b with F = -(Kb + linear)."""
        value = 0.5 * float(b @ (self.linear - F))
        return value if self.kink is None else value + float(self.kink @ np.abs(b))
