"""Low-rank factors from few rows of a matrix."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.lowrank import low_rank
from mercer.gram.make import gram_of

X = np.random.default_rng(0).normal(size=(150, 3))
FITTED = kernels.RBF(gamma=0.3).fit(X)
K = FITTED(X)


@pytest.mark.parametrize("rank", [5, 40, 100])
def test_what_is_left_is_positive_and_as_stated(rank):
    found = low_rank(gram_of(FITTED, X), rank)
    left = K - found.factor @ found.factor.T
    assert found.factor.shape == (150, rank)
    assert len(set(found.pivots.tolist())) == rank
    assert np.linalg.eigvalsh(left)[0] > -1e-9
    assert np.trace(left) / np.trace(K) == pytest.approx(found.residual, abs=1e-9)
    np.testing.assert_allclose(left[found.pivots], 0.0, atol=1e-7)


def test_it_is_near_the_best_of_its_rank():
    best = np.linalg.eigvalsh(K)[:-20].sum() / np.trace(K)
    assert low_rank(gram_of(FITTED, X), 20).residual < 4 * best


def test_no_more_columns_than_the_matrix_has():
    flat = np.random.default_rng(1).normal(size=(60, 2))
    assert low_rank(gram_of(kernels.Linear().fit(flat), flat), 30).factor.shape == (60, 2)
    zero = low_rank(gram_of(kernels.Linear().fit(0 * flat), 0 * flat), 30)
    assert zero.factor.shape == (60, 0)
    assert zero.residual == 0.0


def test_chance_is_fixed_by_the_seed():
    one, two = (low_rank(gram_of(FITTED, X), 10, random_state=seed).pivots for seed in (1, 2))
    assert np.array_equal(one, low_rank(gram_of(FITTED, X), 10, random_state=1).pivots)
    assert not np.array_equal(one, two)
