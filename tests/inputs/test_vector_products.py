"""Dot products and lengths of rows, dense and CSR."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.inputs import vectors

X = np.random.default_rng(0).integers(-2, 3, size=(9, 7)).astype(np.float64)
Z = np.random.default_rng(1).integers(-2, 3, size=(4, 7)).astype(np.float64)
FORMS = [np.asarray, sp.csr_array]


@pytest.mark.parametrize("left", FORMS)
@pytest.mark.parametrize("right", FORMS)
@pytest.mark.parametrize("widest", [3, 4096])
def test_dot_products(left, right, widest, monkeypatch):
    monkeypatch.setattr(vectors, "EXPANDED_COLUMNS", widest)
    out = np.empty((9, 4))
    vectors.dot_products(left(X), right(Z), out)
    assert np.array_equal(out, X @ Z.T)


@pytest.mark.parametrize("form", FORMS)
def test_squared_lengths_are_added_up_in_float64(form):
    rows = np.full((2, 100_000), 0.1, dtype=np.float32)  # added up in float32, the fourth digit would be wrong
    lengths = vectors.squared_lengths(form(rows))
    assert lengths.dtype == np.float64
    np.testing.assert_allclose(lengths, 1e5 * np.float64(rows[0, 0]) ** 2, rtol=1e-7)
