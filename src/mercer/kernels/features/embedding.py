"""Kernels that are the inner product of a few coordinates, one dense row per object."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.kernels.base import Batch, Kernel, State
from mercer.kernels.features.feature_map import FeatureMap, FixedColumns

_ROWS = 512
"""Rows per strip; Ctrl-C is checked between strips. Narrower strips make matrix products slower."""


@final
@dataclass(frozen=True, eq=False)
class Coordinates(Batch):
    """Rows of coordinates, with their squared lengths."""

    rows: Floating
    squared_lengths: Float64


class Embedding(Kernel):
    """k(x, z) = <c(x), c(z)>. Subclasses define `coordinates`."""

    @abstractmethod
    def coordinates(self, objects: Any, state: State) -> Float64:
        """c of each object, of shape (objects, coordinates)."""

    def feature_map(self, state: State) -> FeatureMap | None:
        return FixedColumns(lambda objects: np.ascontiguousarray(self.coordinates(objects, state)), sampled=True)

    def features(self, objects: Any, state: State, dtype: DType) -> Coordinates:
        rows = self.coordinates(objects, state)
        with np.errstate(over="ignore"):  # FittedKernel.diagonal refuses overflow
            return Coordinates(np.ascontiguousarray(rows, dtype=dtype), np.einsum("ij,ij->i", rows, rows))

    def tile(self, left: Coordinates, right: Coordinates, state: State, out: Floating) -> None:
        np.matmul(left.rows, right.rows.T, out=out)

    def diagonal(self, features: Coordinates, state: State) -> Float64:
        return features.squared_lengths


def similarities(kernel: Kernel, left: Any, right: Any, state: State, dtype: DType = np.float64) -> Any:
    """The whole block of values between two batches of features, strip by strip; Ctrl-C is checked between strips."""
    rows, columns = kernel.align(left, right, state)
    out = np.empty((len(left), len(right)), dtype=dtype)
    height = max(1, min(_ROWS, kernel.tile_entries(rows, columns, state) // max(1, len(right))))
    for top in range(0, len(left), height):
        kernel.tile(rows.take(slice(top, top + height)), columns, state, out[top : top + height])
    return out
