"""Kernels that decay exponentially with a distance between vectors."""

from __future__ import annotations

from mercer._types import Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra import gamma
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import State
from mercer.kernels.loops import epilogues


class ExponentialDecay(Pointwise):
    """k(x, z) = exp(-gamma d(x, z)). Subclasses give `gamma` and the distance, as `measure`."""

    gamma: gamma.Gamma

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
