"""The speed of linear algebra on this machine, for estimating how long a call of LAPACK will take."""

from __future__ import annotations

import contextlib
import functools
import time

import numpy as np

from mercer._process import single_threaded_blas

CHOLESKY, EIGENVALUES, EIGENVECTORS, SINGULAR = 0.7, 2.0, 8.0, 17.0
"""Flops per n^3 of a factorisation, of a few eigenvalues, of all eigenvectors and of all singular vectors, as if each
flop took as long as in a product of matrices: measured with LAPACK at n = 1,500."""
_SIDE, _TIMES = 256, 6
"""The side of the timed matrix product, and how many times it is timed on all threads and on one; the best counts.
Smaller products are slower than large ones and would overestimate the time; so would those of all threads on a busy
machine, which spend far more time waiting for each other than working."""


def seconds(flops_per_cube: float, n: int) -> float:
    """The approximate seconds for a decomposition of an n x n matrix.

    >>> seconds(EIGENVECTORS, 2000) > 100 * seconds(CHOLESKY, 1000) * 0.1 > 0
    True
    """
    return flops_per_cube * float(n) ** 3 * _seconds_per_flop()


@functools.cache
def _seconds_per_flop() -> float:
    matrix = np.ones((_SIDE, _SIDE))
    best = np.inf
    for threads in (contextlib.nullcontext(), single_threaded_blas()):
        with threads:
            for _ in range(_TIMES):
                began = time.perf_counter()
                matrix @ matrix
                best = min(best, time.perf_counter() - began)
    return best / (2.0 * _SIDE**3)
