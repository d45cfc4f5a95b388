"""Kernels on histograms, counts and other non-negative vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import SAFE_IN_SINGLE, Kernel, State
from mercer.kernels.loops.epilogues import shared_part
from mercer.kernels.vectors.coordinate_loops import HARMONIC, MINIMUM, coordinate_sums
from mercer.kernels.vectors.coordinates import CoordinateFeatures, Coordinatewise, refuse_outside, row_sums
from mercer.kernels.vectors.features import RowFeatures, dot_products


class HistogramKernel(Coordinatewise, Kernel):
    """A kernel that refuses negative entries. By default its features include the sum of each row, which is k(x, x)."""

    bounds = 0.0, np.inf

    def own(self, rows: Float64) -> Float64:
        return row_sums(rows)


@final
@dataclass(frozen=True)
class AdditiveChi2(HistogramKernel):
    """The additive chi-squared kernel, k(x, z) = sum_i 2 x_i z_i / (x_i + z_i), where 0 / 0 counts as 0.

    For non-negative vectors. On histograms that sum to 1 it is 1 - chi2(x, z) / 2. Some libraries give this name to
    minus chi2, which is not positive semi-definite.

    >>> from mercer import kernels
    >>> kernels.AdditiveChi2().fit([[0.2, 0.3, 0.5]])([[0.2, 0.3, 0.5]], [[0.1, 0.6, 0.3]]).round(6)
    array([[0.908333]])
    """

    formula = r"\sum_i \frac{2 <x>_i <z>_i}{<x>_i + <z>_i}"

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, HARMONIC, out)


@final
@dataclass(frozen=True)
class HistogramIntersection(HistogramKernel):
    """The histogram intersection kernel, k(x, z) = sum_i min(x_i, z_i).

    For non-negative vectors, such as counts or histograms: the mass that both have in common.

    >>> from mercer import kernels
    >>> kernels.HistogramIntersection().fit([[3.0, 0.0, 2.0]])([[3.0, 0.0, 2.0]], [[1.0, 4.0, 2.0]])
    array([[3.]])
    """

    formula = r"\sum_i \min(<x>_i, <z>_i)"

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, MINIMUM, out)


@final
@dataclass(frozen=True)
class MinMax(HistogramKernel):
    """The MinMax (Ruzicka) kernel, k(x, z) = sum_i min(x_i, z_i) / sum_i max(x_i, z_i), of non-negative vectors.

    Equal to `Tanimoto` on bits. k = 1 for two zero vectors, and k = 0 for a zero vector and any other.

    >>> from mercer import kernels
    >>> kernels.MinMax().fit([[3, 0, 1, 2]])([[3, 0, 1, 2]], [[1, 2, 1, 0]])
    array([[0.25]])
    """

    formula = r"\frac{\sum_i \min(<x>_i, <z>_i)}{\sum_i \max(<x>_i, <z>_i)}"

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, MINIMUM, out)
        shared_part(out, left.numbers.astype(out.dtype), right.numbers.astype(out.dtype))  # min + max = x + z

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return np.ones(len(features))


@final
@dataclass(frozen=True)
class Tanimoto(HistogramKernel):
    """The Tanimoto (Jaccard) kernel, k(x, z) = x'z / (|x|^2 + |z|^2 - x'z), of non-negative vectors.

    On bits it is the size of the intersection over that of the union. k = 1 for two zero vectors, and k = 0 for a zero
    vector and any other. On counts it differs from `MinMax` in general.

    >>> from mercer import kernels
    >>> kernels.Tanimoto().fit([[1, 1, 0, 1, 0]])([[1, 1, 0, 1, 0]], [[1, 0, 0, 1, 1]])
    array([[0.5]])
    """

    formula = r"\frac{<x>^\top <z>}{\lVert <x> \rVert^2 + \lVert <z> \rVert^2 - <x>^\top <z>}"

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        refuse_outside("Tanimoto", objects, 0)
        return RowFeatures.of(objects, dtype)

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        dot_products(left, right, out)
        shared_part(out, left.squared_lengths.astype(out.dtype), right.squared_lengths.astype(out.dtype))

    def diagonal(self, features: Any, state: State) -> Float64:
        return np.ones(len(features))

    def single_precision(self, features: Any, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < SAFE_IN_SINGLE)
