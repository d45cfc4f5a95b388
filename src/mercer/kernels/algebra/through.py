"""Kernels that look at something made of each object: columns of a row, the image of a map."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.base import Features, Kernel, State
from mercer.kernels.features.feature_map import Columns, FeatureMap, OfImages


class Through(OfKernel):
    """k(x, z) = k0(phi(x), phi(z)). Subclasses give `domain`, `kernel` (k0) and `images` (phi of a batch)."""

    kernel: Kernel

    @abstractmethod
    def images(self, objects: Any) -> Objects:
        """What k0 compares, one for each object."""

    def feature_map(self, state: State) -> FeatureMap | None:
        features = self.kernel.feature_map(state.parts[0])
        return None if features is None else OfImages(features, self.images, self.column_names)

    def column_names(self, one: Any) -> Columns:
        """What the columns of the image of an object are called, where it is a vector and that is known."""
        del one
        return None

    def resolve(self, objects: Any) -> State:
        return State(parts=(self.kernel.resolve(self.images(objects)),))

    def features(self, objects: Any, state: State, dtype: DType) -> Features:
        return self.kernel.features(self.images(objects), state.parts[0], dtype)

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        return self.kernel.align(left, right, state.parts[0])

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        self.kernel.tile(left, right, state.parts[0], out)

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        return self.kernel.tile_entries(left, right, state.parts[0])

    def diagonal(self, features: Any, state: State) -> Float64:
        return self.kernel.diagonal(features, state.parts[0])

    def single_precision(self, features: Any, state: State) -> bool:
        return self.kernel.single_precision(features, state.parts[0])
