"""Corrections of the products in kernel k-means, which are made in parts."""

import numpy as np
import pytest

from mercer import _deadline, kernels
from mercer.errors import TimeLimitError
from mercer.gram.make import gram_of
from mercer.solvers import kmeans

X = np.random.default_rng(0).normal(size=(60, 2))
GRAM = gram_of(kernels.RBF(0.5).fit(X), X)
OLD = np.random.default_rng(1).integers(0, 3, size=60)
MOVED = np.array([1, 8, 17, 33, 58])
NEW = OLD.copy()
NEW[MOVED] = (OLD[MOVED] + 1) % 3


def corrected() -> np.ndarray:
    KZ = GRAM.matvec(kmeans._one_hot(OLD, 3))
    return kmeans._products(GRAM, KZ, OLD, NEW, MOVED, fresh=False)


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_a_correction_in_parts_is_the_product(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmeans, "_AT_ONCE", rows * len(X))
    np.testing.assert_allclose(corrected(), GRAM.exact() @ kmeans._one_hot(NEW, 3), rtol=1e-12)


def test_a_correction_ends_between_two_parts_when_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmeans, "_AT_ONCE", 2 * len(X))
    with _deadline.limited(-1.0), pytest.raises(TimeLimitError, match="40 % of the rows of 5 objects"):
        corrected()
