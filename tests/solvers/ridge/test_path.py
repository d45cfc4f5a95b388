"""Residuals of objects left out, by features: those of machines trained anew, by plain normal equations."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.solvers.ridge.direct import RidgePath
from mercer.solvers.ridge.path import PrimalRidgePath

FOLDS = [np.arange(0, 2), np.arange(2, 15), np.array([20, 15, 17]), np.r_[16, 18, 19, 21:40]]


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.7) + [0.0, 2.0, 0.0, 0.0, 0.0]
    X[:, 4] = X[:, 0] - X[:, 1]  # nothing new: the normal matrix is singular
    return X, rng.normal(size=(40, 2)) + X[:, :2], rng.uniform(0.2, 2, 40)


def anew(X, y, weights, alpha, intercept, test):
    """From the definition: minimise over weights and constant, on all but the objects to test."""
    train = np.setdiff1d(np.arange(len(X)), test)
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
    penalty = np.full(Z.shape[1], alpha)
    if intercept:
        penalty[-1] = 0.0
    normal = Z[train].T @ (weights[train, None] * Z[train]) + np.diag(penalty)
    found = np.linalg.solve(normal, Z[train].T @ (weights[train, None] * y[train]))
    return y[test] - Z[test] @ found


@pytest.mark.parametrize("alpha", [1e-6, 0.3, 1e3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "CSR"])
def test_left_out_residuals_equal_training_anew(sparse, intercept, alpha):
    X, y, weights = data()
    path = PrimalRidgePath.of(sp.csr_array(X) if sparse else X, y, weights, intercept=intercept)
    alone = np.vstack([anew(X, y, weights, alpha, intercept, [i]) for i in range(40)])
    np.testing.assert_allclose(path.leave_one_out(alpha), alone, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(path.fold_residuals(alpha, [[i] for i in range(40)]), alone, rtol=1e-7, atol=1e-8)
    together = np.empty_like(y)
    for fold in FOLDS:
        together[fold] = anew(X, y, weights, alpha, intercept, fold)
    for _ in range(2):  # the second time from what the first one kept
        np.testing.assert_allclose(path.fold_residuals(alpha, FOLDS), together, rtol=1e-7, atol=1e-8)
    on_matrix = RidgePath.of(X @ X.T, y, weights, intercept=intercept)
    np.testing.assert_allclose(path.leave_one_out(alpha), on_matrix.leave_one_out(alpha), rtol=1e-6, atol=1e-6)


def test_features_without_any_value_leave_the_mean():
    y, weights = np.arange(6.0)[:, None], np.ones(6)
    path = PrimalRidgePath.of(np.zeros((6, 3)), y, weights, intercept=True)
    expected = [y[i, 0] - np.delete(y, i).mean() for i in range(6)]
    np.testing.assert_allclose(path.leave_one_out(1.0)[:, 0], expected)
    plain = PrimalRidgePath.of(np.zeros((6, 3)), y, weights, intercept=False)
    np.testing.assert_allclose(plain.leave_one_out(1.0), y)
