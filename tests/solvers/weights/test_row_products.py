"""Products with rows, against NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.solvers.weights import row_products


@pytest.mark.parametrize("n", [1, 15, 2047, 2048, 5003])
def test_shuffled_rows_are_all_there(n):
    found = row_products.shuffled(np.arange(n) + 7, np.random.default_rng(0))
    assert np.array_equal(np.sort(found), np.arange(n) + 7)
    assert n == 1 or not np.array_equal(found, np.arange(n) + 7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_products_with_rows_are_those_of_numpy_whatever_the_threads(dtype, sparse, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(17_000, 5)) * (rng.random((17_000, 5)) < 0.5)).astype(dtype)
    matrix, w, r = sp.csr_array(X) if sparse else X, rng.normal(size=5), rng.normal(size=17_000)
    r[::3] = 0.0
    exact = X.astype(float)
    several = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        view = row_products.rows_of(matrix)
        assert len(view.blocks) > 1
        normal = np.zeros((5, 5))
        for block in view.blocks:
            view.add_normal(block, r[block], normal)
        several.append([view.all_outputs(w), view.combination(r), view.squares(r), np.tril(normal)])
    expected = [exact @ w, r @ exact, r @ exact**2, np.tril(exact.T @ (r[:, None] * exact))]
    for one, three, numpys in zip(*several, expected, strict=True):
        assert np.array_equal(one, three)
        assert np.allclose(one, numpys, rtol=1e-9, atol=1e-9)
