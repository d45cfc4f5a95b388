"""What the kernel trick saves: the times of the kernel and of the explicit map, by degree."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from mercer import _check
from mercer.errors import InputError
from mercer.kernels.vectors.polynomial import Polynomial
from mercer.plots import style

_MOST_MONOMIALS = 200_000
"""With more monomials the explicit features of 100 objects take over 160 MB, and a measurement takes longer than a few
seconds."""


class KernelTrickDisplay:
    """Seconds for a Gram matrix of the polynomial kernel, by the kernel and by writing all monomials out.

    >>> from mercer.plots import KernelTrickDisplay
    >>> display = KernelTrickDisplay([1, 2], [3, 6], [1e-4, 1e-4], [1e-4, 2e-4], n=50, n_features=2).plot()
    >>> display.ax_.get_xlabel()
    'degree'
    """

    def __init__(
        self, degrees: Any, dimensions: Any, kernel_seconds: Any, explicit_seconds: Any, *, n: int, n_features: int
    ) -> None:
        self.degrees = np.asarray(degrees)
        self.dimensions = np.asarray(dimensions)
        self.kernel_seconds = np.asarray(kernel_seconds, dtype=np.float64)
        self.explicit_seconds = np.asarray(explicit_seconds, dtype=np.float64)
        self.n, self.n_features = n, n_features
        self.kernel_: Any = None
        self.explicit_: Any = None

    @classmethod
    def from_measurement(
        cls,
        *,
        n_features: int = 10,
        degrees: Any = (1, 2, 3, 4, 5),
        n: int = 100,
        repeats: int = 3,
        random_state: int = 0,
        ax: Any = None,
    ) -> Self:
        """Measure both on random vectors, best of `repeats`; both give the same matrix, which is checked."""
        owner = cls.__name__
        n_features = _check.integer(owner, "n_features", n_features, low=1)
        n = _check.integer(owner, "n", n, low=2, high=5000)
        repeats = _check.integer(owner, "repeats", repeats, low=1)
        degrees = [_check.integer(owner, "degrees", int(degree), low=1) for degree in degrees]
        dimensions = [math.comb(n_features + degree, degree) for degree in degrees]
        if max(dimensions) > _MOST_MONOMIALS:
            raise InputError(
                f"Degree {max(degrees)} on {n_features} features has {max(dimensions):,} monomials; at most "
                f"{_MOST_MONOMIALS:,} are written out. Lower the degree or the number of features."
            )
        X = np.random.default_rng(random_state).normal(size=(n, n_features)) / math.sqrt(n_features)
        quick, slow = [], []
        for degree in degrees:
            kernel = Polynomial(degree=degree)
            fitted = kernel.fit(X)
            fitted(X)  # compiled before the clock starts
            seconds, K = _best(partial(fitted, X), repeats)
            quick.append(seconds)

            def explicit(kernel: Polynomial = kernel) -> Any:
                features = kernel.feature_matrix(X).matrix
                return features @ features.T

            seconds, other = _best(explicit, repeats)
            slow.append(seconds)
            assert np.allclose(K, other)
        return cls(degrees, dimensions, quick, slow, n=n, n_features=n_features).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `kernel_` and `explicit_` are the lines."""
        ax = style.axes(ax)
        for name, seconds, number, dash, label in (
            ("explicit_", self.explicit_seconds, 1, "--", "explicit map φ, then dot products"),
            ("kernel_", self.kernel_seconds, 0, "-", "kernel (x·z + 1)^d"),
        ):
            look = {"color": style.colour(number), "marker": style.marker(number), "linestyle": dash}
            setattr(self, name, ax.plot(self.degrees, seconds, label=label, **look)[0])
        ax.set_yscale("log")
        for degree, seconds, dimension in zip(self.degrees, self.explicit_seconds, self.dimensions, strict=True):
            ax.annotate(f"{dimension:,} features", (degree, seconds), xytext=(-7, 5), textcoords="offset points",
                        ha="right", fontsize="small")  # fmt: skip
        ax.margins(x=0.22, y=0.2)
        ax.set_xticks(self.degrees)
        ax.set_xlabel("degree")
        ax.set_ylabel("seconds for the Gram matrix")
        ax.set_title(f"The kernel trick: {self.n} objects, {self.n_features} inputs")
        ax.legend(fontsize="small", loc="upper left")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _best(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    fastest, found = math.inf, None
    for _ in range(repeats):
        began = time.perf_counter()
        found = work()
        fastest = min(fastest, time.perf_counter() - began)
    return fastest, found
