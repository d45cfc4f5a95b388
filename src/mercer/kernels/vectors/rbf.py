"""The Gaussian kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer import _check
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.kernels import epilogues, gamma
from mercer.kernels.base import Floating, Kernel, Measure, State
from mercer.kernels.distance import KernelDistance
from mercer.kernels.pointwise import Pointwise
from mercer.kernels.vectors.distance import SquaredEuclidean


@final
@dataclass(frozen=True)
class RBF(Pointwise):
    """The Gaussian kernel, k(x, z) = exp(-gamma |x - z|^2), on vectors or in the feature space of another kernel.

    `gamma` is a positive number (1 / (2 sigma^2)); ``"scale"``, 1 / (features * variance) as in scikit-learn;
    ``"auto"``, 1 / features; or ``"median"``, 1 / the median squared distance. With `over`, distances are
    those of that kernel's feature space: k(x, x) + k(z, z) - 2 k(x, z).

    >>> from mercer import kernels
    >>> kernels.RBF(gamma=0.5).fit([[0.0], [1.0]])([[0.0]], [[1.0]]).round(6)
    array([[0.606531]])
    """

    gamma: gamma.Gamma = "scale"
    over: Kernel | None = None

    def __post_init__(self) -> None:
        gamma.checked("RBF", self.gamma)
        _check.instance("RBF", "over", self.over, (Kernel, type(None)), "a kernel or None")

    @property
    def measure(self) -> Measure:
        return SquaredEuclidean() if self.over is None else KernelDistance(self.over)

    @property
    def psd(self) -> bool:
        return self.over is None or self.over.psd

    @property
    def symmetric(self) -> bool:
        return self.over is None or self.over.symmetric

    @property
    def data_dependent(self) -> bool:
        return self.gamma in ("scale", "median") or (self.over is not None and self.over.data_dependent)

    def parameters(self, objects: Objects, measure_state: State) -> dict[str, float]:
        if not isinstance(self.gamma, str):
            return {"gamma": float(self.gamma)}
        found = gamma.of_vectors(self.gamma, objects) if self.over is None and isinstance(objects, Vectors) else None
        if found is None:
            found = gamma.of_distances(self.gamma, self.measure, objects, measure_state)
        return {"gamma": found}

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.exp_of_negative(values, state.number("gamma"))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.polynomial import Polynomial

        yield cls()
        yield cls(gamma=0.3)
        yield cls(gamma="median")
        yield cls(gamma="median", over=Polynomial(degree=2))
