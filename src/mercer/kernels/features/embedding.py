"""Kernels that are the inner product of a few coordinates, one dense row per object."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.kernels.base import Batch, Kernel, State
from mercer.kernels.features.feature_map import FeatureMap, FixedColumns


@final
@dataclass(frozen=True, eq=False)
class Coordinates(Batch):
    """Rows of coordinates, with their squared lengths."""

    rows: Floating
    squared_lengths: Float64


class Embedding(Kernel):
    """k(x, z) = <c(x), c(z)>. Subclasses give `coordinates`."""

    @abstractmethod
    def coordinates(self, objects: Any, state: State) -> Float64:
        """c of each object, of shape (objects, coordinates)."""

    def feature_map(self, state: State) -> FeatureMap | None:
        return FixedColumns(lambda objects: np.ascontiguousarray(self.coordinates(objects, state)))

    def features(self, objects: Any, state: State, dtype: DType) -> Coordinates:
        rows = self.coordinates(objects, state)
        with np.errstate(over="ignore"):  # FittedKernel.diagonal refuses overflow
            return Coordinates(np.ascontiguousarray(rows, dtype=dtype), np.einsum("ij,ij->i", rows, rows))

    def tile(self, left: Coordinates, right: Coordinates, state: State, out: Floating) -> None:
        np.matmul(left.rows, right.rows.T, out=out)

    def diagonal(self, features: Coordinates, state: State) -> Float64:
        return features.squared_lengths
