"""Kernels made of one other kernel."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.base import SAFE_IN_SINGLE, Features, Kernel, Measure, State


class OfKernel(Kernel):
    """A kernel made of another one; it is positive semi-definite and symmetric if that one is."""

    kernel: Kernel

    @property
    def psd(self) -> bool:
        return self.kernel.psd

    @property
    def symmetric(self) -> bool:
        return self.kernel.symmetric

    @property
    def data_dependent(self) -> bool:
        return self.kernel.data_dependent


class Delegating(OfKernel):
    """A kernel that delegates to the other one what its subclasses do not define."""

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    def resolve(self, objects: Any) -> State:
        return State(parts=(self.kernel.resolve(objects),))

    def features(self, objects: Any, state: State, dtype: DType) -> Features:
        return self.kernel.features(objects, state.parts[0], dtype)

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        return self.kernel.align(left, right, state.parts[0])

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        return self.kernel.tile_entries(left, right, state.parts[0])

    def diagonal(self, features: Any, state: State) -> Float64:
        return self.kernel.diagonal(features, state.parts[0])

    def single_precision(self, features: Any, state: State) -> bool:
        return self.kernel.single_precision(features, state.parts[0])


class PointwiseOf(Delegating):
    """k(x, z) = g(k0(x, z)) for another kernel k0, whose measure it shares. Subclasses define `kernel` and `outer`."""

    @abstractmethod
    def outer(self, values: Floating) -> None:
        """g, in place."""

    @property
    def measure(self) -> Measure:
        return self.kernel.measure

    def measure_state(self, state: State) -> State:
        return self.kernel.measure_state(state.parts[0])

    def pointwise(self, values: Floating, state: State) -> None:
        self.kernel.pointwise(values, state.parts[0])
        self.outer(values)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        self.kernel.tile(left, right, state.parts[0], out)
        self.outer(out)

    def diagonal(self, features: Any, state: State) -> Float64:
        values: Float64 = super().diagonal(features, state).reshape(1, -1).copy()
        with np.errstate(over="ignore"):  # FittedKernel.diagonal refuses overflow
            self.outer(values)
        return np.asarray(values[0])

    def single_precision(self, features: Any, state: State) -> bool:
        precise = super().single_precision(features, state)
        return precise and bool(self.diagonal(features, state).max(initial=0.0) < SAFE_IN_SINGLE)
