"""Learning without labels against scikit-learn, as ratios of time.

Run with ``python benchmarks/unsupervised.py`` (add ``memory`` for the peak of kernel PCA at n = 20,000).
The systems take turns, each is warmed up once at full size, and the best of three counts.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import SpectralClustering as TheirSpectral
from sklearn.datasets import make_blobs
from sklearn.decomposition import KernelPCA as TheirPCA
from timing import head, in_turns, line

# isort: split
from mercer import KernelPCA, SpectralClustering


def main() -> None:
    if "memory" in sys.argv[1:]:
        memory()
        return
    head()
    for gamma in (0.05, 0.5):
        pca(10_000, gamma)
    spectral(5_000)


def pca(n: int, gamma: float) -> None:
    """Ten components; scikit-learn's fastest solver is the one to beat."""
    X = np.random.default_rng(0).normal(size=(n, 10))
    found: dict[str, Any] = {}

    def theirs(solver: str) -> Callable[[], None]:
        def run() -> None:
            found[solver] = TheirPCA(10, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0).fit(X)

        return run

    def ours() -> None:
        found["ours"] = KernelPCA(10, kernel="rbf", gamma=gamma, random_state=0).fit(X)

    best = in_turns({"arpack": theirs("arpack"), "randomized": theirs("randomized"), "ours": ours})
    error = np.abs(found["ours"].eigenvalues_ / found["arpack"].eigenvalues_ - 1).max()
    fastest = min(("arpack", "randomized"), key=lambda name: best[name])
    line(f"KernelPCA(10), n = {n:,}, gamma {gamma} / {fastest} (differ by {error:.0e})", best[fastest], best["ours"], 3)


def spectral(n: int) -> None:
    X, _ = make_blobs(n, 10, centers=5, random_state=0)
    best = in_turns(
        {
            "theirs": lambda: TheirSpectral(5, gamma=0.02, random_state=0).fit(X),
            "ours": lambda: SpectralClustering(5, gamma=0.02, random_state=0).fit(X),
        }
    )
    line(f"SpectralClustering(5), n = {n:,}", best["theirs"], best["ours"], 1)


def memory() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 10))
    model = KernelPCA(10, kernel="rbf", gamma=0.05, random_state=0).fit(X)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"KernelPCA(10), n = 20,000: peak {peak:.2f} GiB, largest eigenvalue {model.eigenvalues_[0]:.1f}")


if __name__ == "__main__":
    main()
