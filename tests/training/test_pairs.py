"""Which pairs of classes are trained side by side."""

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.gram.make import gram_of
from mercer.training.pairs import worth_threads


@pytest.mark.parametrize(("columns", "objects", "worth"), [(20, 100, False), (20, 1200, True), (5000, 400, True)])
def test_the_cost_of_a_pair_decides(columns, objects, worth):
    X = np.random.default_rng(0).normal(size=(300, columns))
    gram = gram_of(kernels.RBF(gamma=1.0).fit(X), X)
    assert not gram.in_memory
    assert worth_threads(gram, objects) == worth


def test_expensive_entries_are_worth_threads_until_they_are_stored():
    words = ["abcd", "abd", "bcda"]
    gram = gram_of(kernels.GapWeighted(p=2).fit(words), words)
    assert worth_threads(gram, 3)
    assert not worth_threads(gram.stored(), 3)


def test_machines_are_the_same_side_by_side(monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(90, 3)), np.repeat([0, 1, 2], 30)
    found = []
    for answer in (False, True):
        monkeypatch.setattr("mercer.training.pairs.worth_threads", lambda *_, answer=answer: answer)
        found.append(SVC().fit(X, y).dual_coef_)
    assert np.array_equal(*found)
