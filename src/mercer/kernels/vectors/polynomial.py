"""Powers of the dot product."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer import _check
from mercer.inputs.vectors import Vectors
from mercer.kernels import epilogues, gamma
from mercer.kernels.base import Floating, Measure, State
from mercer.kernels.pointwise import Pointwise
from mercer.kernels.vectors.distance import SquaredEuclidean
from mercer.kernels.vectors.linear import Linear


@final
@dataclass(frozen=True)
class Polynomial(Pointwise):
    """The polynomial kernel, k(x, z) = (gamma x'z + coef0)^degree.

    Its features are all monomials of degree up to `degree` (exactly `degree` when ``coef0 = 0``). `gamma` is a
    positive number, or ``"scale"``, ``"auto"`` or ``"median"`` as in `RBF`. A negative `coef0` or a fractional
    `degree` would not be positive semi-definite, and is refused.

    >>> from mercer import kernels
    >>> kernels.Polynomial(degree=3, coef0=1.0).fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[8.]])
    """

    degree: int = 3
    gamma: gamma.Gamma = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        _check.integer("Polynomial", "degree", self.degree, low=0, remedy="A fractional degree is no kernel.")
        gamma.checked("Polynomial", self.gamma)
        _check.real("Polynomial", "coef0", self.coef0, low=0, high_open=True, remedy="A negative coef0 is no kernel.")

    @property
    def measure(self) -> Measure:
        return Linear()

    @property
    def data_dependent(self) -> bool:
        return self.gamma in ("scale", "median")

    def parameters(self, objects: Vectors, measure_state: State) -> dict[str, float]:
        del measure_state
        if not isinstance(self.gamma, str):
            return {"gamma": float(self.gamma)}
        found = gamma.of_vectors(self.gamma, objects)
        if found is None:
            distance = SquaredEuclidean()
            found = gamma.of_distances(self.gamma, distance, objects, distance.resolve(objects))
        return {"gamma": found}

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.power(values, state.number("gamma"), float(self.coef0), self.degree)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(degree=2, gamma=0.5, coef0=0.0)
        yield cls(degree=5, gamma="scale")
        yield cls(degree=0)
