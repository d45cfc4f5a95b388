"""Kernels of the distance between two vectors, other than the Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import ExponentialDecay, Pointwise, decaying
from mercer.kernels.base import State
from mercer.kernels.features.columns import ColumnProducts
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.distances import Chi2Distance, CircularDistance, Euclidean, L1Distance, SquaredEuclidean

_NU = (0.5, 1.5, 2.5)
"""The smoothness for which the Matern kernel has a closed form short enough for a loop."""


@final
@dataclass(frozen=True)
class Laplacian(ExponentialDecay):
    """The Laplacian kernel, k(x, z) = exp(-gamma sum_i |x_i - z_i|).

    It has heavier tails than `RBF` and is less sensitive to outliers. `gamma` is a positive number; ``"scale"``, 2 /
    the mean distance (as in `RBF`, k is exp(-2) at the mean distance); ``"median"``, 1 / the median distance; or
    ``"auto"``, 1 / features. Both are computed from at most a thousand evenly spaced rows.

    >>> from mercer import kernels
    >>> kernels.Laplacian(gamma=0.5).fit([[1.0, 2.0, 3.0]])([[1.0, 2.0, 3.0]], [[2.0, 0.5, -1.0]]).round(6)
    array([[0.038774]])
    """

    measure = L1Distance()
    formula = r"\exp\left(-<gamma>\,\left\lVert <x> - <z> \right\rVert_1\right)"


@final
@dataclass(frozen=True)
class Exponential(ExponentialDecay):
    """The exponential kernel, k(x, z) = exp(-gamma |x - z|), of the Euclidean distance, which is not squared.

    The same as `Matern` with nu = 1/2 and length_scale = 1 / gamma; `Laplacian` uses the L1 distance. `gamma` is a
    positive number; ``"scale"``, 2 / the mean distance; ``"median"``, 1 / the median distance; or ``"auto"``,
    1 / features.

    >>> from mercer import kernels
    >>> kernels.Exponential(gamma=0.5).fit([[0.0, 0.0]])([[0.0, 0.0]], [[3.0, 4.0]]).round(6)
    array([[0.082085]])
    """

    measure = Euclidean()
    formula = r"\exp\left(-<gamma>\,\left\lVert <x> - <z> \right\rVert\right)"


@final
@dataclass(frozen=True)
class ExponentialChi2(ExponentialDecay):
    """The exponential chi-squared kernel, k(x, z) = exp(-gamma sum_i (x_i - z_i)^2 / (x_i + z_i)), 0 / 0 being 0.

    For histograms and other non-negative vectors; negative entries are refused. `gamma` is a positive number;
    ``"scale"``, 2 / the mean distance; ``"median"``, 1 / the median distance; or ``"auto"``, 1 / features. Some
    libraries use half the distance; their gamma is twice ours.

    >>> from mercer import kernels
    >>> kernels.ExponentialChi2(gamma=1.0).fit([[0.2, 0.3, 0.5]])([[0.2, 0.3, 0.5]], [[0.1, 0.6, 0.3]]).round(6)
    array([[0.832491]])
    """

    measure = Chi2Distance()
    formula = r"\exp\left(-<gamma>\,\sum_i \frac{(<x>_i - <z>_i)^2}{<x>_i + <z>_i}\right)"


@final
@dataclass(frozen=True)
class Matern(Pointwise):
    """The Matern kernel: with d = |x - z| / length_scale, and nu one of 1/2, 3/2 and 5/2,

    - nu = 1/2: k = exp(-d)
    - nu = 3/2: k = (1 + sqrt(3) d) exp(-sqrt(3) d)
    - nu = 5/2: k = (1 + sqrt(5) d + 5 d^2 / 3) exp(-sqrt(5) d)

    Functions in its space are nu - 1/2 times differentiable: rougher than those of `RBF`, which is the limit for large
    nu.

    >>> from mercer import kernels
    >>> kernels.Matern(nu=1.5, length_scale=2.0).fit([[0.0]])([[0.0]], [[1.5]]).round(6)
    array([[0.627164]])
    """

    nu: float = 1.5
    length_scale: float = 1.0

    measure = Euclidean()
    variants = ({}, {"nu": 0.5, "length_scale": 2.0}, {"nu": 2.5, "length_scale": 0.7})

    def __post_init__(self) -> None:
        _check.real("Matern", "nu", self.nu, remedy="Give 0.5, 1.5 or 2.5; for a very smooth kernel use RBF.")
        if self.nu not in _NU:
            raise _check.fail("Matern", "nu", "one of 0.5, 1.5 and 2.5", self.nu, "For a very smooth kernel use RBF.")
        _check.real("Matern", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.matern(values, math.sqrt(2 * self.nu) / self.length_scale, _NU.index(self.nu))


@final
@dataclass(frozen=True)
class RationalQuadratic(Pointwise):
    """The rational quadratic kernel, k(x, z) = (1 + |x - z|^2 / (2 alpha length_scale^2))^-alpha.

    A mixture of `RBF` kernels of all widths; as alpha grows it becomes the one of gamma = 1 / (2 length_scale^2).
    Integer `alpha` up to 8 is fastest.

    >>> from mercer import kernels
    >>> kernels.RationalQuadratic(alpha=1.5, length_scale=2.0).fit([[0.0]])([[0.0]], [[1.5]]).round(6)
    array([[0.772769]])
    """

    alpha: float = 1.0
    length_scale: float = 1.0

    measure = SquaredEuclidean()
    variants = ({}, {"alpha": 2.0, "length_scale": 0.5}, {"alpha": 0.7, "length_scale": 2.0})
    formula = (
        r"\left(1 + \frac{\left\lVert <x> - <z> \right\rVert^2}{2 \cdot <alpha> \cdot <length_scale>^2}\right)"
        r"^{-<alpha>}"
    )

    def __post_init__(self) -> None:
        _check.real("RationalQuadratic", "alpha", self.alpha, low=0, low_open=True, high_open=True)
        _check.real("RationalQuadratic", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    def pointwise(self, values: Floating, state: State) -> None:
        # Divided one by one: the product of three valid numbers may overflow or underflow.
        epilogues.rational(values, 0.5 / self.alpha / self.length_scale / self.length_scale, float(self.alpha))


@final
@dataclass(frozen=True)
class Periodic(Pointwise):
    """The periodic kernel, k(x, z) = exp(-2 sum_i sin^2(pi (x_i - z_i) / period) / length_scale^2).

    For quantities that repeat, such as the hour of a day. The sum over coordinates is a kernel in any dimension; the
    sine of a distance, found elsewhere, is one only for single numbers.

    >>> from mercer import kernels
    >>> hours = kernels.Periodic(period=24.0)
    >>> hours.fit([[1.0]])([[1.0]], [[25.0], [13.0]]).round(6)
    array([[1.      , 0.135335]])
    """

    period: float = 1.0
    length_scale: float = 1.0

    variants = (
        {},
        {"period": 3.0, "length_scale": 0.8},
    )
    formula = r"\exp\left(-\frac{2}{<length_scale>^2} \sum_i \sin^2 \frac{\pi (<x>_i - <z>_i)}{<period>}\right)"

    def __post_init__(self) -> None:
        _check.real("Periodic", "period", self.period, low=0, low_open=True, high_open=True)
        _check.real("Periodic", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    @property
    def measure(self) -> CircularDistance:
        return CircularDistance(float(self.period))

    def column_products(self, state: State) -> ColumnProducts | None:
        return decaying(self.measure, 0.5 / self.length_scale**2)

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.exp_of_negative(values, min(0.5 / self.length_scale / self.length_scale, 1e308))

    def single_precision(self, features: Any, state: State) -> bool:
        # Distances between points on circles have a relative error of about 1e-7, which a narrow kernel magnifies.
        return bool(self.length_scale**2 >= 0.02 * features.squared_lengths.max(initial=0.0))
