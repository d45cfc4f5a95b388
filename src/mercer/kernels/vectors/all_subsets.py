"""The all-subsets kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.vectors.coordinates import CoordinateFeatures
from mercer.kernels.vectors.monomials import products_of_columns
from mercer.kernels.vectors.products import ONE_PLUS, coordinate_products


@final
@dataclass(frozen=True)
class AllSubsets(Kernel):
    """The all-subsets kernel, k(x, z) = prod_i (1 + x_i z_i).

    Its features are the products of the coordinates in every subset of them, the empty subset (1) included. Values
    grow like prod_i (1 + x_i^2): scale features to about [-1, 1], or normalise.

    >>> from mercer import kernels
    >>> kernels.AllSubsets().fit([[1.0, 2.0, 3.0]])([[1.0, 2.0, 3.0]], [[2.0, 0.5, -1.0]])
    array([[-12.]])
    """

    domain = Vectors
    formula = r"\prod_i \left(1 + <x>_i <z>_i\right)"

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        return CoordinateFeatures.of(objects, dtype, lambda rows: (1.0 + rows * rows).prod(axis=1))

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_products(left, right, ONE_PLUS, out)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return features.numbers

    def feature_map(self, state: State) -> FeatureMap:
        """The feature of every subset of columns, small subsets first.

        >>> from mercer import kernels
        >>> kernels.AllSubsets().feature_matrix([[2.0, 3.0]]).names
        ('1', 'x0', 'x1', 'x0 x1')
        """
        return products_of_columns("AllSubsets", lambda vectors: range(vectors.n_features + 1))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
