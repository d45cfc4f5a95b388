"""What a solver returns."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, final

from mercer._types import Float64


@final
class Status(enum.Enum):
    """How a solver ended; the value is the sentence shown to the user, with what to do."""

    CONVERGED = ""
    OUT_OF_ITERATIONS = (
        "The limit on iterations was reached before the solution met the tolerance. "
        "Raise max_iter, scale the features, or lower C."
    )
    OUT_OF_TIME = (
        "The time limit was reached before the solution met the tolerance. "
        "Raise time_limit, scale the features, or lower C."
    )
    OF_A_PART = (
        "The time limit allowed training on only a part of the objects. "
        "Raise time_limit, or use an approximation of the kernel: kernels.Nystrom(kernel, 1000)."
    )
    STALLED = (
        "Rounding errors stopped progress before the solution met the tolerance. "
        "Scale the features, lower C, or check that the kernel is positive semi-definite."
    )


@final
@dataclass(frozen=True)
class Stats:
    """Iterations, violation and time."""

    iterations: int
    gap: float
    """The largest violation of the optimality conditions, in units of the decision function."""
    seconds: float


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of the expansion, its intercept, and how they were found."""

    coefficients: Float64
    outputs: Float64
    """K @ coefficients, recomputed in float64: the decision values on the training objects minus the intercept; empty
    if time ran out before they were known."""
    intercept: Any
    """A number, or one for each output."""
    objective: float
    """The objective value: of the dual for box problems, of the primal for smooth ones."""
    status: Status
    stats: Stats
    off: Float64 | float = 0.0
    """Bound on the error of each of `outputs` if the matrix is float32."""

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED
