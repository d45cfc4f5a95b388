"""Kernels on pairs of strings whose values outgrow float64 on long strings."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.logarithmic import LogKernel
from mercer.kernels.base import State
from mercer.kernels.loops.extended import added, logarithm
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, recompute
from mercer.kernels.loops.string_lanes import LANES, RUNNER, empty_lanes, fill_lanes, save_lanes, small_codes
from mercer.kernels.strings.base import PairedStrings

_LARGEST = 1e300
"""Larger values may have overflowed on the way: they are recomputed with a wider range."""
_LONG, _RECOMPUTED = 500, 20
"""Pairs of strings longer than the first number are often recomputed, at about the second number times the cost."""


class LongRange(PairedStrings, LogKernel):
    """A dynamic programme in float64 on many pairs at once; pairs that overflow are recomputed with a wider range.

    The values of `pair_loop` may be infinite.
    """

    @abstractmethod
    def pair_logarithm(self, left: Any, right: Any) -> float:
        """log2 k of one pair of arrays of symbols, whatever its size."""

    def features(self, objects: Strings, state: State, dtype: DType) -> SequenceFeatures:
        plain = super().features(objects, state, dtype)
        small, _ = small_codes(plain, plain)
        return replace(plain, logarithms=self._logarithms(plain.diagonal, small, small))

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        values = np.empty(out.shape)
        super().tile(left, right, state, values)
        with np.errstate(over="ignore"):
            out[...] = values

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        factor = 1 if max(left.longest, right.longest) < _LONG else _RECOMPUTED
        return RUNNER.entries(left, right, factor * self.cost)

    def log_tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Float64) -> None:
        super().tile(left, right, state, out)
        out[...] = self._logarithms(out, left, right)

    def _logarithms(self, values: Float64, left: SequenceFeatures, right: SequenceFeatures) -> Float64:
        logs = np.full(values.shape, -np.inf)
        np.log2(values, out=logs, where=values > 0)
        logs[~(values < _LARGEST)] = np.nan  # infinite, or not a number after infinity times 0
        return recompute(logs, left, right, self.pair_logarithm)

    def diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return np.where(features.diagonal < _LARGEST, features.diagonal, np.inf)

    def log_diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return features.logarithms


@final
@dataclass(frozen=True)
class AllSubsequences(LongRange):
    """All subsequences of all lengths: k(s, t) = sum over words u of count_u(s) count_u(t), the empty word included.

    count_u(s) is the number of index tuples that spell u in s. Values grow like C(2n, n), beyond every float at length
    515: use `kernels.normalise`, which works with logarithms.

    >>> from mercer import kernels
    >>> kernels.AllSubsequences().fit(["gatta"])(["gatta"], ["cata"])
    array([[14.]])
    """

    cost = 1.0
    variants = (
        {},
        {"tokens": "words"},
    )

    def pair_loop(self, dtype: DType) -> PairLoop:
        return _pairs

    def pair_logarithm(self, left: Any, right: Any) -> float:
        return logarithm(*_long_pair(left, right))


@jit
def _pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array
) -> None:
    """K(i, j) = K(i - 1, j) + sum over k <= j with t_k = s_i of K(i - 1, k - 1), with K(0, j) = K(i, 0) = 1."""
    rows, columns = empty_lanes(left_offsets, first), empty_lanes(right_offsets, second)
    width = columns.shape[0]
    K = np.empty((width + 1, LANES))
    diagonal = np.empty(LANES)
    matched = np.empty(LANES)
    for start in range(0, first.shape[0], LANES):
        n = fill_lanes(left, left_offsets, first, start, -1, rows)
        m = fill_lanes(right, right_offsets, second, start, -2, columns)
        K[: m + 1] = 1.0
        for i in range(n):
            diagonal[:] = 1.0
            matched[:] = 0.0
            for j in range(m):
                for lane in range(LANES):
                    old = K[j + 1, lane]
                    matched[lane] += diagonal[lane] if rows[i, lane] == columns[j, lane] else 0.0
                    K[j + 1, lane] = old + matched[lane]
                    diagonal[lane] = old
        save_lanes(K[m], start, out)


@jit(reassociate=False)
def _long_pair(left: Array, right: Array) -> Any:
    """The same for one pair, with a scale for every cell."""
    m = right.shape[0]
    K = np.ones(m + 1)
    scale = np.zeros(m + 1, dtype=np.int64)
    for i in range(left.shape[0]):
        before, before_scale = 1.0, np.int64(0)
        matched, matched_scale = 0.0, np.int64(0)
        for j in range(m):
            if left[i] == right[j]:
                matched, matched_scale = added(matched, matched_scale, before, before_scale)
            before, before_scale = K[j + 1], scale[j + 1]
            K[j + 1], scale[j + 1] = added(before, before_scale, matched, matched_scale)
    return K[m], scale[m]
