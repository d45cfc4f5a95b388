"""The additive chi-squared kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
from mercer.kernels.vectors.coordinates import CoordinateFeatures, refuse_outside, row_sums
from mercer.kernels.vectors.sums import HARMONIC, coordinate_sums


@final
@dataclass(frozen=True)
class AdditiveChi2(Kernel):
    """The additive chi-squared kernel, k(x, z) = sum_i 2 x_i z_i / (x_i + z_i), 0 / 0 being 0.

    For non-negative vectors. On histograms that sum to 1 it is 1 - chi2(x, z) / 2; minus chi2, which some
    libraries give this name, is not positive semi-definite.

    >>> from mercer import kernels
    >>> kernels.AdditiveChi2().fit([[0.2, 0.3, 0.5]])([[0.2, 0.3, 0.5]], [[0.1, 0.6, 0.3]]).round(6)
    array([[0.908333]])
    """

    domain = Vectors
    formula = r"\sum_i \frac{2 <x>_i <z>_i}{<x>_i + <z>_i}"

    def resolve(self, objects: Vectors) -> State:
        refuse_outside("AdditiveChi2", objects, 0)
        return State()

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        refuse_outside("AdditiveChi2", objects, 0)
        return CoordinateFeatures.of(objects, dtype, row_sums)

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, HARMONIC, out)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return features.numbers

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
