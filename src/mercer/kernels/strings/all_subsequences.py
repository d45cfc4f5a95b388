"""All subsequences, of every length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer._jit import Array, jit
from mercer.kernels.loops.extended import added, logarithm
from mercer.kernels.loops.pairs import PairLoop
from mercer.kernels.loops.string_lanes import LANES, empty_lanes, fill_lanes, save_lanes
from mercer.kernels.strings.long_range import LongRange


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

    def pair_loop(self) -> PairLoop:
        return _pairs

    def pair_logarithm(self, left: Any, right: Any) -> float:
        return logarithm(*_long_pair(left, right))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(tokens="words")


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
    """The same of one pair, with a scale for every cell."""
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
