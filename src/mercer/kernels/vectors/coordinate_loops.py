"""Sums and products over coordinates of a function of two numbers, such as |x - z| or 1 + x z: what no matrix product
gives.

One row is compared with a line of other rows at a time. These are transposed first, block by block, so that the loops
read contiguous numbers. In sums, two features of four rows are compared with a line together: each number loaded is
used eight times, and the four lines of sums stay in the L1 cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Floating
from mercer.kernels.vectors.coordinates import CoordinateFeatures
from mercer.kernels.vectors.features import column_blocks

ABSOLUTE, CHI_SQUARED, HARMONIC, MINIMUM = range(4)
ONE_PLUS, ABOVE, BELOW, AGREE, TENT, SPLINE = range(6)
_NO_PARAMETERS = np.zeros(1)
LINE = 512
"""Rows compared at a time. A few lines of this many floats fit the L1 cache; shorter ones have more loop overhead."""
FEATURES = 128
"""Features transposed at a time: times `LINE` numbers, half of a typical L2 cache."""
_APART = 16
"""Padding between two lines: lines a power of two apart evict each other from the L1 cache."""


def _turn_plain(rows: Array, start: int, first: int, turned: Array) -> None:
    part = rows[start : start + LINE, first : first + turned.shape[0]].T
    turned[: part.shape[0], : part.shape[1]] = part


@jit(plain=_turn_plain)
def turn(rows: Array, start: int, first: int, turned: Array) -> None:
    """Write features `first`, `first` + 1, ... of the `LINE` rows from `start` into the rows of `turned`."""
    # In strips of eight rows, whose lines all stay in the L1 cache while their features are read.
    count = min(LINE, rows.shape[0] - start)
    for strip in range(0, count, 8):
        for k in range(min(turned.shape[0], rows.shape[1] - first)):
            for j in range(strip, min(strip + 8, count)):
                turned[k, j] = rows[start + j, first + k]


def coordinate_sums(left: CoordinateFeatures, right: CoordinateFeatures, term: int, out: Floating) -> None:
    """out[i, j] = sum over coordinates of the term: |x - z|, (x - z)^2 / (x + z), 2 x z / (x + z) or min(x, z)."""
    least = np.finfo(out.dtype).tiny
    turned = np.zeros((FEATURES, LINE + _APART), dtype=out.dtype)
    sums = np.zeros((4, LINE + _APART), dtype=out.dtype)
    begun = False
    for rows, columns in column_blocks(left.rows, right.rows, out.dtype):
        for first in range(0, rows.shape[1], FEATURES):
            part = _filled_up(rows[:, first : first + FEATURES])
            turned[part.shape[1] - 1] = 0
            for start in range(0, columns.shape[0], LINE):
                turn(columns, start, first, turned)
                _add(part, turned, start, term, least, begun, sums, out)
            begun = True
    if not begun:
        out.fill(0)


def _filled_up(rows: Floating) -> Floating:
    """Pad with zeros, on which every term vanishes, to a multiple of four rows and two features."""
    n, width = rows.shape
    filled = np.zeros((n + -n % 4, width + width % 2), dtype=rows.dtype)
    filled[:n, :width] = rows
    return filled


@jit
def _load(out: Array, i: int, start: int, begun: bool, sums: Array) -> Any:
    """The sums so far of four rows; all zero unless `begun`."""
    count = min(LINE, out.shape[1] - start)
    for r in range(min(4, out.shape[0] - i)):
        line, target = out[i + r, start : start + count], sums[r]
        if begun:
            for j in range(count):
                target[j] = line[j]
        else:
            for j in range(count):
                target[j] = 0
    return count


@jit
def _save(sums: Array, i: int, start: int, count: int, out: Array) -> None:
    for r in range(min(4, out.shape[0] - i)):
        line, source = out[i + r, start : start + count], sums[r]
        for j in range(count):
            line[j] = source[j]


def _add_plain(
    rows: Array, turned: Array, start: int, term: int, least: Array, begun: bool, sums: Array, out: Array
) -> None:
    part = out[:, start : start + LINE]
    if not begun:
        part.fill(0)
    for k in range(rows.shape[1]):
        x, z = rows[: len(out), k, None], turned[k, : part.shape[1]]
        if term in (ABSOLUTE, MINIMUM):
            part += np.abs(x - z) if term == ABSOLUTE else np.minimum(x, z)
        elif term == CHI_SQUARED:
            part += (x - z) * ((x - z) / np.maximum(x + z, least))
        else:
            part += (x + x) * (z / np.maximum(x + z, least))


@jit(plain=_add_plain)
def _add(rows: Array, turned: Array, start: int, term: int, least: Array, begun: bool, sums: Array, out: Array) -> None:
    for i in range(0, rows.shape[0], 4):
        count = _load(out, i, start, begun, sums)
        for k in range(0, rows.shape[1], 2):
            if term == CHI_SQUARED:
                _chi_squared(sums, turned, rows, i, k, count, least)
            elif term == HARMONIC:
                _harmonic(sums, turned, rows, i, k, count, least)
            else:
                _absolute_or_minimum(sums, turned, rows, i, k, count, term == ABSOLUTE)
        _save(sums, i, start, count, out)


@jit
def _absolute_or_minimum(sums: Array, turned: Array, rows: Array, i: int, k: int, count: int, absolute: bool) -> None:
    s0, s1, s2, s3 = sums[0], sums[1], sums[2], sums[3]
    a0, a1, a2, a3 = rows[i, k], rows[i + 1, k], rows[i + 2, k], rows[i + 3, k]
    b0, b1, b2, b3 = rows[i, k + 1], rows[i + 1, k + 1], rows[i + 2, k + 1], rows[i + 3, k + 1]
    y, z = turned[k], turned[k + 1]
    if absolute:
        for j in range(count):
            p, q = y[j], z[j]
            s0[j] += abs(a0 - p) + abs(b0 - q)
            s1[j] += abs(a1 - p) + abs(b1 - q)
            s2[j] += abs(a2 - p) + abs(b2 - q)
            s3[j] += abs(a3 - p) + abs(b3 - q)
    else:
        for j in range(count):
            p, q = y[j], z[j]
            s0[j] += min(a0, p) + min(b0, q)
            s1[j] += min(a1, p) + min(b1, q)
            s2[j] += min(a2, p) + min(b2, q)
            s3[j] += min(a3, p) + min(b3, q)


# Division bounds the next two, so one row at a time is as fast. 0 / 0 counts as 0, by a divisor that is never zero;
# dividing before multiplying keeps the quotient below 1, so nothing overflows.
@jit
def _chi_squared(sums: Array, turned: Array, rows: Array, i: int, k: int, count: int, least: Array) -> None:
    for r in range(4):
        s, a, b = sums[r], rows[i + r, k], rows[i + r, k + 1]
        y, z = turned[k], turned[k + 1]
        for j in range(count):
            p, q = a - y[j], b - z[j]
            s[j] += p * (p / max(a + y[j], least)) + q * (q / max(b + z[j], least))


@jit
def _harmonic(sums: Array, turned: Array, rows: Array, i: int, k: int, count: int, least: Array) -> None:
    for r in range(4):
        s, a, b = sums[r], rows[i + r, k], rows[i + r, k + 1]
        y, z = turned[k], turned[k + 1]
        a2, b2 = a + a, b + b
        for j in range(count):
            p, q = y[j], z[j]
            s[j] += a2 * (p / max(a + p, least)) + b2 * (q / max(b + q, least))


def coordinate_products(
    left: CoordinateFeatures,
    right: CoordinateFeatures,
    term: int,
    out: Floating,
    *,
    parameters: Float64 = _NO_PARAMETERS,
    summed: bool = False,
    every: bool = False,
) -> None:
    """out[i, j] = the product over coordinates of the term, or the sum if `summed`.

    The terms: 1 + x z; min(x, z) - a; b - max(x, z); w - |x - z|; max(0, w - |x - z|); and the spline whose
    coefficients are the parameters. Terms that are not 1 (0 in a sum) on zeros need `every` column of sparse rows.
    """
    out.fill(0 if summed else 1)
    own = parameters.astype(out.dtype)
    for rows, columns in column_blocks(left.rows, right.rows, out.dtype, every=every):
        _fold(rows, columns, term, own, summed, out)


@jit
def _fold(left: Array, right: Array, term: int, parameters: Array, summed: bool, out: Array) -> None:
    width = left.shape[1]
    turned = np.empty((FEATURES, LINE), dtype=out.dtype)
    values = np.empty(LINE, dtype=out.dtype)
    folded = np.empty(LINE, dtype=out.dtype)
    for first in range(0, width, FEATURES):
        features = min(FEATURES, width - first)
        for start in range(0, right.shape[0], LINE):
            count = min(LINE, right.shape[0] - start)
            turn(right, start, first, turned)
            for i in range(left.shape[0]):
                for j in range(count):
                    folded[j] = out[i, start + j]
                for k in range(features):
                    _line(left[i, first + k], turned[k], term, parameters, count, values)
                    if summed:
                        for j in range(count):
                            folded[j] += values[j]
                    else:
                        for j in range(count):
                            folded[j] *= values[j]
                for j in range(count):
                    out[i, start + j] = folded[j]


@jit
def _line(x: Array, line: Array, term: int, parameters: Array, count: int, values: Array) -> None:
    zero, one = values.dtype.type(0), values.dtype.type(1)
    p = parameters[0]
    if term == ONE_PLUS:
        for j in range(count):
            values[j] = one + x * line[j]
    elif term == ABOVE:
        for j in range(count):
            values[j] = min(x, line[j]) - p
    elif term == BELOW:
        for j in range(count):
            values[j] = p - max(x, line[j])
    elif term == AGREE:
        for j in range(count):
            values[j] = p - abs(x - line[j])
    elif term == TENT:
        for j in range(count):
            values[j] = max(zero, p - abs(x - line[j]))
    else:
        for j in range(count):
            values[j] = _spline(x, line[j], parameters, one)


@jit
def _spline(x: Array, z: Array, coefficients: Array, one: Array) -> Any:
    # sum over i of (x z)^i, plus least^(s + 1) times the form sum over r of c_r least^(s - r) apart^r, by Horner's rule
    least, apart, product = min(x, z), abs(x - z), x * z
    powers, form, apart_power, front = one - one, one - one, one, one
    for r in range(coefficients.shape[0]):
        powers = powers * product + one
        form = form * least + coefficients[r] * apart_power
        apart_power = apart_power * apart
        front = front * least
    return powers + front * form
