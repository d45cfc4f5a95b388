"""Data, kernels and the comparison with an exhaustive search that tests of `KernelSearchCV` share."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import (
    GridSearchCV,
)

from mercer import (
    KernelSearchCV,
)
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel

X, Y = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
TWO = Y > 0
A, B = make_regression(90, 4, noise=5.0, random_state=0)
B = B / B.std()
STRINGS = ["".join(np.random.default_rng(i).choice(list("acgt"), 12 + i % 5)) + "ga" * (i % 2) * 3 for i in range(40)]
LABELS = np.arange(40) % 2


def both(estimator: Any, grid: Any, objects: Any, targets: Any, *, atol: float = 1e-12, **options: Any) -> Any:
    """Search twice, compare all scores, and return ours.

    Machines that begin elsewhere agree to within `tol`, which is therefore small.
    """
    if "tol" in estimator.get_params():
        estimator.set_params(tol=1e-8)
    params = options.pop("fit_params", {})
    wanted = GridSearchCV(estimator, grid, **options).fit(objects, targets, **params)
    search = KernelSearchCV(estimator, grid, **options).fit(objects, targets, **params)
    assert search.cv_results_.keys() == wanted.cv_results_.keys()
    assert search.cv_results_["params"] == wanted.cv_results_["params"]
    for name, values in wanted.cv_results_.items():
        if "test_" in name or "train_" in name:
            np.testing.assert_allclose(search.cv_results_[name], values, rtol=0, atol=atol, err_msg=name)
    assert search.best_params_ == wanted.best_params_
    assert search.n_splits_ == wanted.n_splits_
    assert search.complete_
    return search


def counted_products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many dot products distances were computed from, so far."""
    from mercer.kernels.vectors import distances

    seen = [0]
    original = distances.dot_products

    def counting(left: Any, right: Any, out: Any) -> None:
        seen[0] += out.size
        original(left, right, out)

    monkeypatch.setattr(distances, "dot_products", counting)
    return seen


def uppercase(words: list[str]) -> list[str]:
    return [word.upper() for word in words]


class Noted(TransformerMixin, BaseEstimator):
    """Multiplies, and counts how often it is fitted."""

    fits: ClassVar[int] = 0

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any = None) -> Self:
        Noted.fits += 1
        return self

    def transform(self, X: Any) -> Any:
        return self.factor * X


@dataclass(frozen=True)
class Counted(Kernel):
    """The dot product, counting."""

    domain = Vectors
    values: ClassVar[int] = 0

    def features(self, objects: Any, state: Any, dtype: Any) -> Any:
        return objects

    def tile(self, left: Any, right: Any, state: Any, out: Any) -> None:
        Counted.values += out.size
        out[...] = left.values @ right.values.T

    def diagonal(self, features: Any, state: Any) -> Any:
        return (features.values**2).sum(axis=1)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()


@dataclass(frozen=True)
class Slow(Kernel):
    """The dot product, and a nap."""

    domain = Vectors

    def features(self, objects: Any, state: Any, dtype: Any) -> Any:
        return objects

    def tile(self, left: Any, right: Any, state: Any, out: Any) -> None:
        time.sleep(1.2)
        out[...] = left.values @ right.values.T

    def diagonal(self, features: Any, state: Any) -> Any:
        return (features.values**2).sum(axis=1)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
