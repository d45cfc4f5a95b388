"""Features that carry k(x, x) along, for normalising and for distances in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

from mercer._types import DType, Float64, Index
from mercer.inputs.base import Objects
from mercer.kernels.base import Features, Kernel, State


@final
@dataclass(frozen=True, eq=False)
class WithDiagonal:
    """The features of a kernel, and its value between each object and itself."""

    inner: Features
    diagonal: Float64

    @classmethod
    def of(cls, kernel: Kernel, objects: Objects, state: State, dtype: DType) -> Self:
        inner = kernel.features(objects, state, dtype)
        return cls(inner, kernel.diagonal(inner, state))

    @classmethod
    def aligned(cls, kernel: Kernel, left: Self, right: Self, state: State) -> tuple[Self, Self]:
        rows, columns = kernel.align(left.inner, right.inner, state)
        return cls(rows, left.diagonal), cls(columns, right.diagonal)

    def __len__(self) -> int:
        return len(self.diagonal)

    def take(self, index: Index) -> WithDiagonal:
        return WithDiagonal(self.inner.take(index), self.diagonal[index])
