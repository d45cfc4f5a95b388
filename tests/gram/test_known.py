"""Matrices that a search and its final fit share."""

import numpy as np
import pytest

from mercer import SVC, KernelRidgeCV, KernelSearchCV, kernels
from mercer.gram import known
from mercer.gram.make import gram_of

RANDOM = np.random.default_rng(0)
ITEMS = [frozenset(RANDOM.integers(0, 12, 5).tolist()) for _ in range(40)]
Y = np.array([int(0 in item or 1 in item) for item in ITEMS])
CALLS: list[tuple] = []


def shared(a, b):
    CALLS.append((id(a), id(b)))
    return float(len(a & b))


KERNEL = kernels.FromFunction(shared, "items", symmetric=True, psd=True)
PAIRS = 40 * 41 // 2


@pytest.fixture(autouse=True)
def _count():
    CALLS.clear()


def test_a_search_and_its_final_fit_compare_each_pair_once():
    search = KernelSearchCV(SVC(kernel=KERNEL), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(ITEMS, Y)
    assert len(CALLS) == PAIRS
    assert len({tuple(sorted(pair)) for pair in CALLS}) == PAIRS
    plain = SVC(kernel=KERNEL, C=search.best_params_["C"]).fit(ITEMS, Y)
    np.testing.assert_array_equal(search.decision_function(ITEMS), plain.decision_function(ITEMS))


def test_each_kernel_of_a_grid():
    def product(a, b):
        return shared(a, b) ** 2

    second = kernels.FromFunction(product, "items", symmetric=True, psd=True)
    KernelSearchCV(SVC(), {"kernel": [KERNEL, second]}, cv=3).fit(ITEMS, Y)
    assert len(CALLS) == 2 * PAIRS


def test_ridge_paths():
    KernelRidgeCV(kernel=KERNEL).fit(ITEMS, Y.astype(float))
    assert len(CALLS) == PAIRS


def noted(kernel, objects):
    fitted = kernel.fit(objects)
    batch = fitted.kernel.coerce(objects)
    gram = gram_of(fitted, batch).stored()
    known.note(fitted, batch, gram)
    return fitted, gram


def test_only_the_same_kernel_on_the_same_objects():
    with known.sharing():
        fitted, gram = noted(KERNEL, ITEMS)
        assert gram_of(fitted, list(ITEMS)) is gram
        assert gram_of(fitted, ITEMS, dtype=np.float32) is not gram
        assert gram_of(fitted, ITEMS[::-1]) is not gram
        assert gram_of(fitted, [frozenset(set(item)) for item in ITEMS]) is not gram
        assert gram_of(fitted, ITEMS, ITEMS) is not gram
        other = kernels.FromFunction(shared, "items", symmetric=True)
        assert gram_of(other.fit(ITEMS), ITEMS) is not gram
    assert gram_of(fitted, ITEMS) is not gram


def test_states_and_arrays_are_compared():
    words = ["gattaca", "gattica", "ccgcg", "cgcgc"] * 4
    with known.sharing():
        fitted, gram = noted(kernels.LocalAlignment(), words)
        assert gram_of(fitted, list(words)) is gram
        assert gram_of(fitted, words[1:] + words[:1]) is not gram


def test_cheap_and_large_matrices_are_not_kept():
    rows = RANDOM.normal(size=(10, 2))
    with known.sharing():
        fitted, gram = noted(kernels.RBF(), rows)
        assert known.find(fitted, fitted.kernel.coerce(rows), None) is None
        del gram
        fitted = KERNEL.fit(ITEMS)
        for _ in range(3):
            stored = gram_of(fitted, ITEMS, memory=0.03).stored()
            known.note(fitted, fitted.kernel.coerce(ITEMS), stored)
        assert sum(one.gram.bytes for one in known.KNOWN.get()) <= stored.budget // 2
