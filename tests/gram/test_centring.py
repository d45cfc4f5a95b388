"""The matrix around the mean of its objects."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.centring import Centred
from mercer.gram.make import gram_of

X = np.random.default_rng(0).normal(size=(23, 3))
NEW = np.random.default_rng(1).normal(size=(5, 3))
FITTED = kernels.RBF(gamma=0.5).fit(X)
K = FITTED(X)
H = np.eye(23) - 1 / 23


@pytest.fixture
def centred():
    return Centred.of(gram_of(FITTED, X))


def test_products_trace_and_entries(centred):
    HKH = H @ K @ H
    block = np.random.default_rng(2).normal(size=(23, 4))
    np.testing.assert_allclose(centred.dense(), HKH, atol=1e-12)
    np.testing.assert_allclose(centred.product(block), HKH @ block, atol=1e-12)
    assert centred.trace == pytest.approx(np.trace(HKH))


def test_expansions_see_new_objects_around_the_mean_of_the_old(centred):
    a = np.random.default_rng(3).normal(size=(23, 2))
    wanted = (FITTED(NEW, X) - K.mean(axis=0)) @ H @ a
    np.testing.assert_allclose(centred.expansion(FITTED, FITTED.kernel.coerce(X), a)(NEW), wanted, atol=1e-12)
