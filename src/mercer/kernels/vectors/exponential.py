"""The exponential kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer.kernels.algebra.gamma import Gamma
from mercer.kernels.base import Measure
from mercer.kernels.vectors.decay import ExponentialDecay
from mercer.kernels.vectors.euclidean import Euclidean


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

    gamma: Gamma = "scale"

    formula = r"\exp\left(-<gamma>\,\left\lVert <x> - <z> \right\rVert\right)"

    @property
    def measure(self) -> Measure:
        return Euclidean()

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(gamma=0.3)
        yield cls(gamma="median")
