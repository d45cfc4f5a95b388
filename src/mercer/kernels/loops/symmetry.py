"""Whether a matrix is symmetric but for its last bits."""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Floating

_LAST_BITS = 64.0
"""Rounding units of the largest value k(x, x) by which k(x, z) and k(z, x) may differ. Sums of a few hundred products
differ by less; what differs by more is evened out, which takes longer than to train."""


def nearly_symmetric(matrix: Floating) -> bool:
    """Whether there is nothing to even out.

    >>> nearly_symmetric(np.array([[1.0, 0.1 + 0.2], [0.3, 1.0]])), nearly_symmetric(np.array([[1.0, 0.3], [0.4, 1.0]]))
    (True, False)
    """
    largest = float(np.abs(matrix.diagonal()).max(initial=0.0))
    return bool(_within(matrix, _LAST_BITS * float(np.finfo(matrix.dtype).eps) * largest))


@jit
def _within(matrix: Array, allowed: float) -> bool:
    n = matrix.shape[0]
    for top in range(0, n, 64):  # in blocks, so that both halves stay in the cache
        for left in range(0, top + 1, 64):
            for i in range(top, min(top + 64, n)):
                for j in range(left, min(left + 64, n)):
                    if not abs(matrix[i, j] - matrix[j, i]) <= allowed:
                        return False
    return True
