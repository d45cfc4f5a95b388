"""The Tanimoto kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import SAFE_IN_SINGLE, Kernel, State
from mercer.kernels.vectors.coordinates import refuse_outside
from mercer.kernels.vectors.features import RowFeatures, dot_products
from mercer.kernels.vectors.ratios import shared_part


@final
@dataclass(frozen=True)
class Tanimoto(Kernel):
    """The Tanimoto (Jaccard) kernel, k(x, z) = x'z / (|x|^2 + |z|^2 - x'z), of non-negative vectors.

    On bits it is the size of the intersection over that of the union. Two zero vectors are equal: k = 1; a zero vector
    and another share nothing: k = 0. On counts it differs from `MinMax` in general.

    >>> from mercer import kernels
    >>> kernels.Tanimoto().fit([[1, 1, 0, 1, 0]])([[1, 1, 0, 1, 0]], [[1, 0, 0, 1, 1]])
    array([[0.5]])
    """

    domain = Vectors
    formula = r"\frac{<x>^\top <z>}{\lVert <x> \rVert^2 + \lVert <z> \rVert^2 - <x>^\top <z>}"

    def resolve(self, objects: Vectors) -> State:
        refuse_outside("Tanimoto", objects, 0)
        return State()

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        refuse_outside("Tanimoto", objects, 0)
        return RowFeatures.of(objects, dtype)

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)
        shared_part(out, left.squared_lengths.astype(out.dtype), right.squared_lengths.astype(out.dtype))

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return np.ones(len(features))

    def single_precision(self, features: RowFeatures, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < SAFE_IN_SINGLE)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
