"""Distances between vectors: the measures that radial kernels are functions of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import DType, Float64, Floating
from mercer.errors import InputError
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra.pointwise import Distance, Gamma, spread_sample
from mercer.kernels.base import SAFE_IN_SINGLE, State
from mercer.kernels.loops.epilogues import squared_distances
from mercer.kernels.vectors.coordinate_loops import ABSOLUTE, CHI_SQUARED, coordinate_sums
from mercer.kernels.vectors.coordinates import CoordinateFeatures, Coordinatewise, row_sums
from mercer.kernels.vectors.features import RowFeatures, dot_products, is_sparse, refuse_other_width
from mercer.kernels.weighing import CURRENT, weights_of

_MOST_PERIODS = 2.0**52
"""float64 has 53 bits: beyond this many periods, no digit is left for the position within a period."""

_ROWS = 4096
"""Rows whose differences from the mean are formed together: as many as the cache holds."""
_PAIRS_AT_ONCE = 1024
"""Sparse near neighbours recomputed together: more would hardly reduce SciPy's overhead, but copy more rows."""


class VectorDistance(Distance):
    """A distance between vectors."""

    domain = Vectors

    def gamma(self, rule: str, objects: Vectors, state: State) -> float:
        return 1.0 / objects.n_features if rule == "auto" else super().gamma(rule, objects, state)


@dataclass(frozen=True)
class SquaredEuclidean(VectorDistance):
    """|x - z|^2, computed as |x|^2 + |z|^2 - 2 x'z around the mean of the data.

    Subtracting the mean changes no distance but keeps the three terms small, which makes float32 safe. With `weights`,
    one per feature, it is sum_i weights_i (x_i - z_i)^2.
    """

    weights: tuple[float, ...] | None = None

    def column_terms(self, row: Float64, rows: Float64) -> Float64 | None:
        squares = np.square(rows - row)
        return squares if self.weights is None or not rows.shape[1] else squares * np.asarray(self.weights)

    def resolve(self, objects: Vectors) -> State:
        if self.weights is not None:
            refuse_other_width(objects.n_features, len(self.weights))
        return _mean(objects)

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        mean = state.values.get("mean")
        objects = _shiftable(objects, mean)
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

    def single_precision(self, features: RowFeatures, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < SAFE_IN_SINGLE)

    def gamma(self, rule: str, objects: Vectors, state: State) -> float:
        if rule != "scale":
            return super().gamma(rule, objects, state)
        width = objects.n_features * _variance(objects)
        # A constant matrix has no scale (1.0, as in scikit-learn); a scale beyond the range of floats gives the nearest
        # gamma, and the kernel itself then reports the problem.
        return 1.0 if width == 0 else float(np.clip(1.0 / width, 1e-300, 1e300))


@final
@dataclass(frozen=True)
class Euclidean(SquaredEuclidean):
    """|x - z|.

    Near neighbours lose digits in |x|^2 + |z|^2 - 2 x'z, and the square root doubles the loss: two equal rows would be
    1e-8 apart. If the squared distance is a small fraction of the squared lengths, it is recomputed from differences.
    """

    def column_terms(self, row: Float64, rows: Float64) -> Float64 | None:
        return None  # the root of a sum is not a sum

    def gamma(self, rule: str, objects: Vectors, state: State) -> float:
        return VectorDistance.gamma(self, rule, objects, state)  # from distances, not from the variance

    def tile(self, left: RowFeatures, right: RowFeatures, state: State, out: Floating) -> None:
        super().tile(left, right, state, out)
        share = out.dtype.type(1e-2 if out.dtype == np.float32 else 1e-6)
        lengths = left.squared_lengths.astype(out.dtype), right.squared_lengths.astype(out.dtype)
        if not (is_sparse(left.rows) or is_sparse(right.rows)):
            _renew(left.rows, right.rows, *lengths, share, out)
        else:
            import scipy.sparse as sp

            near = np.argwhere(out < share * (lengths[0][:, None] + lengths[1]))
            for start in range(0, len(near), _PAIRS_AT_ONCE):
                i, j = near[start : start + _PAIRS_AT_ONCE].T
                difference: Any = left.rows[i] - right.rows[j]
                out[i, j] = np.asarray(sp.csr_array(difference).power(2).sum(axis=1)).ravel()
        np.sqrt(out, out=out)


