"""The sums over all alignments of a pair hidden Markov model, for many pairs of strings and for one."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer.kernels.loops.extended import combined, scaled
from mercer.kernels.loops.string_lanes import LANES, empty_lanes, fill_lanes

_LOWEST = 550.0
"""Cells are kept above exp(-this), so none underflows; pairs that then overflow are recomputed with a wider range."""


@jit(reassociate=False)
def pair_loop(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    odds: Array, logs: Array, numbers: Array,
) -> None:  # fmt: skip
    """M: the last symbols are of one class; X: a gap filled in s; Y: then one in t. X leads to Y, never back.

    Probabilities are divided by those of the background and multiplied by c for each symbol, to keep cells in range:
    M(i, j) = c^2 odds (MM M + XM X + YM Y)(i-1, j-1),  X(i, j) = c (MX M + XX X)(i-1, j),
    Y(i, j) = c (MY M + XY X + YY Y)(i, j-1). out[k] = log2 k, or NaN if that left the range after all.
    """
    rows, columns = empty_lanes(left_offsets, first), empty_lanes(right_offsets, second)
    width = columns.shape[0]
    M = np.empty((width + 1, LANES))
    X = np.empty((width + 1, LANES))
    Y = np.empty((width + 1, LANES))
    before = np.empty(LANES)
    mm, xm, ym, m_end, x_end, y_end, mx, xx, my, xy, yy = numbers
    for start in range(0, first.shape[0], LANES):
        n = fill_lanes(left, left_offsets, first, start, 0, rows)
        m = fill_lanes(right, right_offsets, second, start, 0, columns)
        c = max(1.0, np.exp(-_LOWEST / max(1, n + m)) / xx)
        M[: m + 1] = 0.0
        X[: m + 1] = 0.0
        Y[: m + 1] = 0.0
        M[0] = 1.0
        for i in range(n + 1):
            if i > 0:
                for lane in range(LANES):
                    before[lane] = mm * M[0, lane] + xm * X[0, lane] + ym * Y[0, lane]
                    X[0, lane] = c * (mx * M[0, lane] + xx * X[0, lane])
                    M[0, lane] = 0.0
                    Y[0, lane] = 0.0
            for j in range(1, m + 1):
                if i > 0:
                    for lane in range(LANES):
                        reached = mm * M[j, lane] + xm * X[j, lane] + ym * Y[j, lane]
                        X[j, lane] = c * (mx * M[j, lane] + xx * X[j, lane])
                        M[j, lane] = c * c * odds[rows[i - 1, lane], columns[j - 1, lane]] * before[lane]
                        before[lane] = reached
                for lane in range(LANES):
                    Y[j, lane] = c * (my * M[j - 1, lane] + xy * X[j - 1, lane] + yy * Y[j - 1, lane])
            for lane in range(min(LANES, first.shape[0] - start)):
                begin, end = left_offsets[first[start + lane]], left_offsets[first[start + lane] + 1]
                if end - begin == i:
                    opposite, last = right_offsets[second[start + lane]], right_offsets[second[start + lane] + 1]
                    j = last - opposite
                    total = m_end * M[j, lane] + x_end * X[j, lane] + y_end * Y[j, lane]
                    if not total < 1e300 or not total > 0.0:
                        out[start + lane] = np.nan
                        continue
                    found = np.log2(total) - (i + j) * np.log2(c)
                    for place in range(begin, end):
                        found += logs[left[place]]
                    for place in range(opposite, last):
                        found += logs[right[place]]
                    out[start + lane] = found


@jit(reassociate=False)
def long_pair(left: Array, right: Array, odds: Array, numbers: Array) -> Any:
    """The same for one pair, with a scale for every cell."""
    m = right.shape[0]
    mm, xm, ym, m_end, x_end, y_end, mx, xx, my, xy, yy = numbers
    F = np.zeros((3, m + 1))
    E = np.zeros((3, m + 1), dtype=np.int64)
    F[0, 0] = 1.0
    for i in range(left.shape[0] + 1):
        before, before_scale = 0.0, np.int64(0)
        for j in range(m + 1):
            if i > 0:
                reached, reached_scale = combined(F, E, j, mm, xm, ym)
                F[1, j], E[1, j] = combined(F, E, j, mx, xx, 0.0)
                F[0, j], E[0, j] = 0.0, np.int64(0)
                F[2, j], E[2, j] = 0.0, np.int64(0)
                if j > 0:
                    F[0, j], E[0, j] = scaled(odds[left[i - 1], right[j - 1]] * before, before_scale)
                before, before_scale = reached, reached_scale
            if j > 0:
                F[2, j], E[2, j] = combined(F, E, j - 1, my, xy, yy)
    return combined(F, E, m, m_end, x_end, y_end)
