"""The dual of a loss, where it is quadratic: the one description from which every solver takes what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import Float64

_ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""A coefficient beyond its bound by at most this fraction still counts as on it: tau C / C is not always tau."""


@final
@dataclass(frozen=True, eq=False)
class Dual:
    """Minimise 1/2 b'Kb + sum_i (1/2 ridge_i b_i^2 + linear_i b_i + kink_i |b_i|) over lower <= b <= upper.

    This is the dual of 1/2 |w|^2 + sum_i C_i l(y_i, f(x_i)), with the sign turned round. b are signed coefficients: the
    decision function is sum_i b_i k(x_i, .), plus an intercept whose price is that the b sum to zero. Equivalently,
    C_i l*(y_i, -b_i / C_i) is the sum's i-th term within the bounds, and infinite beyond them.

    It determines the loss. With e_i the part of f_i + linear_i beyond the tube [-kink_i, kink_i], C_i l(y_i, f_i) is
    the largest s e_i - 1/2 ridge_i s^2 over slopes -upper_i <= s <= -lower_i.

    >>> squared_hinge = Dual.of(np.array([-1.0]), lower=0.0, upper=np.inf, ridge=0.5)
    >>> [part(np.array([-2.0])).item() for part in (squared_hinge.value, squared_hinge.slope, squared_hinge.curvature)]
    [9.0, -6.0, 2.0]
    """

    linear: Float64
    lower: Float64
    upper: Float64
    kink: Float64
    """The price of |b_i|: half the width of a tube in which errors cost nothing."""
    ridge: Float64
    """The price of b_i^2 / 2: the curvature of the conjugate of a loss that grows like a square."""

    @classmethod
    def of(
        cls,
        linear: Float64,
        *,
        lower: Float64 | float,
        upper: Float64 | float,
        kink: Float64 | float = 0.0,
        ridge: Float64 | float = 0.0,
    ) -> Self:
        """Numbers are broadcast to arrays."""
        lower, upper, kink, ridge = (_as_array(part, np.shape(linear)) for part in (lower, upper, kink, ridge))
        return cls(linear, lower, upper, kink, ridge)

    @property
    def is_box(self) -> bool:
        """Whether the loss is piecewise linear; its dual is then a quadratic programme over a box."""
        return not self.ridge.any()

    @property
    def has_kink(self) -> bool:
        return bool(self.kink.any())

    @property
    def one_sided(self) -> bool:
        """Whether no coefficient can change its sign, as for losses that are monotone in f."""
        return not self.has_kink and bool(((self.lower == 0) | (self.upper == 0)).all())

    @property
    def least_squares(self) -> bool:
        """Whether the coefficients are unbounded; they then solve a linear system."""
        return not self.has_kink and bool(np.isinf(self.lower).all() and np.isinf(self.upper).all())

    def value(self, f: Float64) -> Float64:
        """C_i l(y_i, f_i)."""
        error = self._beyond(f)
        slope = self._slope(error)
        return np.asarray(slope * (error - 0.5 * self.ridge * slope) + 0.0)  # turns -0.0 into 0.0

    def slope(self, f: Float64) -> Float64:
        """The derivative of C_i l(y_i, f_i) in f_i; at a kink, the subgradient nearest to zero."""
        return self._slope(self._beyond(f))

    def _slope(self, error: Float64) -> Float64:
        with np.errstate(divide="ignore", invalid="ignore"):  # without a ridge every error reaches a bound
            steep = np.where(error == 0.0, 0.0, error / self.ridge)
        return np.asarray(np.clip(steep, -self.upper, -self.lower) + 0.0)

    def curvature(self, f: Float64) -> Float64:
        """The second derivative: 1 / ridge where the slope may follow the error, otherwise zero."""
        slope = self.slope(f)
        free = (-self.upper < slope) & (slope < -self.lower) & ((self.kink == 0.0) | (slope != 0.0))
        return np.divide(1.0, self.ridge, out=np.zeros(free.shape), where=free & (self.ridge > 0.0))

    def price(self, b: Float64) -> Float64:
        """The i-th term of the sum, infinite beyond the bounds: C_i l*(y_i, -b_i / C_i)."""
        low, high = self.lower - _ROUNDING * np.abs(self.lower), self.upper + _ROUNDING * np.abs(self.upper)
        price = 0.5 * self.ridge * b * b + self.linear * b + self.kink * np.abs(b)
        return np.where((b >= low) & (b <= high), price, np.inf)

    def _beyond(self, f: Float64) -> Float64:
        error = f + self.linear
        return np.asarray(error - np.clip(error, -self.kink, self.kink))


def _as_array(part: Float64 | float, shape: tuple[int, ...]) -> Float64:
    if isinstance(part, np.ndarray) and part.shape == shape and part.dtype == np.float64:
        return part
    return np.full(shape, part, dtype=np.float64)
