"""The quadratic problem behind support vector machines of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mercer.solvers.solution import Float64


@final
@dataclass(frozen=True, eq=False)
class BoxProblem:
    """Minimise 1/2 b'Kb + linear'b over lower <= b <= upper, and sum(b) = total unless `total` is None.

    The sum constraint is what an unpenalised intercept becomes in the dual; without it there is no intercept. `mass`
    also fixes sum(|b|), as the nu-forms do; every box then lies on one side of zero, and both sides have their sums.
    """

    linear: Float64
    lower: Float64
    upper: Float64
    total: float | None = 0.0
    mass: float | None = None
