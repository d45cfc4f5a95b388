"""The dot product."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
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

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        return RowFeatures.of(objects, dtype)

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return features.squared_lengths

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
