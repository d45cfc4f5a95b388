"""A factor of a Gram matrix."""

import numpy as np

from mercer.solvers.smooth.factored import factor_of
from mercer.testing.solvers import stored_gram


def test_as_many_columns_as_the_matrix_has_rank():
    rows = np.random.default_rng(0).normal(size=(20, 4)) * [1.0, 10.0, 0.1, 3.0]
    factor = factor_of(stored_gram(rows @ rows.T))
    assert factor.shape == (20, 4)
    np.testing.assert_allclose(factor @ factor.T, rows @ rows.T, atol=1e-12)


def test_a_matrix_of_zeros_has_a_factor():
    assert not factor_of(stored_gram(np.zeros((3, 3)))).any()
