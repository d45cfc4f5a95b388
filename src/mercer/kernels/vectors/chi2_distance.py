"""The chi-squared distance between histograms: the measure under the exponential chi-squared kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import SAFE_IN_SINGLE, Measure, State
from mercer.kernels.vectors.coordinates import CoordinateFeatures, refuse_outside, row_sums
from mercer.kernels.vectors.sums import CHI_SQUARED, coordinate_sums


@final
@dataclass(frozen=True)
class Chi2Distance(Measure):
    """sum_i (x_i - z_i)^2 / (x_i + z_i) of non-negative vectors, where 0 / 0 counts as 0."""

    domain = Vectors

    def resolve(self, objects: Vectors) -> State:
        refuse_outside("ExponentialChi2", objects, 0)
        return State()

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        refuse_outside("ExponentialChi2", objects, 0)
        return CoordinateFeatures.of(objects, dtype, row_sums)

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, CHI_SQUARED, out)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return np.zeros(len(features))

    def single_precision(self, features: CoordinateFeatures, state: State) -> bool:
        return bool(features.numbers.max(initial=0.0) < SAFE_IN_SINGLE)
