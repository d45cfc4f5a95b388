"""Kernels that are the inner product of explicit, named features."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from mercer._types import DType, Float64, Floating
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.counts import EXACT_IN_SINGLE, CountFeatures, align, inner_products
from mercer.kernels.features.feature_matrix import FeatureMatrix


class HasFeatureMap(Kernel):
    """k(x, z) = <phi(x), phi(z)> with a sparse phi(x) that can be written down.

    With it a linear machine trains in the primal, and a model is scored and explained feature by feature (see
    `mercer.kernels.features.feature_map`), however its Gram matrix is computed.
    """

    @property
    def explicit(self) -> bool:
        """Whether these parameters leave a feature map that can be written down."""
        return True

    @abstractmethod
    def feature_map(self, objects: Any, state: State, dtype: DType) -> CountFeatures:
        """phi of each object: 64-bit names of features, the same in any batch, and their values."""

    def feature_matrix(self, objects: Any, *, state: State | None = None) -> FeatureMatrix:
        """phi of each object as a row of a CSR matrix, with a column for each feature that any of them has.

        Columns are named by the hexadecimal ids of their features, which are the same in any batch. What depends on
        data is learnt from these objects, unless the `state` of a fitted kernel is given. To map new objects to the
        columns of others use `mercer.kernels.features.space.FeatureSpace`.

        >>> from mercer import kernels
        >>> found = kernels.Spectrum(p=2).feature_matrix(["banana", "ananas"])
        >>> (found.matrix @ found.matrix.T).toarray().tolist()
        [[9.0, 8.0], [8.0, 9.0]]
        """
        from mercer.kernels.features.space import FeatureSpace

        batch = self.coerce(objects)
        fitted = FittedKernel(self, self.resolve(batch) if state is None else state)
        space, matrix = FeatureSpace.of(fitted, batch)
        return FeatureMatrix(matrix, tuple(f"{int(name):016x}" for name in space.words[0].names))


class Counting(HasFeatureMap):
    """A kernel whose Gram matrix is the product of its matrix of features; subclasses give `feature_map` alone."""

    def features(self, objects: Any, state: State, dtype: DType) -> CountFeatures:
        return self.feature_map(objects, state, dtype)

    def align(self, left: CountFeatures, right: CountFeatures, state: State) -> tuple[Any, Any]:
        return align(left, right)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        inner_products(left, right, out)

    def diagonal(self, features: CountFeatures, state: State) -> Float64:
        return features.squared_lengths

    def single_precision(self, features: CountFeatures, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < EXACT_IN_SINGLE)
