"""The squared Euclidean distance between vectors: the measure under Gaussian and Matern kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer.inputs.vectors import Vectors
from mercer.kernels.base import SAFE_IN_SINGLE, DType, Float64, Floating, Measure, State
from mercer.kernels.epilogues import squared_distances
from mercer.kernels.vectors.features import RowFeatures, dot_products


@final
@dataclass(frozen=True)
class SquaredEuclidean(Measure):
    """|x - z|^2, computed as |x|^2 + |z|^2 - 2 x'z around the mean of the data.

    Subtracting the mean changes no distance but keeps the three terms small, which is what makes float32 safe.
    """

    domain = Vectors

    def resolve(self, objects: Vectors) -> State:
        if objects.is_sparse:
            return State()
        with np.errstate(over="ignore"):  # rows too long for a number are answered by RowFeatures
            mean = np.asarray(objects.values, dtype=np.float64).mean(axis=0)
        return State({"mean": mean})

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        mean = state.values.get("mean")
        if objects.is_sparse and mean is not None:  # trained on dense rows: new ones must be shifted alike
            objects = Vectors(objects.values.toarray())
        return RowFeatures.of(objects, dtype, shift=mean)

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)
        squared_distances(out, left.squared_lengths.astype(out.dtype), right.squared_lengths.astype(out.dtype))

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return np.zeros(len(features))

    def single_precision(self, features: RowFeatures, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < SAFE_IN_SINGLE)
