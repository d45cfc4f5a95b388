"""Sums over coordinates of a function of two numbers, such as |x - z|: measures that no matrix product gives.

Two features of four rows are compared with a line of other rows at a time, so that each number loaded is used eight
times and the four lines of sums stay in the first cache.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.kernels.base import Floating
from mercer.kernels.vectors.coordinates import CoordinateFeatures
from mercer.kernels.vectors.features import column_blocks

ABSOLUTE, CHI_SQUARED, HARMONIC, MINIMUM = range(4)
_LINE = 512
_FEATURES = 128  # times _LINE numbers: half of a usual second cache


def coordinate_sums(left: CoordinateFeatures, right: CoordinateFeatures, term: int, out: Floating) -> None:
    """out[i, j] = sum over coordinates of the term: |x - z|, (x - z)^2 / (x + z), 2 x z / (x + z) or min(x, z)."""
    out.fill(0)
    for rows, columns in column_blocks(left.rows, right.rows, out.dtype):
        _add_sums(rows, columns, term, np.finfo(out.dtype).tiny, out)


@jit
def _add_sums(left: Array, right: Array, term: int, least: Array, out: Array) -> None:
    # Short sides are filled up with zeros: every term vanishes on them.
    width = left.shape[1]
    lines = np.zeros((4, _FEATURES), dtype=out.dtype)
    turned = np.zeros((_FEATURES, _LINE), dtype=out.dtype)
    sums = np.zeros((4, _LINE), dtype=out.dtype)
    for first in range(0, width, _FEATURES):
        features = min(_FEATURES, width - first)
        if features % 2:
            lines[:, features] = 0
            turned[features] = 0
        for start in range(0, right.shape[0], _LINE):
            count = min(_LINE, right.shape[0] - start)
            for j in range(count):
                for k in range(features):
                    turned[k, j] = right[start + j, first + k]
            for i in range(0, left.shape[0], 4):
                rows = min(4, left.shape[0] - i)
                for r in range(rows):
                    for k in range(features):
                        lines[r, k] = left[i + r, first + k]
                    for j in range(count):
                        sums[r, j] = out[i + r, start + j]
                for k in range(0, features, 2):
                    if term == ABSOLUTE:
                        _absolute(sums, turned, lines, k, count)
                    elif term == CHI_SQUARED:
                        _chi_squared(sums, turned, lines, k, count, least)
                    elif term == HARMONIC:
                        _harmonic(sums, turned, lines, k, count, least)
                    else:
                        _minimum(sums, turned, lines, k, count)
                for r in range(rows):
                    for j in range(count):
                        out[i + r, start + j] = sums[r, j]


@jit
def _absolute(sums: Array, turned: Array, lines: Array, k: int, count: int) -> None:
    s0, s1, s2, s3 = sums[0], sums[1], sums[2], sums[3]
    a0, a1, a2, a3 = lines[0, k], lines[1, k], lines[2, k], lines[3, k]
    b0, b1, b2, b3 = lines[0, k + 1], lines[1, k + 1], lines[2, k + 1], lines[3, k + 1]
    y, z = turned[k], turned[k + 1]
    for j in range(count):
        p, q = y[j], z[j]
        s0[j] += abs(a0 - p) + abs(b0 - q)
        s1[j] += abs(a1 - p) + abs(b1 - q)
        s2[j] += abs(a2 - p) + abs(b2 - q)
        s3[j] += abs(a3 - p) + abs(b3 - q)


@jit
def _minimum(sums: Array, turned: Array, lines: Array, k: int, count: int) -> None:
    s0, s1, s2, s3 = sums[0], sums[1], sums[2], sums[3]
    a0, a1, a2, a3 = lines[0, k], lines[1, k], lines[2, k], lines[3, k]
    b0, b1, b2, b3 = lines[0, k + 1], lines[1, k + 1], lines[2, k + 1], lines[3, k + 1]
    y, z = turned[k], turned[k + 1]
    for j in range(count):
        p, q = y[j], z[j]
        s0[j] += min(a0, p) + min(b0, q)
        s1[j] += min(a1, p) + min(b1, q)
        s2[j] += min(a2, p) + min(b2, q)
        s3[j] += min(a3, p) + min(b3, q)


# Division bounds the next two, so one row at a time is as fast. 0 / 0 counts as 0, by a divisor that is never zero;
# dividing before multiplying keeps the quotient below 1, so that nothing overflows.
@jit
def _chi_squared(sums: Array, turned: Array, lines: Array, k: int, count: int, least: Array) -> None:
    for r in range(4):
        s, a, b = sums[r], lines[r, k], lines[r, k + 1]
        y, z = turned[k], turned[k + 1]
        for j in range(count):
            p, q = a - y[j], b - z[j]
            s[j] += p * (p / max(a + y[j], least)) + q * (q / max(b + z[j], least))


@jit
def _harmonic(sums: Array, turned: Array, lines: Array, k: int, count: int, least: Array) -> None:
    for r in range(4):
        s, a, b = sums[r], lines[r, k], lines[r, k + 1]
        y, z = turned[k], turned[k + 1]
        a2, b2 = a + a, b + b
        for j in range(count):
            p, q = y[j], z[j]
            s[j] += a2 * (p / max(a + p, least)) + b2 * (q / max(b + q, least))
