"""Symmetric matrices that are nearly singular."""

import numpy as np

from mercer.solvers.numerics.symmetric import pseudo_inverse, significant_eigen


def test_directions_of_rounding_are_left_out():
    rows = np.random.default_rng(0).normal(size=(9, 3))
    values, vectors = significant_eigen(rows @ rows.T)
    assert len(values) == 3
    np.testing.assert_allclose((vectors * values) @ vectors.T, rows @ rows.T, atol=1e-12)
    np.testing.assert_allclose(pseudo_inverse(rows @ rows.T), np.linalg.pinv(rows @ rows.T, rcond=1e-10), atol=1e-10)


def test_a_matrix_of_zeros_has_none():
    assert len(significant_eigen(np.zeros((4, 4)))[0]) == 0
    assert not pseudo_inverse(np.zeros((4, 4))).any()
