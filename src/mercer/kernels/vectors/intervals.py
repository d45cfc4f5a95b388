"""Kernels on real numbers that stand for intervals: the length of what two intervals share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
from mercer.kernels.vectors.coordinates import CoordinateFeatures, refuse_outside
from mercer.kernels.vectors.products import coordinate_products

_DIGITS = 16.0


class IntervalKernel(Kernel):
    """A kernel of two numbers, multiplied (boxes) or added over the coordinates. Subclasses say which."""

    across: str

    domain = Vectors

    def __post_init__(self) -> None:
        _check.choice(type(self).__name__, "across", self.across, ("product", "sum"))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest number that it accepts."""
        return -np.inf, np.inf

    @property
    @abstractmethod
    def term(self) -> tuple[int, float]:
        """Which term of `coordinate_products`, and its parameter."""

    @abstractmethod
    def own(self, rows: Any) -> Any:
        """The value between each number and itself."""

    def resolve(self, objects: Vectors) -> State:
        refuse_outside(type(self).__name__, objects, *self.bounds)
        return State()

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        refuse_outside(type(self).__name__, objects, *self.bounds)
        return CoordinateFeatures.of(objects, dtype, self._diagonal, every=True)

    def _diagonal(self, rows: Float64) -> Float64:
        own: Float64 = self.own(rows)
        return np.asarray(own.sum(axis=1) if self.across == "sum" else own.prod(axis=1))

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        term, parameter = self.term
        summed = self.across == "sum"
        coordinate_products(left, right, term, out, parameters=np.array([parameter]), summed=summed, every=True)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return features.numbers

    def single_precision(self, features: CoordinateFeatures, state: State) -> bool:
        # Differences lose digits where the numbers are much larger than the lengths of the intervals.
        rows = features.rows.data if not isinstance(features.rows, np.ndarray) else features.rows
        size = np.abs(rows.astype(np.float64)).max(initial=abs(self.term[1]))
        own = self.own(rows.astype(np.float64))
        shortest = own[own > 0].min(initial=np.inf)
        return bool(size <= _DIGITS * shortest or self.term[1] == 0) and super().single_precision(features, state)
