"""Random features of non-Gaussian kernels: waves for the Laplacian and Matern, half-spaces for arc-cosine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._record import boolean, integer
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra.pointwise import Gamma, HasGamma
from mercer.kernels.vectors.distances import resolved_gamma
from mercer.kernels.vectors.randomised import SampledKernel, Waves, normal_directions


@final
@dataclass(frozen=True)
class LaplacianFeatures(HasGamma, Waves):
    """An approximation of `Laplacian` by waves, k(x, z) = (1 / m) sum_i 2 cos(w_i'x + b_i) cos(w_i'z + b_i).

    The entries of w_i are Cauchy of scale gamma, the b_i uniform on [0, 2 pi); the mean is exp(-gamma sum |x - z|), and
    the error falls like 1 / sqrt(size).

    >>> from mercer import kernels
    >>> waves = kernels.LaplacianFeatures(gamma=0.5, size=100_000)
    >>> waves.fit([[0.0]])([[0.0]], [[1.0]]).round(2)
    array([[0.61]])
    """

    gamma: Gamma = "scale"
    size: int = 1000
    random_state: int = 0

    variants = ({"size": 100}, {"gamma": 0.3, "size": 64, "random_state": 1})

    orthogonal = False  # its spectrum is not the same in every direction

    def directions(self, generator: np.random.Generator, objects: Vectors, count: int) -> Any:
        return resolved_gamma(self.gamma, objects) * generator.standard_cauchy((objects.n_features, count))


@final
@dataclass(frozen=True)
class MaternFeatures(Waves):
    """An approximation of `Matern` by waves, k(x, z) = (1 / m) sum_i 2 cos(w_i'x + b_i) cos(w_i'z + b_i).

    The w_i follow Student's distribution with 2 nu degrees of freedom, divided by length_scale; the b_i are uniform on
    [0, 2 pi). Here nu may be any number > 0. `orthogonal` is as in `RandomFourierFeatures`.

    >>> from mercer import kernels
    >>> waves = kernels.MaternFeatures(nu=1.5, length_scale=2.0, size=100_000)
    >>> waves.fit([[0.0]])([[0.0]], [[1.5]]).round(2)
    array([[0.63]])
    """

    nu: float = 1.5
    length_scale: float = 1.0
    size: int = 1000
    random_state: int = 0
    orthogonal: bool = boolean()

    variants = ({"size": 100}, {"nu": 0.5, "length_scale": 2.0, "size": 64, "orthogonal": True})

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("MaternFeatures", "nu", self.nu, low=0, low_open=True, high_open=True)
        _check.real("MaternFeatures", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    def directions(self, generator: np.random.Generator, objects: Vectors, count: int) -> Any:
        normal = normal_directions(generator, objects.n_features, count, orthogonal=self.orthogonal)
        freedom = 2.0 * self.nu
        return normal * np.sqrt(freedom / generator.chisquare(freedom, count)) / self.length_scale


@final
@dataclass(frozen=True)
class ArcCosineFeatures(SampledKernel):
    """An approximation of the arc-cosine kernel by random half-spaces, k(x, z) = (1 / m) sum_i f_i(x) f_i(z).

    f_i(x) = sqrt(2) max(0, w_i'x)^order with w_i standard normal (for order 0, sqrt(2) if w_i'x > 0): in the limit, a
    layer of infinitely many neurons. With theta the angle between x and z, the mean is 1 - theta / pi for order 0, |x|
    |z| (sin theta + (pi - theta) cos theta) / pi for order 1. With `orthogonal`, directions are orthogonal in blocks of
    as many functions as there are columns, which reduces the error.

    >>> from mercer import kernels
    >>> layer = kernels.ArcCosineFeatures(order=1, size=100_000)
    >>> layer.fit([[1.0, 0.0]])([[1.0, 0.0]], [[0.0, 1.0]]).round(2)
    array([[0.32]])
    """

    order: int = integer(1, low=0, high=4)
    size: int = 1000
    random_state: int = 0
    orthogonal: bool = boolean()

    variants = ({"size": 100}, {"order": 0, "size": 64, "orthogonal": True})
    formula = r"\frac{2}{<size>} \sum_i \max(0, w_i^\top <x>)^{<order>} \max(0, w_i^\top <z>)^{<order>}"

    def sample(self, generator: np.random.Generator, objects: Vectors) -> dict[str, npt.NDArray[Any]]:
        found = normal_directions(generator, objects.n_features, self.size, orthogonal=self.orthogonal)
        return {"directions": found}

    def values(self, rows: Any, sample: Any) -> Any:
        outputs = np.asarray(rows @ sample["directions"])
        if self.order == 0:
            return math.sqrt(2) * (outputs > 0)
        np.maximum(outputs, 0.0, out=outputs)
        return math.sqrt(2) * outputs**self.order
