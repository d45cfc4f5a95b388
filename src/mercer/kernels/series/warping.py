"""Dynamic time warping, a similarity that is not positive semi-definite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._record import integer
from mercer._types import DType, Float64, Floating
from mercer.inputs.series import Series
from mercer.kernels.algebra.pointwise import Pointwise, check_gamma, gamma_of_distances
from mercer.kernels.base import Measure, State
from mercer.kernels.loops import epilogues
from mercer.kernels.loops.pairs import SequenceFeatures, longest_of, with_numbers
from mercer.kernels.series.lanes import LANES, RUNNER, entries, fill_lanes, moments, squared_distances


@final
@dataclass(frozen=True)
class WarpingDistance(Measure):
    """The least sum of squared distances |x_i - z_j|^2 along an alignment; infinite if the band allows none."""

    band: int | None = None

    domain = Series

    def resolve(self, objects: Series) -> State:
        return State({"channels": np.asarray(objects.channels)})

    def features(self, objects: Series, state: State, dtype: DType) -> SequenceFeatures:
        return moments(objects, state)

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        values = np.empty(out.shape)
        RUNNER.fill(with_numbers(_pairs, -1 if self.band is None else self.band), left, right, 1.0, values)
        with np.errstate(over="ignore"):
            out[...] = values

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        return entries(left, right)

    def diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return np.zeros(len(features))


@final
@dataclass(frozen=True)
class DynamicTimeWarping(Pointwise):
    """exp(-gamma DTW(x, z)), with DTW the least sum of squared distances over all alignments. Not a kernel.

    It is indefinite (`psd` is False) for any gamma: machines warn, and their Gram matrices may need repair.
    `GlobalAlignment` is a positive semi-definite alternative. `gamma` is a number, or ``"scale"`` or ``"median"``,
    determined from the distances between training series. With a `band` T, moments more than T steps apart are never
    aligned, and series whose lengths differ by more have the value 0.

    >>> from mercer import kernels
    >>> kernels.DynamicTimeWarping(gamma=0.5).fit([[0, 1, 2]])([[0, 1, 2]], [[0, 2]]).round(6)
    array([[0.606531]])
    """

    gamma: float | str = "scale"
    band: int | None = integer(None, low=0)

    psd = False
    variants = ({}, {"gamma": 0.5}, {"gamma": "median", "band": 4})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gamma("DynamicTimeWarping", self.gamma)
        if self.gamma == "auto":
            raise _check.fail("DynamicTimeWarping", "gamma", "a positive number, 'scale' or 'median'", self.gamma)

    @property
    def measure(self) -> Measure:
        return WarpingDistance(self.band)

    @property
    def data_dependent(self) -> bool:
        return isinstance(self.gamma, str)

    def parameters(self, objects: Series, measure_state: State) -> dict[str, float]:
        if not isinstance(self.gamma, str):
            return {"gamma": float(self.gamma)}
        unlimited = WarpingDistance()  # with a band, some distances are infinite
        return {"gamma": gamma_of_distances(self.gamma, unlimited, objects, measure_state)}

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.exp_of_negative(values, state.number("gamma"))


@jit(reassociate=False)
def _pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    width: int,
) -> None:  # fmt: skip
    """D(i, j) = |x_i - z_j|^2 + min(D(i-1, j), D(i, j-1), D(i-1, j-1))."""
    most_rows = longest_of(left_offsets, first)
    most_columns = longest_of(right_offsets, second)
    rows = np.empty((most_rows, left.shape[1], LANES))
    columns = np.empty((most_columns, left.shape[1], LANES))
    cost = np.empty((most_columns, LANES))
    D = np.empty((most_columns + 1, LANES))
    before = np.empty(LANES)
    for start in range(0, first.shape[0], LANES):
        own = first[start : start + LANES]
        others = second[start : start + LANES]
        n = fill_lanes(left, left_offsets, own, rows)
        m = fill_lanes(right, right_offsets, others, columns)
        D[: m + 1] = np.inf
        out[start : start + LANES] = np.inf
        for i in range(n):
            low = max(0, i - width) if width >= 0 else 0
            high = min(m, i + width + 1) if width >= 0 else m
            if low >= high:
                break
            squared_distances(rows, columns, i, low, high, cost)
            for lane in range(LANES):
                before[lane] = D[low, lane] if i > 0 else 0.0
                D[low, lane] = np.inf
            for j in range(low, high):
                for lane in range(LANES):
                    above = D[j + 1, lane]
                    D[j + 1, lane] = cost[j, lane] + min(min(above, D[j, lane]), before[lane])
                    before[lane] = above
            for lane in range(own.shape[0]):
                if left_offsets[own[lane] + 1] - left_offsets[own[lane]] == i + 1:
                    length = right_offsets[others[lane] + 1] - right_offsets[others[lane]]
                    if low < length <= high:
                        out[start + lane] = D[length, lane]
