"""Matrices made of rows: entries are dot products, products go through the rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.gram.make import gram_of_rows
from mercer.inputs import vectors as inputs

X = np.random.default_rng(0).normal(size=(37, 6))
X[X < 0.5] = 0.0
K = X @ X.T


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("widest", [2, 4096], ids=["as it is", "expanded"])
def test_entries_and_products(form, widest, monkeypatch):
    monkeypatch.setattr(inputs, "EXPANDED_COLUMNS", widest)
    gram = gram_of_rows(form(X))
    np.testing.assert_allclose(gram.dense(), K, atol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), K.diagonal(), atol=1e-12)
    part = gram.view([3, 8, 3], [1, 3])
    vectors = np.arange(4.0).reshape(2, 2)
    np.testing.assert_allclose(part.matvec(vectors), K[np.ix_([3, 8, 3], [1, 3])] @ vectors, atol=1e-12)


def test_a_product_computes_no_entry(monkeypatch):
    gram = gram_of_rows(X)
    gram.matvec(np.ones(37))
    assert gram.entries_computed == 0


def test_the_factor_is_that_of_the_view():
    gram = gram_of_rows(X)
    assert gram.factor is X
    assert np.array_equal(gram.view([4, 2]).factor, X[[4, 2]])


def test_it_is_never_worth_storing():
    gram = gram_of_rows(X)
    assert not gram.fits()
    assert gram.stored_if_it_fits() is gram
    np.testing.assert_allclose(gram.stored().rows([1]), K[[1]], atol=1e-12)
