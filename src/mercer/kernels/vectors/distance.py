"""The squared Euclidean distance between vectors: the measure under Gaussian and Matern kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra import gamma
from mercer.kernels.base import SAFE_IN_SINGLE, Measure, State
from mercer.kernels.loops.epilogues import squared_distances
from mercer.kernels.vectors.features import RowFeatures, dot_products, refuse_other_width


@final
@dataclass(frozen=True)
class SquaredEuclidean(Measure):
    """|x - z|^2, computed as |x|^2 + |z|^2 - 2 x'z around the mean of the data.

    Subtracting the mean changes no distance but keeps the three terms small, which is what makes float32 safe. With
    `weights`, one per feature, it is sum_i weights_i (x_i - z_i)^2.
    """

    weights: tuple[float, ...] | None = None

    domain = Vectors

    def resolve(self, objects: Vectors) -> State:
        if self.weights is not None:
            refuse_other_width(objects.n_features, len(self.weights))
        if objects.is_sparse:
            return State()
        with np.errstate(over="ignore"):  # rows too long for a number are answered by RowFeatures
            mean = np.asarray(objects.values, dtype=np.float64).mean(axis=0)
        return State({"mean": mean})

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        mean = state.values.get("mean")
        if objects.is_sparse and mean is not None:  # trained on dense rows: new ones must be shifted alike
            objects = Vectors(objects.values.toarray())
        if self.weights is None:
            return RowFeatures.of(objects, dtype, shift=mean)
        refuse_other_width(objects.n_features, len(self.weights))
        factors = np.sqrt(np.asarray(self.weights))
        values: Any = objects.values
        if objects.is_sparse:
            return RowFeatures.of(Vectors(values.multiply(factors).tocsr()), dtype)
        return RowFeatures.of(Vectors((values if mean is None else values - mean) * factors), dtype)

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)
        squared_distances(out, left.squared_lengths.astype(out.dtype), right.squared_lengths.astype(out.dtype))

    def diagonal(self, features: RowFeatures, state: State) -> Float64:
        return np.zeros(len(features))

    def single_precision(self, features: RowFeatures, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < SAFE_IN_SINGLE)


def resolved_gamma(value: gamma.Gamma, objects: Vectors) -> float:
    """`value` itself, or what the rule of that name gives on these vectors."""
    if not isinstance(value, str):
        return float(value)
    found = gamma.of_vectors(value, objects)
    if found is None:
        distance = SquaredEuclidean()
        found = gamma.of_distances(value, distance, objects, distance.resolve(objects))
    return found
