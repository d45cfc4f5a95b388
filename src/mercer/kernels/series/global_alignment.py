"""The global alignment kernel for time series."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.spatial.distance import pdist

from mercer import _check
from mercer._jit import Array, jit
from mercer._record import integer
from mercer._types import DType, Float64
from mercer.inputs.series import Series
from mercer.kernels.algebra.logarithmic import ComputedAsLogarithm
from mercer.kernels.base import State
from mercer.kernels.loops.elementary import LOWEST_64, exp_parts_64
from mercer.kernels.loops.extended import LOG2_RADIX, added, logarithm, scaled
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, longest_of, recompute, with_numbers
from mercer.kernels.series.lanes import LANES, RUNNER, entries, fill_lanes, moments, squared_distances

_SHRINK = math.sqrt(2.0) - 1.0
"""There are at most (1 + sqrt 2)^(n + m) alignments of n and m moments, so this factor per step keeps sums below 1."""
_LEAST = 1e-270
"""Underflow below 1e-308 in any cell is negligible in results above this, since no factor of a path exceeds 1."""
_MOMENTS = 1000
"""Moments sampled to determine sigma: a million distances, a few hundredths of a second."""
_LONG, _RECOMPUTED = 300, 8.0
"""Pairs of series longer than the first number are often recomputed, at about the second number times the cost."""


@final
@dataclass(frozen=True)
class GlobalAlignment(ComputedAsLogarithm):
    """The global alignment kernel: k(x, z) = sum over all monotone alignments of prod kappa(x_i, z_j).

    An alignment matches the first moments and the last moments, with steps (1, 0), (0, 1) and (1, 1) in between. The
    local similarity is kappa = w g / (2 - w g) with g = exp(-|x_i - z_j|^2 / (2 sigma^2)), the form that makes k
    positive semi-definite. `sigma` is a number or ``"median"``: the median distance between moments times the square
    root of the median length. With a `band` T, w = max(0, 1 - |i - j| / T): moments T or more steps apart are never
    aligned, and series whose lengths differ by T or more have the value 0. Without a band, w = 1.

    Series may have different lengths and several channels. Values grow exponentially with length: use
    `kernels.normalise`, which works with logarithms and has no limit on length.

    >>> from mercer import kernels
    >>> kernel = kernels.GlobalAlignment(sigma=1.0)
    >>> kernel.fit([[0, 1, 2]])([[0, 1, 2]], [[0, 2]]).round(6)
    array([[1.123173]])
    """

    sigma: float | str = "median"
    band: int | None = integer(None, low=1)

    domain = Series
    reason = "kappa / (1 + kappa) is, for this choice of kappa"
    variants = ({}, {"sigma": 1.0}, {"sigma": 2.0, "band": 4})

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.sigma, str):
            _check.choice("GlobalAlignment", "sigma", self.sigma, ("median",), "Or give a positive number.")
        else:
            _check.real("GlobalAlignment", "sigma", self.sigma, low=0, low_open=True, high_open=True)

    @property
    def data_dependent(self) -> bool:
        return isinstance(self.sigma, str)

    def resolve(self, objects: Series) -> State:
        sigma = sigma_of(objects) if isinstance(self.sigma, str) else float(self.sigma)
        rate = min(0.5 / sigma / sigma, 1e300) if sigma > 1e-150 else 1e300
        return State({"sigma": np.asarray(sigma), "rate": np.asarray(rate), "channels": np.asarray(objects.channels)})

    def features(self, objects: Series, state: State, dtype: DType) -> SequenceFeatures:
        plain = moments(objects, state)
        own = self._completed(RUNNER.own(self._loop(state), plain, 1.0), plain, plain, state)
        return replace(plain, logarithms=own)

    @property
    def _width(self) -> int:
        return 0 if self.band is None else self.band

    def _loop(self, state: State) -> PairLoop:
        return with_numbers(_pairs, state.number("rate"), self._width)

    def _completed(self, logs: Float64, left: SequenceFeatures, right: SequenceFeatures, state: State) -> Float64:
        """Logarithms, after recomputing pairs that left the range of float64 with a scale for every cell."""
        rate = state.number("rate")
        return recompute(logs, left, right, lambda x, z: logarithm(*_long_pair(x, z, rate, self._width)))

    def log_tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Float64) -> None:
        RUNNER.fill(self._loop(state), left, right, 1.0, out)
        self._completed(out, left, right, state)

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        return entries(left, right, 1.0 if max(left.longest, right.longest) < _LONG else _RECOMPUTED)


def sigma_of(series: Series) -> float:
    """The median distance between moments, times the square root of the median length."""
    step = max(1, -(-len(series.values) // _MOMENTS))  # an evenly spaced sample, without randomness
    sample = series.values[::step]
    distances = pdist(sample) if len(sample) else np.zeros(0)
    typical = float(np.median(distances)) if len(distances) else 0.0
    typical = typical or (float(distances.mean()) if len(distances) else 0.0)  # most moments equal
    if not 0.0 < typical < np.inf:
        return 1.0
    return typical * math.sqrt(float(np.median(series.lengths)))


@jit(reassociate=False)
def _similarity(x: Array, weight: Array) -> Any:
    """w e^x / (2 - w e^x), with one division instead of two."""
    above, below = exp_parts_64(x)
    above = weight * above
    return above / (2.0 * below - above)


@jit(reassociate=False)
def _pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    rate: float, width: int,
) -> None:  # fmt: skip
    """D(i, j) = kappa(x_i, z_j) (D(i-1, j) + D(i, j-1) + D(i-1, j-1)), k = D(n, m).

    The loop works with c^(i + j) D(i, j), which is the same recursion with c before the first two terms and c^2 before
    the third. out[k] = log2 k, or NaN if the result is too small to be accurate.
    """
    most_rows = longest_of(left_offsets, first)
    most_columns = longest_of(right_offsets, second)
    channels = left.shape[1]
    rows = np.empty((most_rows, channels, LANES))
    columns = np.empty((most_columns, channels, LANES))
    kappa = np.empty((most_columns, LANES))
    D = np.empty((most_columns + 1, LANES))
    before = np.empty(LANES)
    ends = np.zeros(LANES)
    lengths = np.zeros((2, LANES), dtype=np.int64)
    per_step = -np.log2(_SHRINK)
    c, cc = _SHRINK, _SHRINK * _SHRINK
    for start in range(0, first.shape[0], LANES):
        own = first[start : start + LANES]
        others = second[start : start + LANES]
        n = fill_lanes(left, left_offsets, own, rows)
        m = fill_lanes(right, right_offsets, others, columns)
        for lane in range(own.shape[0]):
            lengths[0, lane] = left_offsets[own[lane] + 1] - left_offsets[own[lane]]
            lengths[1, lane] = right_offsets[others[lane] + 1] - right_offsets[others[lane]]
        D[: m + 1] = 0.0
        ends[:] = 0.0
        for i in range(n):
            low = max(0, i - width + 1) if width > 0 else 0
            high = min(m, i + width) if width > 0 else m
            if low >= high:
                break
            squared_distances(rows, columns, i, low, high, kappa)
            for j in range(low, high):
                weight = 1.0 - abs(i - j) / width if width > 0 else 1.0
                for lane in range(LANES):
                    kappa[j, lane] = _similarity(max(-rate * kappa[j, lane], LOWEST_64), weight)
            for lane in range(LANES):
                before[lane] = D[low, lane]  # D(i - 1, low - 1)
                D[low, lane] = 0.0
            if i == 0:
                before[:] = 1.0 / cc
            for j in range(low, high):
                for lane in range(LANES):
                    above = D[j + 1, lane]
                    kept = kappa[j, lane] * (c * above + cc * before[lane])
                    D[j + 1, lane] = kept + (c * kappa[j, lane]) * D[j, lane]  # one operation awaits the last cell
                    before[lane] = above
            for lane in range(own.shape[0]):
                if lengths[0, lane] == i + 1 and low < lengths[1, lane] <= high:
                    ends[lane] = D[lengths[1, lane], lane]
        for lane in range(own.shape[0]):
            n_lane, m_lane = lengths[0, lane], lengths[1, lane]
            if width > 0 and abs(n_lane - m_lane) >= width:
                out[start + lane] = -np.inf
            elif ends[lane] > _LEAST:
                out[start + lane] = np.log2(ends[lane]) + per_step * (n_lane + m_lane - 2)
            else:
                out[start + lane] = np.nan


@jit(reassociate=False)
def _long_pair(left: Array, right: Array, rate: float, width: int) -> Any:
    """The same for one pair, with a scale for every cell."""
    n, m = left.shape[0], right.shape[0]
    D = np.zeros(m + 1)
    scale = np.zeros(m + 1, dtype=np.int64)
    for i in range(n):
        low = max(0, i - width + 1) if width > 0 else 0
        high = min(m, i + width) if width > 0 else m
        before, before_scale = D[low], scale[low]
        if i == 0:
            before, before_scale = 1.0, np.int64(0)
        D[low] = 0.0
        for j in range(low, high):
            distance = 0.0
            for channel in range(left.shape[1]):
                gap = left[i, channel] - right[j, channel]
                distance += gap * gap
            weight = 1.0 - abs(i - j) / width if width > 0 else 1.0
            exponent = min(rate * distance, 1e15)
            steps = np.floor(exponent * 1.4426950408889634 / LOG2_RADIX)
            g = np.exp(-(exponent - steps * (LOG2_RADIX * 0.6931471805599453)))  # of g = this times 2^(-960 steps)
            whole = weight * g if steps == 0 else 0.0
            kappa, kappa_scale = scaled(weight * g / (2.0 - whole), -np.int64(steps))
            above, above_scale = D[j + 1], scale[j + 1]
            value, value_scale = added(above, above_scale, D[j], scale[j])
            value, value_scale = added(value, value_scale, before, before_scale)
            D[j + 1], scale[j + 1] = scaled(kappa * value, value_scale + kappa_scale)
            before, before_scale = above, above_scale
    return D[m], scale[m]
