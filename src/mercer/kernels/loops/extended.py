"""Numbers beyond the range of float64: a float and a power of 2^960, added and multiplied inside compiled loops.

If the cells of a dynamic programme differ by thousands of orders of magnitude, one scale per row is not enough: a cell
that is negligible compared to its neighbours may lead to most of the result. So each cell has its own scale.
"""

from __future__ import annotations

import math
from typing import Any

from mercer._jit import Array, jit

LOG2_RADIX = 960
"""A float covers half of this on either side, so the product of two is still a float: float64 ends at 2^1024."""
_RADIX, _INVERSE_RADIX = 2.0**LOG2_RADIX, 2.0**-LOG2_RADIX
_LARGE, _SMALL = 2.0 ** (LOG2_RADIX // 2), 2.0 ** -(LOG2_RADIX // 2)


@jit(reassociate=False)
def scaled(x: Any, e: Any) -> Any:
    """x * 2^(960 e), for x >= 0, with x brought back into [2^-480, 2^480)."""
    if x >= _LARGE:
        return x * _INVERSE_RADIX, e + 1
    if 0.0 < x < _SMALL:
        return x * _RADIX, e - 1
    return x, e


@jit(reassociate=False)
def added(x: Any, e: Any, y: Any, f: Any) -> Any:
    """The sum of two such nonnegative numbers."""
    if x == 0.0:
        return y, f
    if y == 0.0:
        return x, e
    if e == f:
        return scaled(x + y, e)
    if e == f + 1:
        return scaled(x + y * _INVERSE_RADIX, e)
    if f == e + 1:
        return scaled(x * _INVERSE_RADIX + y, f)
    return (x, e) if e > f else (y, f)


def logarithm(x: float, e: int) -> float:
    """log2 of such a number."""
    return -math.inf if x == 0.0 else math.log2(x) + LOG2_RADIX * e


@jit(reassociate=False)
def combined(F: Array, E: Array, j: int, a: float, b: float, c: float) -> Any:
    """a F_0 + b F_1 + c F_2 at column j; E are the scales of F."""
    x, e = scaled(a * F[0, j], E[0, j])
    y, f = scaled(b * F[1, j], E[1, j])
    x, e = added(x, e, y, f)
    y, f = scaled(c * F[2, j], E[2, j])
    return added(x, e, y, f)
