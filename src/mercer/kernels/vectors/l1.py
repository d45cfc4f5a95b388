"""The L1 distance between vectors: the measure under the Laplacian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import SAFE_IN_SINGLE, Measure, State
from mercer.kernels.vectors.coordinates import CoordinateFeatures, row_sums
from mercer.kernels.vectors.features import refuse_other_width
from mercer.kernels.vectors.sums import ABSOLUTE, coordinate_sums


@final
@dataclass(frozen=True)
class L1Distance(Measure):
    """sum_i |x_i - z_i|.

    In float32 the mean of the data is subtracted first, which changes no distance but keeps small differences between
    large numbers; in float64 rows are compared as they are.
    """

    domain = Vectors

    def resolve(self, objects: Vectors) -> State:
        if objects.is_sparse:
            return State()
        return State({"mean": np.asarray(objects.values, dtype=np.float64).mean(axis=0)})

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        mean = state.values.get("mean")
        if mean is not None:
            refuse_other_width(objects.n_features, len(mean))
        shift = mean if dtype is np.float32 else None
        if objects.is_sparse and shift is not None:  # trained on dense rows: new ones must be shifted alike
            objects = Vectors(objects.values.toarray())
        return CoordinateFeatures.of(objects, dtype, lambda rows: row_sums(np.abs(rows)), shift=shift)

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, ABSOLUTE, out)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return np.zeros(len(features))

    def single_precision(self, features: CoordinateFeatures, state: State) -> bool:
        return bool(features.numbers.max(initial=0.0) < SAFE_IN_SINGLE)
