"""Which pairs of classes are trained side by side, how their values become votes, and when they are certified."""

import pickle

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.gram.make import gram_of
from mercer.training.pairs import (
    dual_coefficients,
    from_dual_coefficients,
    worth_threads,
)
from mercer.training.voting import one_vs_rest_shape, pairs, votes


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
        found.append(SVC(max_iter=100_000).fit(X, y).dual_coef_)  # limits are watched machine by machine
    assert np.array_equal(*found)


def test_votes_and_shares_are_those_of_a_loop():
    random = np.random.default_rng(0)
    decisions = random.normal(size=(30, 10)).round(1)  # some are zero
    wins, shares = np.zeros((30, 5)), np.zeros((30, 5))
    confidence = np.zeros((30, 5))
    for column, (a, b) in enumerate(pairs(5)):
        for i, value in enumerate(decisions[:, column]):
            wins[i, a if value > 0 else b] += 1
            shares[i, a if value >= 0 else b] += 1
            confidence[i, a] += value
            confidence[i, b] -= value
    assert np.array_equal(votes(decisions, 5), wins.argmax(axis=1))
    expected = shares + confidence / (3 * (np.abs(confidence) + 1))
    np.testing.assert_allclose(one_vs_rest_shape(decisions, 5), expected, atol=1e-12)


def test_the_layout_of_libsvm_and_back():
    random = np.random.default_rng(0)
    codes = np.array([0, 0, 1, 2, 2, 3])
    layout = random.normal(size=(3, 6))
    full = from_dual_coefficients(layout, codes, 4)
    for place, own in enumerate(codes):
        for column, (a, b) in enumerate(pairs(4)):
            other = b if own == a else a
            row = other if other < own else other - 1
            assert full[place, column] == (layout[row, place] if own in (a, b) else 0.0)
    assert np.array_equal(dual_coefficients(full, codes, 4), layout)


def test_certificates_are_made_when_they_are_asked_for_and_pickles_hold_them():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), np.repeat([0, 1, 2], 20)
    model = SVC().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.certificate_ == model.certificate_
    assert model.certificate_.primal == pytest.approx(model.verify(X, y).primal, rel=1e-9)
    assert model.certificate_ is model.certificate_
    with pytest.raises(AttributeError, match="not fitted"):
        _ = SVC().certificate_
