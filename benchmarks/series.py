"""Kernels on series and from generative models: against tslearn, and how they grow.

Run with ``python benchmarks/series.py``. Systems take turns after a warm-up; the best of three counts.
"""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
from timing import best_of, take_turns

# isort: split
from mercer import kernels
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of

THREADS = 2


def main() -> None:
    alignment()
    long_series()
    hidden_markov()
    markov()


def alignment() -> None:
    """150 against 50 series of 150 moments, as many as GunPoint has, and 50 against each other."""
    random = np.random.default_rng(0)
    train, test = (random.normal(size=(size, 150)).cumsum(axis=1) for size in (50, 150))
    fitted = kernels.normalise(kernels.GlobalAlignment()).fit(train)
    sigma = fitted.state.parts[0].number("sigma")

    def ours() -> Any:
        return gram(fitted, train), gram(fitted, test, train)

    if importlib.util.find_spec("tslearn") is None:
        print(f"tslearn is not installed; ours: {best_of(3, ours):.3f} s")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tslearn.metrics import cdist_gak

        def theirs() -> Any:
            return cdist_gak(train, sigma=sigma, n_jobs=THREADS), cdist_gak(test, train, sigma=sigma, n_jobs=THREADS)

        gap = max(float(np.abs(a - b).max()) for a, b in zip(theirs(), ours(), strict=True))
        other, own = take_turns(theirs, ours)
    print(f"global alignment (GunPoint-size) / tslearn: {other:.3f} s / {own:.3f} s = {other / own:.1f} (goal 5)")
    print(f"{'':<4}largest difference of values: {gap:.1e}")


def long_series() -> None:
    random = np.random.default_rng(0)
    series = random.normal(size=(8, 2000)).cumsum(axis=1)
    for sigma in ("median", 1.0):
        fitted = kernels.normalise(kernels.GlobalAlignment(sigma=sigma)).fit(series)
        seconds = best_of(1, lambda fitted=fitted: gram(fitted, series))
        finite = np.isfinite(gram(fitted, series)).all()
        print(f"8 series of 2,000 moments, sigma={sigma}: {seconds:.2f} s, all finite: {finite}")


def hidden_markov() -> None:
    """1,000 strings of 100 symbols under ten states."""
    random = np.random.default_rng(0)
    letters = np.asarray(list("ACGT"))
    strings = ["".join(row) for row in letters[random.integers(0, 4, size=(1000, 100))]]
    kernel = kernels.FixedLengthHMM(
        alphabet="ACGT",
        start=random.dirichlet(np.ones(10)),
        transitions=random.dirichlet(np.ones(10), size=10),
        emissions=random.dirichlet(np.ones(4), size=10),
    )
    fitted = kernels.normalise(kernel).fit(strings)
    gram(fitted, strings[:64])
    print(f"hidden Markov Gram, 1,000 x 1,000: {best_of(2, lambda: gram(fitted, strings)):.2f} s (goal 20)")


def markov() -> None:
    """Scores grow linearly with the total length."""
    random = np.random.default_rng(0)
    letters = np.asarray(list("ACGT"))
    sizes, seconds = (1_000, 4_000, 16_000), []
    for size in sizes:
        strings = ["".join(row) for row in letters[random.integers(0, 4, size=(size, 200))]]
        fitted = kernels.MarkovFisher(order=3, alphabet="ACGT").fit(strings)
        objects = fitted.coerce(strings)
        fitted.features(objects.take(slice(0, 10)))
        seconds.append(best_of(3, lambda fitted=fitted, objects=objects: fitted.features(objects)))
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    shown = ", ".join(f"{second:.3f}" for second in seconds)
    print(f"Markov scores of 1k, 4k, 16k strings of 200: {shown} s; exponent {slope:.2f} (linear is 1)")


def gram(fitted: Any, rows: Any, columns: Any = None) -> Any:
    executor = Threads(THREADS)
    if columns is None:
        return gram_of(fitted, rows, dtype=np.float64, executor=executor).dense()
    return gram_of(fitted, rows, columns, dtype=np.float64, executor=executor).dense()


if __name__ == "__main__":
    main()
