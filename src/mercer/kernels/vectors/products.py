"""Products (or sums) over coordinates of a kernel of two numbers, such as 1 + x z or min(x, z) - a."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Floating
from mercer.kernels.vectors.coordinates import CoordinateFeatures
from mercer.kernels.vectors.features import column_blocks
from mercer.kernels.vectors.lines import FEATURES, LINE, turn

ONE_PLUS, ABOVE, BELOW, AGREE, TENT, SPLINE = range(6)
_NO_PARAMETERS = np.zeros(1)


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
    """out[i, j] = the product over coordinates of the term, or the sum where `summed`.

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
