"""The factor that randomly pivoted Cholesky builds; more in tests/gram/test_lowrank.py."""

import numpy as np

from mercer.kernels.features.pivoting import pivoted


def test_a_matrix_of_small_rank_is_found_from_as_many_rows():
    thin = np.random.default_rng(0).normal(size=(40, 4))
    K, asked = thin @ thin.T, []

    def entries(rows, columns):
        asked.append((len(rows), columns is None))
        return K[rows] if columns is None else K[np.ix_(rows, columns)]

    found = pivoted(entries, K.diagonal(), 20, np.random.default_rng(1))
    assert found.rows.shape == (4, 40)
    np.testing.assert_allclose(found.rows.T @ found.rows, K, atol=1e-9)
    assert sum(rows for rows, whole in asked if whole) == 4
    assert found.residual < 1e-12
