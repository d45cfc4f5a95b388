"""Kernels that are a function of something simpler: f(dot product), f(distance), f(another kernel).

The simpler thing, the *measure*, is what costs time. Keeping the two apart lets a Gram matrix compute the measure once
for many f: a grid over gamma is one matrix product, and ``RBF(0.1) + RBF(1.0)`` computes distances once.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.base import Features, Kernel, Measure, State


class Pointwise(Kernel):
    """k(x, z) = f(m(x, z)) for a measure m. Subclasses give `measure`, `pointwise` (f in place) and `parameters`."""

    @property
    @abstractmethod
    def measure(self) -> Measure: ...

    @abstractmethod
    def pointwise(self, values: Floating, state: State) -> None: ...

    @property
    def domain(self) -> type[Objects]:
        return self.measure.domain

    def resolve(self, objects: Objects) -> State:
        inner = self.measure.resolve(objects)
        numbers = self.parameters(objects, inner)
        return State({name: np.asarray(value) for name, value in numbers.items()}, (inner,))

    def measure_state(self, state: State) -> State:
        return state.parts[0]

    def features(self, objects: Objects, state: State, dtype: DType) -> Features:
        return self.measure.features(objects, state.parts[0], dtype)

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        return self.measure.align(left, right, state.parts[0])

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        self.measure.tile(left, right, state.parts[0], out)
        self.pointwise(out, state)

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        return self.measure.tile_entries(left, right, state.parts[0])

    def diagonal(self, features: Any, state: State) -> Float64:
        values: Float64 = self.measure.diagonal(features, state.parts[0]).reshape(1, -1).copy()
        with np.errstate(over="ignore"):  # FittedKernel.diagonal answers overflow in words
            self.pointwise(values, state)
        return np.asarray(values[0])

    def single_precision(self, features: Any, state: State) -> bool:
        return self.measure.single_precision(features, state.parts[0]) and super().single_precision(features, state)


class PointwiseOf(OfKernel):
    """k(x, z) = g(k0(x, z)) for another kernel k0, whose measure it shares. Subclasses give `kernel` and `outer`."""

    kernel: Kernel

    @abstractmethod
    def outer(self, values: Floating) -> None:
        """g, in place."""

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    @property
    def measure(self) -> Measure:
        return self.kernel.measure

    def measure_state(self, state: State) -> State:
        return self.kernel.measure_state(state.parts[0])

    def pointwise(self, values: Floating, state: State) -> None:
        self.kernel.pointwise(values, state.parts[0])
        self.outer(values)

    def resolve(self, objects: Objects) -> State:
        return State(parts=(self.kernel.resolve(objects),))

    def features(self, objects: Objects, state: State, dtype: DType) -> Features:
        return self.kernel.features(objects, state.parts[0], dtype)

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        return self.kernel.align(left, right, state.parts[0])

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        self.kernel.tile(left, right, state.parts[0], out)
        self.outer(out)

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        return self.kernel.tile_entries(left, right, state.parts[0])

    def diagonal(self, features: Any, state: State) -> Float64:
        values: Float64 = self.kernel.diagonal(features, state.parts[0]).reshape(1, -1).copy()
        with np.errstate(over="ignore"):
            self.outer(values)
        return np.asarray(values[0])

    def single_precision(self, features: Any, state: State) -> bool:
        return self.kernel.single_precision(features, state.parts[0]) and super().single_precision(features, state)
