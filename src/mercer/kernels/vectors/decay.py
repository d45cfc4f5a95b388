"""Kernels that decay exponentially with a distance between vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer._types import Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra import gamma
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import Measure, State
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.distances import Chi2Distance, L1Distance
from mercer.kernels.vectors.euclidean import Euclidean


@dataclass(frozen=True)
class ExponentialDecay(Pointwise):
    """k(x, z) = exp(-gamma d(x, z)). Subclasses give the distance, as `measure`."""

    gamma: gamma.Gamma = "scale"

    def __post_init__(self) -> None:
        gamma.checked(type(self).__name__, self.gamma)

    @property
    def data_dependent(self) -> bool:
        return self.gamma in ("scale", "median")

    def parameters(self, objects: Vectors, measure_state: State) -> dict[str, float]:
        if not isinstance(self.gamma, str):
            return {"gamma": float(self.gamma)}
        if self.gamma == "auto":
            return {"gamma": 1.0 / objects.n_features}
        return {"gamma": gamma.of_distances(self.gamma, self.measure, objects, measure_state)}

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.exp_of_negative(values, state.number("gamma"))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(gamma=0.3)
        yield cls(gamma="median")


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

    formula = r"\exp\left(-<gamma>\,\left\lVert <x> - <z> \right\rVert_1\right)"

    @property
    def measure(self) -> Measure:
        return L1Distance()


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

    formula = r"\exp\left(-<gamma>\,\left\lVert <x> - <z> \right\rVert\right)"

    @property
    def measure(self) -> Measure:
        return Euclidean()


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

    formula = r"\exp\left(-<gamma>\,\sum_i \frac{(<x>_i - <z>_i)^2}{<x>_i + <z>_i}\right)"

    @property
    def measure(self) -> Measure:
        return Chi2Distance()
