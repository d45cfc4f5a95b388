"""Compiled softmax and log-sums against NumPy's."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.special import softmax as expected

from mercer.losses.softmax import log_sum_exp_above, softmax


@pytest.mark.parametrize("classes", [2, 3, 26])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 50.0, 1e4])
def test_rows_are_those_of_scipy(classes, scale):
    f = scale * np.random.default_rng(classes).normal(size=(40, classes))
    codes = np.arange(40) % classes
    np.testing.assert_allclose(softmax(f), expected(f, axis=1), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(softmax(f).sum(axis=1), 1.0, rtol=1e-15)
    wanted = logsumexp(f, axis=1) - f[np.arange(40), codes]
    np.testing.assert_allclose(log_sum_exp_above(f, codes), wanted, rtol=1e-12, atol=1e-14 * scale)


def test_other_orders_of_memory_are_taken():
    f = np.asfortranarray(np.random.default_rng(0).normal(size=(7, 4)))
    np.testing.assert_allclose(softmax(f), expected(f, axis=1), rtol=1e-13)
    np.testing.assert_allclose(softmax(f.astype(np.float32)), expected(f, axis=1), rtol=1e-6)
