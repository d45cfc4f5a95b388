"""The dot product, and functions of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra import gamma
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import Kernel, Measure, State
from mercer.kernels.features.feature_map import Columns, FeatureMap, FixedColumns
from mercer.kernels.vectors.distances import resolved_gamma
from mercer.kernels.vectors.features import RowFeatures, dot_products


class DotProduct(Kernel):
    """k(x, z) = phi(x)'phi(z) for dense or CSR rows phi(x). Subclasses make the rows, in `features`."""

    domain = Vectors

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return features.squared_lengths


@final
@dataclass(frozen=True)
class Linear(DotProduct):
    """The linear kernel, k(x, z) = x'z.

    >>> from mercer import kernels
    >>> kernels.Linear().fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    formula = r"<x>^\top <z>"
    is_linear = True

    def feature_map(self, state: State) -> FeatureMap:
        return FixedColumns(lambda objects: objects.values, _names)

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        return RowFeatures.of(objects, dtype)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()


class OfDotProduct(Pointwise):
    """k(x, z) = f(gamma x'z). Subclasses give `gamma` and f, as `pointwise`."""

    gamma: gamma.Gamma

    @property
    def measure(self) -> Measure:
        return Linear()

    @property
    def data_dependent(self) -> bool:
        return self.gamma in ("scale", "median")

    def parameters(self, objects: Vectors, measure_state: State) -> dict[str, float]:
        del measure_state
        return {"gamma": resolved_gamma(self.gamma, objects)}


def _names(one: Vectors, columns: Columns) -> Sequence[Any]:
    return range(one.n_features) if columns is None or len(columns) != one.n_features else columns
