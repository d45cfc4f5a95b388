"""A kernel whose values are known: estimators train on part of a computed matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.gram.work import gather
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.base import Kernel, State


@final
@dataclass(frozen=True)
class Lookup(Kernel):
    """Looks up the values of another kernel; to an estimator it is that kernel.

    Unlike `Precomputed` it trusts the matrix, which was checked when it was computed.
    """

    kernel: Kernel

    domain = GramRows

    @property
    def psd(self) -> bool:
        return self.kernel.psd

    def features(self, objects: GramRows, state: State, dtype: DType) -> GramRows:
        del state, dtype
        return objects

    def tile(self, left: GramRows, right: GramRows, state: State, out: Floating) -> None:
        del state
        assert left.matrix is not None
        gather(left.matrix, left.index, right.index, out)

    def whole(self, left: GramRows, right: GramRows, state: State) -> Floating | None:
        del state
        matrix = left.matrix
        if matrix is None or matrix.shape != (len(left), len(right)):
            return None
        complete = all(np.array_equal(side.index, np.arange(len(side))) for side in (left, right))
        return matrix if complete else None

    def diagonal(self, features: GramRows, state: State) -> Float64:
        del state
        assert features.self_similarity is not None
        return features.self_similarity

    def single_precision(self, features: GramRows, state: State) -> bool:
        del state
        return features.matrix is None or features.matrix.dtype == np.float32

    def __str__(self) -> str:
        return str(self.kernel)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.linear import Linear

        yield cls(Linear())


def known_rows(matrix: Floating, diagonal: Float64, *, training: bool) -> GramRows:
    """Objects as the rows of a matrix: K(training, training) if they are `training` objects, else K(new, training)."""
    return GramRows(matrix, np.arange(len(matrix)), training=training, self_similarity=diagonal)
