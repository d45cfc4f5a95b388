"""The distance between points on circles: the measure under the periodic kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import DType, Float64, Floating
from mercer.errors import InputError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Measure, State
from mercer.kernels.loops.epilogues import squared_distances
from mercer.kernels.vectors.features import RowFeatures, is_sparse, refuse_other_width

_MOST_PERIODS = 2.0**52


@final
@dataclass(frozen=True)
class CircularDistance(Measure):
    """4 sum_i sin^2(pi (x_i - z_i) / period): the squared distance after each number is laid on a circle of radius 1.

    Number x becomes the point (cos, sin) at the angle 2 pi x / period, so that a matrix product gives the distances.
    """

    period: float

    domain = Vectors

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        values: Any = objects.values
        stored = values.data if objects.is_sparse else values
        largest = float(np.abs(stored).max(initial=0.0))
        if largest > _MOST_PERIODS * self.period:
            raise InputError(
                f"X holds numbers as large as {largest:g}, more than 2^52 periods of {self.period:g}: no digit is left "
                "to say where in a period they lie. Subtract a whole number of periods, or check the unit of 'period'."
            )
        # A point on a circle has length 1 in each coordinate. CSR rows are laid on circles tile by tile.
        lengths = np.full(len(objects), float(objects.n_features))
        if objects.is_sparse:
            return RowFeatures(values, lengths)
        return RowFeatures(self._laid(values, dtype), lengths)

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        rows, columns = self._points(left.rows, out), self._points(right.rows, out)
        refuse_other_width(rows.shape[1] // 2, columns.shape[1] // 2)
        np.matmul(rows, columns.T, out=out)
        squared_distances(out, left.squared_lengths.astype(out.dtype), right.squared_lengths.astype(out.dtype))

    def _points(self, rows: Any, out: Floating) -> Any:
        return self._laid(rows.toarray(), out.dtype) if is_sparse(rows) else rows

    def _laid(self, values: Any, dtype: npt.DTypeLike) -> Any:
        turns = np.asarray(values, dtype=np.float64) / self.period
        angles = 2 * np.pi * (turns - np.rint(turns))  # small angles first: cos of a huge one has no digits
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(dtype, copy=False)

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return np.zeros(len(features))

    def single_precision(self, features: RowFeatures, state: State) -> bool:
        return True