@final
@dataclass(frozen=True)
class L1Distance(VectorDistance, Coordinatewise):
    """sum_i |x_i - z_i|.

    In float32 the mean of the data is subtracted first, which changes no distance but keeps small differences between
    large numbers; in float64 rows are compared as they are.
    """

    def resolve(self, objects: Vectors) -> State:
        return _mean(objects)

    def features(self, objects: Vectors, state: State, dtype: DType) -> CoordinateFeatures:
        mean = state.values.get("mean")
        if mean is not None:
            refuse_other_width(objects.n_features, len(mean))
        shift = mean if dtype is np.float32 else None
        return CoordinateFeatures.of(_shiftable(objects, shift), dtype, self.own, shift=shift)

    def column_terms(self, row: Float64, rows: Float64) -> Float64 | None:
        return np.abs(rows - row)

    def own(self, rows: Float64) -> Float64:
        return row_sums(np.abs(rows))

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, ABSOLUTE, out)

    def gamma(self, rule: str, objects: Vectors, state: State) -> float:
        """As for any distance, but the mean over all pairs is computed column by column from sorted numbers.

        The k-th of n sorted numbers, counted from 0, is added in k differences and subtracted in n - 1 - k.
        """
        if rule != "scale" or objects.is_sparse or len(objects) < 2 or weights_of(objects) is not None:
            return super().gamma(rule, objects, state)
        sample: Any = spread_sample(objects)
        rows = np.sort(np.asarray(sample.values, dtype=np.float64), axis=0)
        n = len(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(((2.0 * np.arange(n) - n + 1) @ (rows - rows[0])).sum()) * 2 / (n * (n - 1))
        return super().gamma(rule, objects, state) if not 0 < mean < np.inf else 2.0 / mean


@final
@dataclass(frozen=True)
class Chi2Distance(VectorDistance, Coordinatewise):
    """sum_i (x_i - z_i)^2 / (x_i + z_i) of non-negative vectors, where 0 / 0 counts as 0."""

    owner = "ExponentialChi2"
    bounds = 0.0, np.inf

    def column_terms(self, row: Float64, rows: Float64) -> Float64 | None:
        sums = rows + row
        return np.square(rows - row) / np.where(sums > 0, sums, 1.0)

    def own(self, rows: Float64) -> Float64:
        return row_sums(rows)

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        coordinate_sums(left, right, CHI_SQUARED, out)


@final
@dataclass(frozen=True)
class CircularDistance(VectorDistance):
    """4 sum_i sin^2(pi (x_i - z_i) / period): the squared distance after each number is mapped to a circle of radius 1.

    A number x becomes the point (cos, sin) at the angle 2 pi x / period, so a matrix product gives the distances.
    """

    period: float

    def column_terms(self, row: Float64, rows: Float64) -> Float64 | None:
        turns = (rows - row) / self.period
        return 4.0 * np.square(np.sin(np.pi * (turns - np.rint(turns))))

    def features(self, objects: Vectors, state: State, dtype: DType) -> RowFeatures:
        values: Any = objects.values
        stored = values.data if objects.is_sparse else values
        largest = float(np.abs(stored).max(initial=0.0))
        if largest > _MOST_PERIODS * self.period:
            raise InputError(
                f"X holds numbers as large as {largest:g}, more than 2^52 periods of {self.period:g}: no digit is left "
                "to say where in a period they lie. Subtract a whole number of periods, or check the unit of 'period'."
            )
        # A point on a circle has length 1 in each coordinate. CSR rows are mapped to circles tile by tile.
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
        angles = 2 * np.pi * (turns - np.rint(turns))  # reduce angles first: cos of a huge one has no correct digits
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(dtype, copy=False)

    def single_precision(self, features: RowFeatures, state: State) -> bool:
        return True


def _mean(objects: Vectors) -> State:
    """The mean of dense rows, which is subtracted before computing distances; sparse rows would lose their sparsity."""
    if objects.is_sparse:
        return State()
    return State({"mean": objects.moments[0]})  # features refuse rows whose sums overflow


def _shiftable(objects: Vectors, shift: Float64 | None) -> Vectors:
    """Dense rows if `shift` is to be subtracted: a kernel trained on dense rows may be given sparse ones."""
    return Vectors(objects.values.toarray()) if objects.is_sparse and shift is not None else objects


def _variance(objects: Vectors) -> float:
    """The variance of all entries, including the zeros of sparse rows."""
    values: Any = objects.values
    weights = None if CURRENT.get() is None else weights_of(objects)
    if objects.is_sparse:
        exact = values.astype(np.float64)
        if weights is None:
            mean = exact.sum() / np.prod(values.shape)
            return float(exact.multiply(exact).sum() / np.prod(values.shape) - mean**2)
        total = float(weights.sum()) * objects.n_features
        mean = float(weights @ exact.sum(axis=1)) / total
        return float(weights @ exact.multiply(exact).sum(axis=1)) / total - mean**2
    means, variances = objects.moments if weights is None else _weighted_moments(values, weights)
    with np.errstate(over="ignore", invalid="ignore"):
        between = means - means.sum() / len(means)
        return float((variances + between * between).sum() / len(means))


def _weighted_moments(rows: Any, weights: Float64) -> tuple[Float64, Float64]:
    """The mean and the variance of each column where an object counts as often as its weight says."""
    shares = weights / weights.sum()
    mean = shares @ rows
    variance = np.zeros(len(mean))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            variance += shares[part] @ np.square(rows[part] - mean)
    return mean, variance


def resolved_gamma(value: Gamma, objects: Vectors) -> float:
    """`value` itself, or the result of the rule of that name on these vectors."""
    if not isinstance(value, str):
        return float(value)
    distance = SquaredEuclidean()
    return distance.gamma(value, objects, distance.resolve(objects))


@jit
def _renew(left: Array, right: Array, own: Array, other: Array, share: Array, out: Array) -> None:
    zero = out.dtype.type(0)
    for i in range(out.shape[0]):
        row = out[i]
        near = 0
        for j in range(row.shape[0]):
            near += row[j] < share * (own[i] + other[j])
        if near:
            for j in range(row.shape[0]):
                if row[j] < share * (own[i] + other[j]):
                    total = zero
                    for k in range(left.shape[1]):
                        total += (left[i, k] - right[j, k]) ** 2
                    row[j] = total
