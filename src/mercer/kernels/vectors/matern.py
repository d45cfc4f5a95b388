"""The Matern kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import Measure, State
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.euclidean import Euclidean

_NU = (0.5, 1.5, 2.5)


@final
@dataclass(frozen=True)
class Matern(Pointwise):
    """The Matern kernel: with d = |x - z| / length_scale, and nu one of 1/2, 3/2 and 5/2,

    - nu = 1/2: k = exp(-d)
    - nu = 3/2: k = (1 + sqrt(3) d) exp(-sqrt(3) d)
    - nu = 5/2: k = (1 + sqrt(5) d + 5 d^2 / 3) exp(-sqrt(5) d)

    Functions in its space are nu - 1/2 times differentiable: rougher than those of `RBF`, which is the limit.

    >>> from mercer import kernels
    >>> kernels.Matern(nu=1.5, length_scale=2.0).fit([[0.0]])([[0.0]], [[1.5]]).round(6)
    array([[0.627164]])
    """

    nu: float = 1.5
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        _check.real("Matern", "nu", self.nu, remedy="Give 0.5, 1.5 or 2.5; for a very smooth kernel use RBF.")
        if self.nu not in _NU:
            raise _check.fail("Matern", "nu", "one of 0.5, 1.5 and 2.5", self.nu, "For a very smooth kernel use RBF.")
        _check.real("Matern", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    @property
    def measure(self) -> Measure:
        return Euclidean()

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.matern(values, math.sqrt(2 * self.nu) / self.length_scale, _NU.index(self.nu))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(nu=0.5, length_scale=2.0)
        yield cls(nu=2.5, length_scale=0.7)
