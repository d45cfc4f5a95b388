"""The MinMax kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import SAFE_IN_SINGLE, Kernel, State
from mercer.kernels.vectors.coordinates import CoordinateFeatures, refuse_outside, row_sums
from mercer.kernels.vectors.ratios import shared_part
from mercer.kernels.vectors.sums import MINIMUM, coordinate_sums


@final
@dataclass(frozen=True)
class MinMax(Kernel):
    """The MinMax (Ruzicka) kernel, k(x, z) = sum_i min(x_i, z_i) / sum_i max(x_i, z_i), of non-negative vectors.

    Equal to `Tanimoto` on bits. Two zero vectors are equal: k = 1; a zero vector and another share nothing: k = 0.

    >>> from mercer import kernels
    >>> kernels.MinMax().fit([[3, 0, 1, 2]])([[3, 0, 1, 2]], [[1, 2, 1, 0]])
    array([[0.25]])
    """

    domain = Vectors
    formula = r"\frac{\sum_i \min(<x>_i, <z>_i)}{\sum_i \max(<x>_i, <z>_i)}"

    def resolve(self, objects: Vectors) -> State:
        refuse_outside("MinMax", objects, 0)
        return State()

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        refuse_outside("MinMax", objects, 0)
        return CoordinateFeatures.of(objects, dtype, row_sums)

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, MINIMUM, out)
        shared_part(out, left.numbers.astype(out.dtype), right.numbers.astype(out.dtype))  # min + max = x + z

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return np.ones(len(features))

    def single_precision(self, features: CoordinateFeatures, state: State) -> bool:
        return bool(features.numbers.max(initial=0.0) < SAFE_IN_SINGLE)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
