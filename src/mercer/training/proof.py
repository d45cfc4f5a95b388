"""What every certificate says, whatever it certifies: what was reached, and what nothing can improve upon."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np


class Proof(ABC):
    """A value that was minimised, and a bound that no solution lies below; printed, it is a sentence or two."""

    @property
    @abstractmethod
    def reached(self) -> float:
        """What was minimised, as it is."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """No solution has less."""

    @property
    def gap(self) -> float:
        """How far, at most, what was reached is above the optimum."""
        return math.inf if math.isinf(self.reached) else self.reached - self.bound

    @property
    def relative_gap(self) -> float:
        """The gap as a share of what was reached; infinite where nothing is known of the optimum.

        A machine that has converged violates the conditions of optimality by `tol` at most, which leaves a gap of at
        most `tol` times the sum of all penalties: a large share where penalties are large next to the objective, or
        where the optimum is zero. A smaller `tol` narrows it.
        """
        gap = self.gap
        return gap / max(abs(self.reached), abs(self.bound), np.finfo(float).tiny) if math.isfinite(gap) else math.inf

    @abstractmethod
    def __str__(self) -> str: ...


def percent(share: float) -> str:
    """A share in words, of three digits; what is left by rounding alone is nothing."""
    return f"{100.0 * share if abs(share) > _ROUNDING else 0.0:.3g} %"


_ROUNDING = 1e-12
"""Shares below this are what float64 leaves of sums over a few thousand objects."""
