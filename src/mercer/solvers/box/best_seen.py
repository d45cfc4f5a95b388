"""Keeps the best machine of a run, which is returned if time runs out before convergence.

The dual objective improves in every round, but the primal objective of the machine goes up and down while working sets
are solved one after another. The first working set is a machine trained on some of the objects, and often remains the
best for a long time.
"""

from __future__ import annotations

from typing import final

import numpy as np
import scipy.optimize

from mercer._types import Float64
from mercer.solvers.box.problem import BoxProblem

_SAMPLE = 20_000
"""Number of objects, evenly spread, whose losses are summed: enough to rank machines, in a hundredth of a second."""


@final
class BestSeen:
    """Coefficients and F of the round with the smallest sum_i C_i loss(f_i + c) + 1/2 |w|^2, minimised over c."""

    def __init__(self, problem: BoxProblem) -> None:
        self._problem = problem
        self._step = -(-len(problem.linear) // _SAMPLE)
        part = slice(None, None, self._step)
        self._part, self._ends = part, (problem.lower[part], problem.upper[part])
        kink = np.zeros(1) if problem.kink is None else problem.kink[part]
        self._prices = tuple(kink * np.abs(end) for end in self._ends)
        self._rests = (self._ends[0] <= 0.0) & (self._ends[1] >= 0.0)
        self._least = np.inf
        self.found: tuple[Float64, Float64] | None = None

    @staticmethod
    def applies_to(problem: BoxProblem) -> bool:
        """Whether the machines of a problem can be compared this way: it must have a loss, and bounded coefficients."""
        return problem.bounded and problem.absolute_sum is None

    def see(self, b: Float64, F: Float64) -> None:
        """Keep a point if it is the best so far."""
        value = self.value(b, F)
        if value < self._least:
            self._least, self.found = value, (b.copy(), F.copy())

    def value(self, b: Float64, F: Float64) -> float:
        """The objective of the machine at its best intercept; losses are the conjugates of their boxes."""
        some = F[self._part]
        norm = -0.5 * float(b @ (F + self._problem.linear))

        def losses(level: float) -> float:
            slopes = some - level
            low, high = (end * slopes - price for end, price in zip(self._ends, self._prices, strict=True))
            worst = np.maximum(low, high)
            return self._step * float(np.where(self._rests, np.maximum(worst, 0.0), worst).sum())

        if self._problem.total is None:
            return norm + losses(0.0)
        reach = float(np.abs(some).max(initial=0.0)) + 1.0
        return norm + float(scipy.optimize.minimize_scalar(losses, bounds=(-reach, reach), method="bounded").fun)
