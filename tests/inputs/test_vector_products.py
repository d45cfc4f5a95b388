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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("right", FORMS)
def test_dot_products_of_rows_with_few_entries(dtype, right):
    rng = np.random.default_rng(2)
    rows = (rng.normal(size=(30, 60)) * (rng.random((30, 60)) < np.linspace(0.0, 0.2, 30)[:, None])).astype(dtype)
    out = np.empty((30, 30), dtype=dtype)
    vectors.dot_products(sp.csr_array(rows), right(rows), out)
    np.testing.assert_allclose(out, rows @ rows.T, rtol=1e-5, atol=20 * np.finfo(dtype).eps)
    assert (out == out.T).all()
    counted = np.empty((30, 30), dtype=dtype)
    vectors.dot_products(sp.csr_array(rows != 0).astype(np.int64), right((rows != 0).astype(dtype)), counted)
    assert (counted == (rows != 0).astype(int) @ (rows != 0).T.astype(int)).all()


@pytest.mark.parametrize("form", FORMS)
def test_squared_lengths_are_added_up_in_float64(form):
    rows = np.full((2, 100_000), 0.1, dtype=np.float32)  # added up in float32, the fourth digit would be wrong
    lengths = vectors.squared_lengths(form(rows))
    assert lengths.dtype == np.float64
    np.testing.assert_allclose(lengths, 1e5 * np.float64(rows[0, 0]) ** 2, rtol=1e-7)
