"""All subsequences, of every length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer._jit import Array, jit
from mercer.kernels.loops.extended import LOG2_RADIX, added
from mercer.kernels.strings.lanes import LANES, fill_lanes, longest_of, longest_of_all
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

    def pair_loop(self) -> Any:
        return _pairs

    def pair_logarithm(self, left: Any, right: Any) -> float:
        mantissa, exponent = _long_pair(left, right)
        return float(np.log2(mantissa) + LOG2_RADIX * exponent)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(tokens="words")


@jit
def _pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array
) -> None:
    """K(i, j) = K(i - 1, j) + sum over k <= j with t_k = s_i of K(i - 1, k - 1), with K(0, j) = K(i, 0) = 1."""
    most_rows = longest_of_all(left_offsets, first)
    most_columns = longest_of_all(right_offsets, second)
    rows = np.empty((most_rows, LANES), dtype=np.int32)
    columns = np.empty((most_columns, LANES), dtype=np.int32)
    K = np.empty((most_columns + 1, LANES))
    diagonal = np.empty(LANES)
    matched = np.empty(LANES)
    for start in range(0, first.shape[0], LANES):
        n = longest_of(left_offsets, first, start)
        m = longest_of(right_offsets, second, start)
        fill_lanes(left, left_offsets, first, start, n, -1, rows)
        fill_lanes(right, right_offsets, second, start, m, -2, columns)
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
        for lane in range(min(LANES, first.shape[0] - start)):
            out[start + lane] = K[m, lane]


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
