"""The exponential chi-squared kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer.kernels.algebra.gamma import Gamma
from mercer.kernels.base import Measure
from mercer.kernels.vectors.chi2_distance import Chi2Distance
from mercer.kernels.vectors.decay import ExponentialDecay


@final
@dataclass(frozen=True)
class ExponentialChi2(ExponentialDecay):
    """The exponential chi-squared kernel, k(x, z) = exp(-gamma sum_i (x_i - z_i)^2 / (x_i + z_i)), 0 / 0 being 0.

    For histograms and other non-negative vectors; negative entries are refused. `gamma` is a positive number;
    ``"scale"``, 2 / the mean distance; ``"median"``, 1 / the median distance; or ``"auto"``, 1 / features. Some
    libraries halve the distance: their gamma is twice ours.

    >>> from mercer import kernels
    >>> kernels.ExponentialChi2(gamma=1.0).fit([[0.2, 0.3, 0.5]])([[0.2, 0.3, 0.5]], [[0.1, 0.6, 0.3]]).round(6)
    array([[0.832491]])
    """

    gamma: Gamma = "scale"

    formula = r"\exp\left(-<gamma>\,\sum_i \frac{(<x>_i - <z>_i)^2}{<x>_i + <z>_i}\right)"

    @property
    def measure(self) -> Measure:
        return Chi2Distance()

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(gamma=0.3)
        yield cls(gamma="median")
