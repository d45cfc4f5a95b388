"""The base of all certificates: the value reached, and a bound that no solution can improve upon."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np


class Proof(ABC):
    """A minimised value and a lower bound on it; printed, it is a sentence or two."""

    @property
    @abstractmethod
    def reached(self) -> float:
        """The value reached."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """A lower bound on the value of any solution."""

    @property
    def gap(self) -> float:
        """An upper bound on how far the value reached is above the optimum."""
        return math.inf if math.isinf(self.reached) else self.reached - self.bound

    @property
    def relative_gap(self) -> float:
        """The gap divided by the value reached; infinite if nothing is known about the optimum.

        A converged machine violates the optimality conditions by at most `tol`, which allows a gap of `tol` times the
        sum of all penalties. Relative to the objective this is large if penalties are large, or if the optimum is zero.
        A smaller `tol` narrows it.
        """
        gap = self.gap
        return gap / max(abs(self.reached), abs(self.bound), np.finfo(float).tiny) if math.isfinite(gap) else math.inf

    @abstractmethod
    def __str__(self) -> str: ...


def percent(share: float) -> str:
    """A fraction as a percentage with three digits; rounding errors count as zero."""
    return f"{100.0 * share if abs(share) > _ROUNDING else 0.0:.3g} %"


_ROUNDING = 1e-12
"""The relative rounding error of float64 sums over a few thousand objects."""
