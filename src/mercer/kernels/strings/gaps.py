"""The recursions behind all kernels on subsequences with weighted gaps.

Let S_q(i, j) be the sum over pairs of subsequences of length q that end at s_i and t_j of the product of their weights,
and K_q(i, j) the sum of all S_q(a, b) with a <= i, b <= j, faded over the symbols passed since:

    S_1(i, j) = match(s_i, t_j)        S_{q+1}(i, j) = match(s_i, t_j) K_q(i - 1, j - 1)
    R_q(i, j) = fade(t_j) R_q(i, j - 1) + S_q(i, j)         K_q(i, j) = fade(s_i) K_q(i - 1, j) + R_q(i, j)

and k_p = sum of S_p(i, j). Kernels differ in `match` and `fade`. All terms are sums of products, without the
subtraction of the textbook's D table, so nothing cancels. One row of each K_q is kept.

Decaying numbers become subnormal, which makes the processor slow, long before they are zero; so they are set to zero
from time to time.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer._types import DType, Float64
from mercer.kernels.loops.pairs import PairLoop, with_numbers
from mercer.kernels.loops.string_lanes import LANES, empty_lanes, fill_lanes, save_lanes

EQUAL_ONLY = np.empty((0, 0))
"""No table of similarities: only equal symbols match."""
_STRETCH = 16
"""Rows or columns between two checks for numbers that became too small: checks take time, and so do these numbers."""


def gap_loop(p: int, fade: Float64, weight: Float64, similarity: Float64, dtype: DType) -> PairLoop:
    """The loop for subsequences of length p, in one precision.

    Skipped symbols multiply by `fade`, matched ones by `weight` (the last number of each is for all symbols without
    their own), and two symbols match by their `similarity`.
    """
    # Copies, which may be written to: the loop would be compiled again for tables of users, which may not.
    fading, matched, similar = (np.array(table, dtype=dtype, order="C") for table in (fade, weight, similarity))
    if len(fading) == 1 and not len(similar):
        return with_numbers(even_pairs, p, fading, np.square(matched))
    return with_numbers(gap_pairs, p, fading, matched, similar)


@jit
def gap_pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    p: int, fade: Array, weight: Array, similarity: Array,
) -> None:  # fmt: skip
    """out[k] = k_p of pair k; fade[c] and weight[c] belong to symbol c, the last to all others; match = weight weight
    similarity.

    An empty `similarity` means that only equal symbols match.
    """
    rows, columns = empty_lanes(left_offsets, first), empty_lanes(right_offsets, second)
    width = columns.shape[0]
    zero = out.dtype.type(0)
    tiny = out.dtype.type(1e-30 if out.itemsize == 4 else 1e-290)  # smaller numbers are slow, and negligible
    soft = similarity.shape[0] > 0
    last = fade.shape[0] - 1
    column_fade = np.empty((width, LANES), dtype=out.dtype)
    column_weight = np.empty((width, LANES), dtype=out.dtype)
    match = np.empty((width, LANES), dtype=out.dtype)
    K = np.empty((p, width + 1, LANES), dtype=out.dtype)
    carry = np.empty(LANES, dtype=out.dtype)
    total = np.empty(LANES, dtype=out.dtype)
    row_fade = np.empty(LANES, dtype=out.dtype)
    row_weight = np.empty(LANES, dtype=out.dtype)
    for start in range(0, first.shape[0], LANES):
        n = fill_lanes(left, left_offsets, first, start, -1, rows)
        m = fill_lanes(right, right_offsets, second, start, -2, columns)
        for j in range(m):
            for lane in range(LANES):
                symbol = min(max(columns[j, lane], 0), last)
                column_fade[j, lane] = fade[symbol]
                column_weight[j, lane] = weight[symbol]
        K[0, : m + 1] = 1
        K[1:, : m + 1] = 0
        total[:] = 0
        for i in range(n):
            for lane in range(LANES):
                symbol = min(max(rows[i, lane], 0), last)
                row_fade[lane] = fade[symbol]
                row_weight[lane] = weight[symbol]
            if soft:
                for j in range(m):
                    for lane in range(LANES):
                        a = rows[i, lane]
                        b = columns[j, lane]
                        inside = a >= 0 and b >= 0
                        match[j, lane] = (
                            row_weight[lane] * column_weight[j, lane] * similarity[a, b] if inside else zero
                        )
            else:
                for j in range(m):
                    for lane in range(LANES):
                        product = row_weight[lane] * column_weight[j, lane]
                        match[j, lane] = product if rows[i, lane] == columns[j, lane] else zero
            below = K[p - 1]
            for j in range(m):
                for lane in range(LANES):
                    total[lane] += match[j, lane] * below[j, lane]
            for q in range(p - 1, 0, -1):
                own = K[q]
                below = K[q - 1]
                carry[:] = 0
                for j in range(m):
                    for lane in range(LANES):
                        passed = column_fade[j, lane] * carry[lane] + match[j, lane] * below[j, lane]
                        kept = row_fade[lane] * own[j + 1, lane] + passed
                        carry[lane] = passed if abs(passed) > tiny else zero
                        own[j + 1, lane] = kept if abs(kept) > tiny else zero
        save_lanes(total, start, out)


@jit
def even_pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    p: int, fade: Array, match: Array,
) -> None:  # fmt: skip
    """out[k] = k_p of pair k, where all symbols fade alike, by fade[0], and equal ones match alike, by match[0]."""
    rows, columns = empty_lanes(left_offsets, first), empty_lanes(right_offsets, second)
    width = columns.shape[0]
    zero = out.dtype.type(0)
    tiny = out.dtype.type(1e-30 if out.itemsize == 4 else 1e-290)
    fading = fade[0]
    matching = match[0]
    S = np.empty((width, LANES), dtype=out.dtype)
    K = np.empty((p, width + 1, LANES), dtype=out.dtype)
    carry = np.empty(LANES, dtype=out.dtype)
    total = np.empty(LANES, dtype=out.dtype)
    for start in range(0, first.shape[0], LANES):
        n = fill_lanes(left, left_offsets, first, start, -1, rows)
        m = fill_lanes(right, right_offsets, second, start, -2, columns)
        K[:, : m + 1] = 0
        total[:] = 0
        for i in range(n):
            if i % _STRETCH == _STRETCH - 1:
                for q in range(1, p):
                    for j in range(m + 1):
                        for lane in range(LANES):
                            K[q, j, lane] = K[q, j, lane] if K[q, j, lane] > tiny else zero
            symbols = rows[i]
            for j in range(m):
                for lane in range(LANES):
                    S[j, lane] = matching if symbols[lane] == columns[j, lane] else zero
            if p == 1:
                for j in range(m):
                    for lane in range(LANES):
                        total[lane] += S[j, lane]
                continue
            below = K[p - 1]
            for j in range(m):
                for lane in range(LANES):
                    total[lane] += S[j, lane] * below[j, lane]
            for q in range(p - 1, 0, -1):
                own = K[q]
                below = K[q - 1]
                carry[:] = 0
                for begin in range(0, m, _STRETCH):
                    for lane in range(LANES):
                        carry[lane] = carry[lane] if carry[lane] > tiny else zero
                    if q == 1:
                        for j in range(begin, min(m, begin + _STRETCH)):
                            for lane in range(LANES):
                                carry[lane] = fading * carry[lane] + S[j, lane]
                                own[j + 1, lane] = fading * own[j + 1, lane] + carry[lane]
                    else:
                        for j in range(begin, min(m, begin + _STRETCH)):
                            for lane in range(LANES):
                                carry[lane] = fading * carry[lane] + S[j, lane] * below[j, lane]
                                own[j + 1, lane] = fading * own[j + 1, lane] + carry[lane]
        save_lanes(total, start, out)


@jit
def gap_number_pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    p: int, decay: Array,
) -> None:  # fmt: skip
    """S_q(i, j) over pairs that end at s_i, t_j: the step before is next to it, or a gap away in s, in t, or in both.

    S_{q+1}(i, j) = [s_i = t_j] (S_q(i-1, j-1) + decay (A + B) + decay^2 D), where A sums S_q(a, j-1) over a < i-1, B
    sums S_q(i-1, b) over b < j-1, and D both: four sums of positive terms, so nothing cancels for small decay.
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
