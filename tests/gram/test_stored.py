"""Matrices whose entries lie in memory."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.contract import Setting
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.gram.stored import PairRows, StoredGram, lazy_rows

X = np.random.default_rng(0).normal(size=(37, 3))
FITTED = kernels.RBF(gamma=0.5).fit(X)


def test_storing_computes_once():
    tiled = gram_of(FITTED, X, executor=Threads(1))
    whole = tiled.stored()
    computed = whole.entries_computed
    assert computed > 0
    assert tiled.stored() is whole
    assert whole.stored() is whole
    whole.dense()
    whole.view(np.arange(9)).dense()
    whole.matvec(np.ones(37))
    whole.rows([1, 2])
    assert whole.entries_computed == computed


def test_folds_of_a_cross_validation_are_views_of_one_matrix():
    K = FITTED(X)
    whole = gram_of(FITTED, X).stored()
    computed = whole.entries_computed
    for part in range(3):
        train, test = np.flatnonzero(np.arange(37) % 3 != part), np.flatnonzero(np.arange(37) % 3 == part)
        np.testing.assert_allclose(whole.view(train).dense(), K[np.ix_(train, train)], atol=1e-12)
        np.testing.assert_allclose(whole.view(test, train).dense(), K[np.ix_(test, train)], atol=1e-12)
        assert whole.view(train).symmetric
        assert not whole.view(test, train).symmetric
    assert whole.entries_computed == computed


@pytest.mark.parametrize("ids", [None, np.array([5, 1, 1])], ids=["all", "some"])
def test_only_all_entries_lie_side_by_side(ids):
    whole = gram_of(FITTED, X).stored()
    part = whole if ids is None else whole.view(ids)
    assert part.in_memory == (ids is None)
    assert np.shares_memory(part.dense(), whole.dense()) == (ids is None)
    assert np.array_equal(lazy_rows(part).whole(), part.dense())


def test_rows_of_a_pair_are_put_together_when_they_are_needed():
    K = gram_of(FITTED, X).dense()
    blocks = PairRows(K[:20, :20], K[20:, 20:], K[:20, 20:])
    pair = StoredGram(blocks, Setting(np.float64, Threads(1)), K.diagonal())
    assert lazy_rows(pair) is blocks
    assert np.array_equal(pair.rows([3, 30], [1, 25]), K[np.ix_([3, 30], [1, 25])])
    assert np.flatnonzero(blocks.there).tolist() == [3, 30]
    assert np.array_equal(pair.view([8, 30]).dense(), K[np.ix_([8, 30], [8, 30])])
    assert np.flatnonzero(blocks.there).tolist() == [3, 8, 30]
    assert np.array_equal(pair.dense(), K)
