"""Kernels on vectors against what one would use without them, as ratios of time.

Run with ``python benchmarks/vector_kernels.py``. The systems take turns, each is warmed up once at full
size, and the best of three counts. Ours uses two threads where the other library uses one because it has no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits
from timing import head, line, take_turns

# isort: split
from mercer import kernels
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.kernels.loops import epilogues

THREADS = 2
ROWS, COLUMNS = 256, 1024


def main() -> None:
    head()
    with threadpool_limits(1):
        for features in (20, 100, 400):
            for dtype in (np.float64, np.float32):
                laplacian(features, dtype)
        for dtype in (np.float64, np.float32):
            chi2(dtype)
        for dtype in (np.float64, np.float32):
            gaussian_epilogue(dtype)
        user_function()


def laplacian(features: int, dtype: Any) -> None:
    """A Gram matrix (half of it is computed and mirrored), and a block between two batches (all of it is)."""
    X, Z = np.random.default_rng(0).normal(size=(2, 2048, features))
    kernel = kernels.Laplacian(gamma=0.1)
    fitted = kernel.fit(X)
    what = f"{features} features, {np.dtype(dtype)}, {THREADS} threads / cdist"
    for name, Y in (("Gram", None), ("block", Z)):
        other = X if Y is None else Y

        def plain(other: Any = other) -> Any:
            return np.exp(-0.1 * cdist(X, other, "cityblock"))

        def ours(Y: Any = Y) -> Any:
            return gram_of(fitted, X, Y, dtype=dtype, executor=Threads(THREADS)).dense()

        assert np.abs(ours() - plain()).max() < 1e-5
        report(f"Laplacian {name}, {what}", plain, ours, goal=6)


def chi2(dtype: Any) -> None:
    X = np.random.default_rng(0).random((1024, 100))

    def plain() -> Any:
        return np.stack([((x - X) ** 2 / (x + X)).sum(axis=1) for x in X])

    fitted = kernels.ExponentialChi2(gamma=0.1).fit(X)

    def ours() -> Any:
        return gram_of(fitted, X, dtype=dtype, executor=Threads(THREADS)).dense()

    assert np.abs(ours() - np.exp(-0.1 * plain())).max() < 1e-5
    report(f"chi2 Gram, 100 features, {np.dtype(dtype)}, {THREADS} threads / NumPy", plain, ours, goal=6)


def gaussian_epilogue(dtype: Any) -> None:
    """exp(-gamma d) over a tile that is in cache, one thread each."""
    tile = np.random.default_rng(0).uniform(0, 60, size=(ROWS, COLUMNS)).astype(dtype)
    mine, other = tile.copy(), tile.copy()
    rate = dtype(-0.5)

    def numpy() -> None:
        np.multiply(tile, rate, out=other)
        np.exp(other, out=other)

    def ours() -> None:
        mine[...] = tile
        epilogues.exp_of_negative(mine, 0.5)

    seconds = report(f"Gaussian epilogue of a tile, {np.dtype(dtype)} / NumPy", numpy, ours, goal=2)
    print(f"{'':<60}{tile.size / seconds / 1e6:>20,.0f} million entries/s")


def user_function() -> None:
    """A pair function compiled by the user, against calling it from a Python loop."""

    def pair(x: Any, z: Any) -> float:
        total = 0.0
        for i in range(x.shape[0]):
            total += abs(x[i] - z[i])
        return np.exp(-0.1 * total)

    compiled: Any = numba.njit(pair)
    X = np.random.default_rng(0).normal(size=(300, 10))
    fitted = kernels.FromFunction(compiled).fit(X)
    kept = fitted.features(fitted.coerce(X))
    out = np.empty((300, 300))
    report("FromFunction, compiled / called from a Python loop", lambda: [[compiled(x, z) for z in X] for x in X],
           lambda: fitted.tile(kept, kept, out), goal=20)  # fmt: skip


def report(what: str, other: Callable[[], Any], ours: Callable[[], Any], goal: float) -> float:
    theirs, own = take_turns(other, ours)
    line(what, theirs, own, goal)
    return own


if __name__ == "__main__":
    main()
