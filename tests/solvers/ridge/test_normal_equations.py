"""Ridge regression on the weights of features, where rounding is felt, against least squares on an extended matrix."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import KernelWarning
from mercer.solvers.drive import Limits, Stopped
from mercer.solvers.ridge import normal_equations


def data(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=n), rng.uniform(0.5, 2.0, n)


def outputs(X, y, alpha, weights):
    """Of the least squares solution, with an intercept that is not penalised."""
    mean, middle = weights @ X / weights.sum(), weights @ y / weights.sum()
    root = np.sqrt(weights)
    extended = np.vstack([root[:, None] * (X - mean), np.sqrt(alpha) * np.eye(X.shape[1])])
    v = np.linalg.lstsq(extended, np.concatenate([root * (y - middle), np.zeros(X.shape[1])]), rcond=None)[0]
    return (X - mean) @ v + middle


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_a_large_mean_is_taken_out_without_loss(form, shift):
    X, y, weights = data()
    found = normal_equations.solve(form(X + shift), y[:, None], np.array([1.0]), weights, intercept=True)
    b = found.coefficients[:, 0]
    values = (X + shift) @ ((X + shift).T @ b) + found.intercept
    np.testing.assert_allclose(values, outputs(X, y, 1.0, weights), atol=1e-10 + 3e-14 * shift**2)
    np.testing.assert_allclose(b, weights * (y - outputs(X, y, 1.0, weights)), atol=1e-10 + 3e-14 * shift**2)


def test_what_rounding_left_of_a_badly_conditioned_system_is_solved_too():
    X, y, weights = data()
    X = X + 1e5
    b = normal_equations.solve(X, y[:, None], np.array([1.0]), weights, intercept=False).coefficients[:, 0]
    residual = y - X @ (X.T @ b)
    np.testing.assert_allclose(b, weights * residual, atol=0.01)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_an_alpha_that_is_lost_beside_the_features_is_told(form):
    X, y, weights = data()
    rows = form(1e30 * X)
    both = np.column_stack([y, y])
    with pytest.warns(KernelWarning, match="cannot be inverted"):
        found = normal_equations.solve(rows, both, np.array([1.0, 1e60]), weights, intercept=True)
    values = rows @ (rows.T @ found.coefficients) + found.intercept
    np.testing.assert_allclose(values[:, 0], outputs(X, y, 0.0, weights), atol=1e-9)
    np.testing.assert_allclose(values[:, 1], outputs(X, y, 1.0, weights), atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_conjugate_gradients_find_what_a_factorisation_finds(form, monkeypatch):
    X, y, weights = data()
    both, alpha = np.column_stack([y, X[:, 0] ** 2]), np.array([0.1, 3.0])
    exact = normal_equations.solve(form(X), both, alpha, weights, intercept=True)
    monkeypatch.setattr(normal_equations, "MOST_FEATURES", 2)
    found = normal_equations.solve(form(X), both, alpha, weights, intercept=True)
    np.testing.assert_allclose(found.coefficients, exact.coefficients, atol=1e-7)
    np.testing.assert_allclose(found.intercept, exact.intercept, atol=1e-7)


@pytest.mark.parametrize("most", [2, 2000])
def test_limits_stop_it(most, monkeypatch):
    monkeypatch.setattr(normal_equations, "MOST_FEATURES", most)
    X, y, weights = data()
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        normal_equations.solve(X, y[:, None], np.ones(1), weights, intercept=True, limits=Limits(stop=stop))


def test_out_of_time_ends_conjugate_gradients_early(monkeypatch):
    monkeypatch.setattr(normal_equations, "MOST_FEATURES", 2)
    X, y, weights = data()
    with pytest.warns(KernelWarning, match="certificate says by how much"):
        found = normal_equations.solve(
            X, y[:, None], np.ones(1), weights, intercept=False, limits=Limits(time_limit=-1.0)
        )
    assert np.isfinite(found.coefficients).all()
