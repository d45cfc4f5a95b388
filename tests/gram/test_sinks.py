"""What becomes of tiles: a stored matrix, mirrored or not, and products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import kernels
from mercer.gram.executors import Serial, Threads
from mercer.gram.make import gram_of
from mercer.gram.sinks import ProductSink, StoreSink
from mercer.gram.tiles import plan

RANDOM = np.random.default_rng(0)
FULL = RANDOM.normal(size=(90, 90))
SYMMETRIC = FULL + FULL.T


def copied(matrix):
    def work(tile, out):
        out[...] = matrix[tile.rows, tile.columns]

    return work


@pytest.mark.parametrize("executor", [Serial(), Threads(3)], ids=str)
@given(st.integers(1, 90), st.integers(8, 8 * 8000))
def test_the_lower_triangle_is_the_mirror_of_the_upper(executor, n, budget):
    matrix = SYMMETRIC[:n, :n]
    out = np.full((n, n), np.nan)
    strips = plan(n, n, itemsize=8, budget=max(budget, 8 * n), symmetric=True)
    executor.map(copied(matrix), strips, StoreSink(out, mirror=True))
    assert np.array_equal(out, matrix)


@given(st.integers(1, 90), st.integers(1, 90), st.integers(8, 8 * 8000))
def test_a_rectangle(n, m, budget):
    out = np.full((n, m), np.nan)
    Serial().map(copied(FULL), plan(n, m, itemsize=8, budget=max(budget, 8 * n)), StoreSink(out, mirror=False))
    assert np.array_equal(out, FULL[:n, :m])


@given(st.integers(1, 90), st.integers(1, 90), st.integers(8, 8 * 8000))
def test_products(n, m, budget):
    vectors = FULL[:m, :3]
    out = np.zeros((n, 3))
    sink = ProductSink(out, vectors, np.float64)
    Serial().map(copied(FULL), plan(n, m, itemsize=8, budget=max(budget, 8 * n)), sink)
    np.testing.assert_allclose(out, FULL[:n, :m] @ vectors, atol=1e-11)


@pytest.mark.parametrize("zeros", ["few", "many", "in one place"])
def test_products_with_vectors_that_are_zero_in_places(zeros, monkeypatch):
    monkeypatch.setattr("mercer.gram.sinks._PIECE", 16)
    vectors = RANDOM.normal(size=(90, 6))
    if zeros == "many":  # as coefficients of pairs of classes: each column belongs to a few objects side by side
        for column in range(6):
            vectors[np.r_[: 15 * column, 15 * column + 15 : 90], column] = 0.0
    elif zeros == "in one place":
        vectors[:32] = 0.0
    out = np.zeros((90, 6))
    strips = plan(90, 90, itemsize=8, budget=8 * 40 * 90)
    Serial().map(copied(FULL), strips, ProductSink(out, vectors, np.float64))
    np.testing.assert_allclose(out, FULL @ vectors, atol=1e-11)


@pytest.mark.parametrize("n", [256, 257, 513, 1100])
def test_matrices_of_several_tiles(n):
    X = RANDOM.normal(size=(n, 4))
    got = gram_of(kernels.Linear().fit(X), X).dense()
    np.testing.assert_allclose(got, X @ X.T, atol=1e-12)
    assert np.array_equal(got, got.T)
