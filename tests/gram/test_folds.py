"""Folds of a cross-validation."""

import numpy as np

from mercer import kernels
from mercer.gram.folds import folds
from mercer.gram.make import gram_of

X = np.random.default_rng(0).normal(size=(37, 3))
FITTED = kernels.RBF(gamma=0.5).fit(X)
K = FITTED(X)


def test_folds_are_views_of_one_matrix():
    whole = gram_of(FITTED, X).stored()
    computed = whole.entries_computed
    splits = [(np.arange(37) % 3 != part, np.arange(37) % 3 == part) for part in range(3)]
    splits = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in splits]
    for fold, (train, test) in zip(folds(whole, splits), splits, strict=True):
        np.testing.assert_allclose(fold.gram.dense(), K[np.ix_(train, train)], atol=1e-12)
        np.testing.assert_allclose(fold.validation.dense(), K[np.ix_(test, train)], atol=1e-12)
        assert fold.gram.symmetric
        assert not fold.validation.symmetric
    assert whole.entries_computed == computed
