"""Random Fourier features: the Gaussian kernel by a random sample of waves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra import gamma
from mercer.kernels.vectors.distances import resolved_gamma
from mercer.kernels.vectors.randomised import SampledKernel


@final
@dataclass(frozen=True)
class RandomFourierFeatures(SampledKernel):
    """An approximation of `RBF` by waves, k(x, z) = (1 / m) sum_i 2 cos(w_i'x + b_i) cos(w_i'z + b_i).

    The w_i are normal with variance 2 gamma, the b_i uniform on [0, 2 pi); the mean is exp(-gamma |x - z|^2), and the
    error falls like 1 / sqrt(size). Its `size` features are explicit, so large problems become linear ones. `gamma` is
    as in `RBF`; the sample depends on `random_state` and the number of features alone.

    >>> from mercer import kernels
    >>> waves = kernels.RandomFourierFeatures(gamma=0.5, size=100_000, random_state=0)
    >>> waves.fit([[0.0]])([[0.0]], [[1.0]]).round(2)
    array([[0.61]])
    """

    gamma: gamma.Gamma = "scale"
    size: int = 1000
    random_state: int = 0

    formula = r"\frac{2}{<size>} \sum_i \cos(w_i^\top <x> + b_i) \cos(w_i^\top <z> + b_i)"

    def __post_init__(self) -> None:
        super().__post_init__()
        gamma.checked("RandomFourierFeatures", self.gamma)

    @property
    def data_dependent(self) -> bool:
        return self.gamma in ("scale", "median")

    def sample(self, generator: np.random.Generator, objects: Vectors) -> dict[str, npt.NDArray[Any]]:
        spread = math.sqrt(2 * resolved_gamma(self.gamma, objects))
        return {
            "directions": spread * generator.standard_normal((objects.n_features, self.size)),
            "phases": generator.uniform(0, 2 * math.pi, self.size),
        }

    def values(self, rows: Any, sample: Any) -> Any:
        angles = np.asarray(rows @ sample["directions"])
        angles += sample["phases"]
        return math.sqrt(2) * np.cos(angles)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(size=200)
        yield cls(gamma=0.3, size=64, random_state=1)
