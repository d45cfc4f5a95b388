"""Subsequences weighted by their number of gaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._types import DType
from mercer.kernels.loops.pairs import PairLoop, with_numbers
from mercer.kernels.loops.string_lanes import LANES, empty_lanes, fill_lanes, save_lanes
from mercer.kernels.strings.subsequences import Subsequences


@final
@dataclass(frozen=True)
class GapNumberWeighted(Subsequences):
    """Subsequences of length p, weighted by how many gaps they have: phi_u(s) = sum over i that spell u of decay^g(i).

    g(i) is the number of places where consecutive indices are more than 1 apart, however far; matched symbols weigh 1.
    decay = 0 gives the p-spectrum kernel, decay = 1 counts subsequences.

    >>> from mercer import kernels
    >>> kernels.GapNumberWeighted(p=2, decay=0.5).fit(["gatta"])(["gatta"], ["cata"])
    array([[3.25]])
    """

    p: int = 3
    decay: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("GapNumberWeighted", "decay", self.decay, low=0, high_open=True)

    def pair_loop(self, dtype: DType) -> PairLoop:
        return with_numbers(_pairs, self.p, dtype(self.decay))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(p=2, decay=0.0)


@jit
def _pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    p: int, decay: Array,
) -> None:  # fmt: skip
    """S_q(i, j) over pairs that end at s_i, t_j: the step before is next to it, or a gap away in s, in t, or in both.

    S_{q+1}(i, j) = [s_i = t_j] (S_q(i-1, j-1) + decay (A + B) + decay^2 D), where A sums S_q(a, j-1) over a < i-1, B
    sums S_q(i-1, b) over b < j-1, and D both: four sums of positive terms, so that nothing cancels for small decay.
    """
    rows, columns = empty_lanes(left_offsets, first), empty_lanes(right_offsets, second)
    width = columns.shape[0]
    zero = out.dtype.type(0)
    one = out.dtype.type(1)
    S = np.empty((p, width + 1, LANES), dtype=out.dtype)  # S[q, j + 1] = S_{q+1}(i - 1, j)
    above = np.empty((p, width + 1, LANES), dtype=out.dtype)  # the sum of S_{q+1}(a, j) over a < i - 1
    before = np.empty(LANES, dtype=out.dtype)
    before_above = np.empty(LANES, dtype=out.dtype)
    total = np.empty(LANES, dtype=out.dtype)
    for start in range(0, first.shape[0], LANES):
        n = fill_lanes(left, left_offsets, first, start, -1, rows)
        m = fill_lanes(right, right_offsets, second, start, -2, columns)
        S[:, : m + 1] = 0
        above[:, : m + 1] = 0
        total[:] = 0
        for i in range(n):
            for q in range(p - 1, -1, -1):
                before[:] = 0
                before_above[:] = 0
                for j in range(m):
                    for lane in range(LANES):
                        step = one
                        if q > 0:
                            near = S[q - 1, j, lane]
                            far = above[q - 1, j, lane]
                            step = near + decay * (far + before[lane] + decay * before_above[lane])
                            before[lane] += near
                            before_above[lane] += far
                        found = step if rows[i, lane] == columns[j, lane] else zero
                        above[q, j + 1, lane] += S[q, j + 1, lane]
                        S[q, j + 1, lane] = found
                        if q == p - 1:
                            total[lane] += found
        save_lanes(total, start, out)
