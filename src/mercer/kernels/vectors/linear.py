"""The dot product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.feature_map import Columns, FeatureMap, FixedColumns
from mercer.kernels.vectors.features import RowFeatures, dot_products


@final
@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel, k(x, z) = x'z.

    >>> from mercer import kernels
    >>> kernels.Linear().fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    domain = Vectors
    formula = r"<x>^\top <z>"
    is_linear = True

    def feature_map(self, state: State) -> FeatureMap:
        return FixedColumns(lambda objects: objects.values, _names)

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        return RowFeatures.of(objects, dtype)

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return features.squared_lengths

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()


def _names(one: Vectors, columns: Columns) -> Sequence[Any]:
    return range(one.n_features) if columns is None or len(columns) != one.n_features else columns
