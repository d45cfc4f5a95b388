"""Features together with k(x, x), for normalisation and distances in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.algebra.pointwise import Distance
from mercer.kernels.base import SAFE_IN_SINGLE, Batch, Features, Kernel, Measure, State
from mercer.kernels.loops.epilogues import squared_distances


@final
@dataclass(frozen=True, eq=False)
class WithDiagonal(Batch):
    """The features of a kernel, and its value between each object and itself."""

    inner: Features
    diagonal: Float64


class CarriesDiagonal(Measure):
    """A measure made of a kernel, whose features include k(x, x)."""

    kernel: Kernel

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    def resolve(self, objects: Objects) -> State:
        return State(parts=(self.kernel.resolve(objects),))

    def features(self, objects: Objects, state: State, dtype: DType) -> WithDiagonal:
        inner = self.kernel.features(objects, state.parts[0], dtype)
        return WithDiagonal(inner, self.kernel.diagonal(inner, state.parts[0]))

    def align(self, left: WithDiagonal, right: WithDiagonal, state: State) -> tuple[Features, Features]:
        rows, columns = self.kernel.align(left.inner, right.inner, state.parts[0])
        return WithDiagonal(rows, left.diagonal), WithDiagonal(columns, right.diagonal)

    def tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating) -> None:
        self.kernel.tile(left.inner, right.inner, state.parts[0], out)

    def tile_entries(self, left: WithDiagonal, right: WithDiagonal, state: State) -> int:
        return self.kernel.tile_entries(left.inner, right.inner, state.parts[0])

    def single_precision(self, features: WithDiagonal, state: State) -> bool:
        return self.kernel.single_precision(features.inner, state.parts[0])


@final
@dataclass(frozen=True)
class KernelDistance(CarriesDiagonal, Distance):
    """The squared distance in the feature space of a kernel, |phi(x) - phi(z)|^2 = k(x, x) + k(z, z) - 2 k(x, z)."""

    kernel: Kernel

    def tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating) -> None:
        super().tile(left, right, state, out)
        squared_distances(out, left.diagonal.astype(out.dtype), right.diagonal.astype(out.dtype))

    def single_precision(self, features: WithDiagonal, state: State) -> bool:
        small = bool(features.diagonal.max(initial=0.0) < SAFE_IN_SINGLE)
        return small and super().single_precision(features, state)
