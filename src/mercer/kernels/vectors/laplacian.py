"""The Laplacian kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer.kernels.algebra.gamma import Gamma
from mercer.kernels.base import Measure
from mercer.kernels.vectors.decay import ExponentialDecay
from mercer.kernels.vectors.l1 import L1Distance


@final
@dataclass(frozen=True)
class Laplacian(ExponentialDecay):
    """The Laplacian kernel, k(x, z) = exp(-gamma sum_i |x_i - z_i|).

    Heavier in the tails than `RBF` and less troubled by outlying features. `gamma` is a positive number; ``"scale"``,
    2 / the mean distance (so that, as in `RBF`, the mean distance decays to exp(-2)); ``"median"``, 1 / the median
    distance; or ``"auto"``, 1 / features. Both are taken over at most a thousand evenly spread rows.

    >>> from mercer import kernels
    >>> kernels.Laplacian(gamma=0.5).fit([[1.0, 2.0, 3.0]])([[1.0, 2.0, 3.0]], [[2.0, 0.5, -1.0]]).round(6)
    array([[0.038774]])
    """

    gamma: Gamma = "scale"

    formula = r"\exp\left(-<gamma>\,\left\lVert <x> - <z> \right\rVert_1\right)"

    @property
    def measure(self) -> Measure:
        return L1Distance()

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(gamma=0.3)
        yield cls(gamma="median")
