"""The dual of a loss, where it is quadratic: the one description from which every solver takes what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import Float64


@final
@dataclass(frozen=True, eq=False)
class Dual:
    """Minimise 1/2 b'Kb + sum_i (1/2 ridge_i b_i^2 + linear_i b_i + kink_i |b_i|) over lower <= b <= upper.

    This is the dual of 1/2 |w|^2 + sum_i C_i l(y_i, f(x_i)), with the sign turned round. b are signed coefficients: the
    decision function is sum_i b_i k(x_i, .), plus an intercept whose price is that the b sum to zero. Equivalently,
    C_i l*(y_i, -b_i / C_i) is the sum's i-th term within the bounds, and infinite beyond them.
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
        lower: Float64,
        upper: Float64,
        *,
        kink: Float64 | float = 0.0,
        ridge: Float64 | float = 0.0,
    ) -> Self:
        """Numbers stand for arrays of themselves."""
        lower, upper, kink, ridge = (_as_array(part, np.shape(linear)) for part in (lower, upper, kink, ridge))
        return cls(linear, lower, upper, kink, ridge)

    @property
    def is_box(self) -> bool:
        """Whether the loss is made of straight pieces, so that the dual is a quadratic programme over a box."""
        return not self.ridge.any()

    @property
    def has_kink(self) -> bool:
        return bool(self.kink.any())

    @property
    def one_sided(self) -> bool:
        """Whether no coefficient can change its sign, as for losses that push one way alone."""
        return not self.has_kink and bool(((self.lower == 0) | (self.upper == 0)).all())

    @property
    def least_squares(self) -> bool:
        """Whether nothing bounds the coefficients, so that linear equations give them."""
        return not self.has_kink and bool(np.isinf(self.lower).all() and np.isinf(self.upper).all())


def _as_array(part: Float64 | float, shape: tuple[int, ...]) -> Float64:
    if isinstance(part, np.ndarray) and part.shape == shape and part.dtype == np.float64:
        return part
    return np.full(shape, part, dtype=np.float64)


def unbounded(C: Float64) -> tuple[Float64, Float64]:
    """No lower and no upper bound."""
    return np.full_like(C, -np.inf), np.full_like(C, np.inf)
