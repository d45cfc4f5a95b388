"""Kernels of the distance between two vectors, other than exponentials of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import Measure, State
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.distances import CircularDistance, SquaredEuclidean
from mercer.kernels.vectors.euclidean import Euclidean

_NU = (0.5, 1.5, 2.5)
"""The smoothness for which the Matern kernel has a closed form short enough for a loop."""


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


@final
@dataclass(frozen=True)
class RationalQuadratic(Pointwise):
    """The rational quadratic kernel, k(x, z) = (1 + |x - z|^2 / (2 alpha length_scale^2))^-alpha.

    A mixture of `RBF` kernels of all widths; as alpha grows it becomes the one of gamma = 1 / (2 length_scale^2).
    Whole `alpha` up to 8 are fastest.

    >>> from mercer import kernels
    >>> kernels.RationalQuadratic(alpha=1.5, length_scale=2.0).fit([[0.0]])([[0.0]], [[1.5]]).round(6)
    array([[0.772769]])
    """

    alpha: float = 1.0
    length_scale: float = 1.0

    formula = (
        r"\left(1 + \frac{\left\lVert <x> - <z> \right\rVert^2}{2 \cdot <alpha> \cdot <length_scale>^2}\right)"
        r"^{-<alpha>}"
    )

    def __post_init__(self) -> None:
        _check.real("RationalQuadratic", "alpha", self.alpha, low=0, low_open=True, high_open=True)
        _check.real("RationalQuadratic", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    @property
    def measure(self) -> Measure:
        return SquaredEuclidean()

    def pointwise(self, values: Floating, state: State) -> None:
        # Divided one by one: the product of three legal numbers can be too large or too small for a float.
        epilogues.rational(values, 0.5 / self.alpha / self.length_scale / self.length_scale, float(self.alpha))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(alpha=2.0, length_scale=0.5)
        yield cls(alpha=0.7, length_scale=2.0)


@final
@dataclass(frozen=True)
class Periodic(Pointwise):
    """The periodic kernel, k(x, z) = exp(-2 sum_i sin^2(pi (x_i - z_i) / period) / length_scale^2).

    For quantities that repeat, such as the hour of a day. The sum runs over coordinates, which keeps it a kernel in
    any dimension; the sine of a distance, as found elsewhere, is one on single numbers only.

    >>> from mercer import kernels
    >>> hours = kernels.Periodic(period=24.0)
    >>> hours.fit([[1.0]])([[1.0]], [[25.0], [13.0]]).round(6)
    array([[1.      , 0.135335]])
    """

    period: float = 1.0
    length_scale: float = 1.0

    formula = r"\exp\left(-\frac{2}{<length_scale>^2} \sum_i \sin^2 \frac{\pi (<x>_i - <z>_i)}{<period>}\right)"

    def __post_init__(self) -> None:
        _check.real("Periodic", "period", self.period, low=0, low_open=True, high_open=True)
        _check.real("Periodic", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    @property
    def measure(self) -> Measure:
        return CircularDistance(float(self.period))

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.exp_of_negative(values, min(0.5 / self.length_scale / self.length_scale, 1e308))

    def single_precision(self, features: Any, state: State) -> bool:
        # Distances between points on circles are known to about 1e-7 of their number; a sharp kernel magnifies that.
        return bool(self.length_scale**2 >= 0.02 * features.squared_lengths.max(initial=0.0))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(period=3.0, length_scale=0.8)
