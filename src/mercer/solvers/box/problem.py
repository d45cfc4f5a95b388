"""The quadratic problem behind support vector machines of every kind."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.solvers.problem import LossProblem

_BEYOND = 1e-9
"""How far beyond its bound rounding may put a coefficient, as a fraction of the bound."""
_ROUNDING = 1e-13
"""How far a coefficient may miss a bound, as a fraction of its box, after many steps that keep sums: about a hundred
rounding errors. A larger tolerance would move free coefficients."""


@final
@dataclass(frozen=True, eq=False)
class BoxProblem:
    """Minimise 1/2 b'Kb + linear'b + kink'|b| over lower <= b <= upper, and sum(b) = total unless `total` is None.

    The sum constraint is what an unpenalised intercept becomes in the dual; without it there is no intercept.
    `absolute_sum` also fixes sum(|b|), as the nu forms do; every box then lies on one side of zero, and the positive
    and the negative coefficients each keep their sum. Such a problem has no kink.
    """

    linear: Float64
    lower: Float64
    upper: Float64
    total: float | None = 0.0
    absolute_sum: float | None = None
    kink: Float64 | None = None
    known: tuple[Float64, Float64] | None = None
    """A point b and its Kb, where that is known more accurately than from the matrix, which is then used only for moves
    from there."""

    @classmethod
    def of(cls, problem: LossProblem) -> Self:
        """The dual of a machine with a piecewise linear loss."""
        dual = problem.loss.dual(problem.y, problem.C)
        assert dual is not None, "a loss without a quadratic dual"
        assert dual.is_box, "a loss whose dual is not a box problem"
        kink = dual.kink if dual.has_kink else None
        return cls(dual.linear, dual.lower, dual.upper, 0.0 if problem.intercept else None, kink=kink)

    @property
    def bounded(self) -> bool:
        """Whether every coefficient has two finite bounds."""
        return bool(np.isfinite(self.upper).all() and np.isfinite(self.lower).all())

    @property
    def is_hard_margin(self) -> bool:
        """Whether coefficients are unbounded on one side with linear term -y, so that w must separate the classes."""
        if self.bounded:
            return False
        signs = np.where(self.upper > 0, 1.0, -1.0)
        unbounded = np.isinf(np.where(signs > 0, self.upper, self.lower)).all()
        grounded = (np.where(signs > 0, self.lower, self.upper) == 0.0).all()
        two_sided = self.total is None or (self.total == 0.0 and len(np.unique(signs)) == 2)
        return bool(len(signs) and unbounded and grounded and two_sided and (self.linear == -signs).all())

    def part(self, ids: Indices) -> Self:
        """The problem restricted to some coefficients; contributions of the others to `linear` and to the sums are left
        out."""
        kink = None if self.kink is None else self.kink[ids]
        part = replace(self, linear=self.linear[ids], lower=self.lower[ids], upper=self.upper[ids], kink=kink)
        return part if self.known is None else replace(part, known=None)

    def begun(self, b: Float64) -> tuple[Float64, Float64]:
        """F = -(Kb + linear) at the known point, and the moves from there to b: F at b is that F minus K moves."""
        if self.known is None:
            return -self.linear, b
        point, image = self.known
        return -(self.linear + image), b - point

    @property
    def positive(self) -> npt.NDArray[np.bool_]:
        """Which coefficients belong to the positive side of a nu form; none in other problems."""
        return np.zeros(len(self.linear), dtype=bool) if self.absolute_sum is None else self.upper > 0

    @property
    def sums(self) -> Float64:
        """A column for each fixed sum: 1 for the coefficients it includes."""
        if self.total is None:
            return np.ones((len(self.linear), 0))
        if self.absolute_sum is None:
            return np.ones((len(self.linear), 1))
        return np.column_stack((self.positive, ~self.positive)).astype(np.float64)

    def price(self, b: Float64) -> float:
        """The objective without 1/2 b'Kb."""
        return float(self.linear @ b) + self._price_of_kinks(b)

    def largest_share(self, b: Float64) -> float:
        """The largest s <= 1 for which s b lies in the box, up to rounding."""
        ends = np.where(b > 0.0, self.upper, np.where(b < 0.0, self.lower, np.inf))
        most = float(np.max(np.divide(b, ends, where=ends != 0.0, out=np.zeros(len(b))), initial=0.0))
        return 1.0 if most <= 1.0 + _BEYOND else 1.0 / most

    def objective(self, b: Float64, F: Float64) -> float:
        """The objective at b, with F = -(Kb + linear)."""
        return 0.5 * float(b @ (self.linear - F)) + self._price_of_kinks(b)

    def _price_of_kinks(self, b: Float64) -> float:
        return 0.0 if self.kink is None else float(self.kink @ np.abs(b))

    def free(self, b: Float64) -> npt.NDArray[np.bool_]:
        """Which coefficients are free: on neither a bound nor a kink."""
        within: npt.NDArray[np.bool_] = (b > self.lower) & (b < self.upper)
        return within if self.kink is None else within & ((b != 0.0) | (self.kink == 0.0))

    def on_bounds(self, b: Float64) -> Float64:
        """The coefficients, with those that miss a bound only by rounding moved onto it."""
        size = self.upper - self.lower
        near = np.where(np.isfinite(size), _ROUNDING * size, 0.0)
        return np.where(self.upper - b <= near, self.upper, np.where(b - self.lower <= near, self.lower, b))

    def ends(self, b: Float64) -> tuple[Float64, Float64]:
        """The values to which each free coefficient may fall and rise before it meets a bound or a kink."""
        if self.kink is None:
            return self.lower, self.upper
        above, below = (b > 0.0) & (self.kink > 0.0), (b < 0.0) & (self.kink > 0.0)
        lowest = np.where(above, np.maximum(self.lower, 0.0), self.lower)
        return lowest, np.where(below, np.minimum(self.upper, 0.0), self.upper)

    def slopes(self, b: Float64, F: Float64) -> tuple[Float64, Float64]:
        """The gain of a small rise of each coefficient and the cost of a fall; -inf and +inf on a bound."""
        up, down = F, F
        if self.kink is not None:
            up, down = np.where(b >= 0, F - self.kink, F + self.kink), np.where(b > 0, F - self.kink, F + self.kink)
        return np.where(b < self.upper, up, -np.inf), np.where(b > self.lower, down, np.inf)

    def violation(self, b: Float64, F: Float64, off: Float64 | float = 0.0) -> float:
        """The largest violation of optimality at b, if F has errors of up to `off`.

        With a total, no rise may gain more than any fall costs; without, no rise and no fall may gain.
        """
        up, down = self.slopes(b, F)
        highest, lowest = float((up + off).max(initial=-np.inf)), float((down - off).min(initial=np.inf))
        if self.total is None:
            return max(highest, -lowest, 0.0)
        return max(highest - lowest, 0.0) if math.isfinite(highest - lowest) else 0.0
