"""Products with folded rows are those with the rows themselves."""

import numpy as np

from mercer.gram.folding import Fold

RNG = np.random.default_rng(0)


def test_products():
    triangle = np.tril(RNG.normal(size=(5, 5))) + 4 * np.eye(5)
    made_of = RNG.normal(size=(30, 5))
    rows = np.linalg.solve(triangle, made_of.T).T
    fold, w, b, r = (
        Fold(np.asfortranarray(triangle)),
        RNG.normal(size=5),
        RNG.normal(size=(30, 2)),
        RNG.uniform(size=30),
    )
    np.testing.assert_allclose(made_of @ fold.weights(w), rows @ w)
    np.testing.assert_allclose(fold.combination(made_of.T @ b), rows.T @ b)
    lower = np.tril(made_of.T @ (r[:, None] * made_of))
    np.testing.assert_allclose(fold.normal(lower), rows.T @ (r[:, None] * rows))
    np.testing.assert_allclose(fold.rows(made_of.copy()), rows)
    single = fold.rows(made_of.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, rows, atol=1e-5)
