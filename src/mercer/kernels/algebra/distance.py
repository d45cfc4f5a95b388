"""The squared distance between two objects in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.algebra.with_diagonal import WithDiagonal
from mercer.kernels.base import SAFE_IN_SINGLE, Features, Kernel, Measure, State
from mercer.kernels.loops.epilogues import squared_distances


@final
@dataclass(frozen=True)
class KernelDistance(Measure):
    """|phi(x) - phi(z)|^2 = k(x, x) + k(z, z) - 2 k(x, z)."""

    kernel: Kernel

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    def resolve(self, objects: Objects) -> State:
        return State(parts=(self.kernel.resolve(objects),))

    def features(self, objects: Objects, state: State, dtype: DType) -> WithDiagonal:
        return WithDiagonal.of(self.kernel, objects, state.parts[0], dtype)

    def align(self, left: WithDiagonal, right: WithDiagonal, state: State) -> tuple[Features, Features]:
        return WithDiagonal.aligned(self.kernel, left, right, state.parts[0])

    def tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating) -> None:
        self.kernel.tile(left.inner, right.inner, state.parts[0], out)
        squared_distances(out, left.diagonal.astype(out.dtype), right.diagonal.astype(out.dtype))

    def tile_entries(self, left: WithDiagonal, right: WithDiagonal, state: State) -> int:
        return self.kernel.tile_entries(left.inner, right.inner, state.parts[0])

    def diagonal(self, features: WithDiagonal, state: State) -> Float64:
        return np.zeros(len(features))

    def single_precision(self, features: Any, state: State) -> bool:
        return bool(features.diagonal.max(initial=0.0) < SAFE_IN_SINGLE) and self.kernel.single_precision(
            features.inner, state.parts[0]
        )
