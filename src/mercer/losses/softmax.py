"""Softmax and log-sum-exp, row by row, in compiled loops: several times as fast as NumPy."""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.kernels.loops.elementary import LOWEST_64, exp_64


def softmax(f: Float64) -> Float64:
    """exp(f_k) / sum_j exp(f_j) of each row.

    >>> import numpy as np
    >>> softmax(np.log([[1.0, 3.0]])).round(9).tolist()
    [[0.25, 0.75]]
    """
    out = np.empty(f.shape)
    _softmax(np.ascontiguousarray(f, dtype=np.float64), out)
    return out


def log_sum_exp_above(f: Float64, codes: Indices) -> Float64:
    """log(sum_k exp(f_k)) - f_code of each row.

    >>> import numpy as np
    >>> log_sum_exp_above(np.zeros((1, 3)), np.array([0])).round(4).tolist()
    [1.0986]
    """
    sums, beyond = np.empty(len(f)), np.empty(len(f))
    _sums(np.ascontiguousarray(f, dtype=np.float64), codes, sums, beyond, np.empty(f.shape[1]))
    return np.asarray(np.log(sums) + beyond)


@jit(inline=True)
def _exponentials(row: Array, out: Array) -> tuple[float, float]:
    """Write exp(f_k - highest); returns the highest f and the sum of what was written."""
    highest = row[0]
    for k in range(1, row.shape[0]):
        highest = max(highest, row[k])
    for k in range(row.shape[0]):
        out[k] = exp_64(max(row[k] - highest, LOWEST_64))
    total = 0.0
    for k in range(row.shape[0]):
        total += out[k]
    return highest, total


@jit
def _softmax(f: Array, out: Array) -> None:
    for i in range(f.shape[0]):
        line = out[i]
        _, total = _exponentials(f[i], line)
        share = 1.0 / total
        for k in range(line.shape[0]):
            line[k] *= share


@jit
def _sums(f: Array, codes: Array, sums: Array, beyond: Array, scratch: Array) -> None:
    """sum_k exp(f_k - highest), and how much the highest f exceeds that of the code."""
    for i in range(f.shape[0]):
        highest, sums[i] = _exponentials(f[i], scratch)
        beyond[i] = highest - f[i, codes[i]]
