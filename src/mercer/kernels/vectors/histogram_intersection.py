"""The histogram intersection kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
from mercer.kernels.vectors.coordinates import CoordinateFeatures, refuse_outside, row_sums
from mercer.kernels.vectors.sums import MINIMUM, coordinate_sums


@final
@dataclass(frozen=True)
class HistogramIntersection(Kernel):
    """The histogram intersection kernel, k(x, z) = sum_i min(x_i, z_i).

    For non-negative vectors, such as counts or histograms: what both have in common.

    >>> from mercer import kernels
    >>> kernels.HistogramIntersection().fit([[3.0, 0.0, 2.0]])([[3.0, 0.0, 2.0]], [[1.0, 4.0, 2.0]])
    array([[3.]])
    """

    domain = Vectors
    formula = r"\sum_i \min(<x>_i, <z>_i)"

    def resolve(self, objects: Vectors) -> State:
        refuse_outside("HistogramIntersection", objects, 0)
        return State()

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        refuse_outside("HistogramIntersection", objects, 0)
        return CoordinateFeatures.of(objects, dtype, row_sums)

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, MINIMUM, out)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return features.numbers

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
