"""The reduction to a band, and what ridge regression makes of it."""

import numpy as np
import pytest
import scipy.linalg

from mercer.gram import executors
from mercer.solvers.ridge import direct
from mercer.solvers.ridge.band import BandForm

SIZES = [(1, 4), (3, 4), (4, 4), (5, 4), (8, 4), (23, 4), (40, 16), (300, 7), (600, 64)]
"""Objects and diagonals: fewer objects than diagonals, multiples and what is beside them, several tiles."""


def gram(n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))


def whole(form):
    n = form.band.shape[1]
    B = np.zeros((n, n))
    for lag, diagonal in enumerate(form.band[:n]):
        B += np.diag(diagonal[: n - lag], -lag)
    return np.tril(B) + np.tril(B, -1).T


@pytest.mark.parametrize(("n", "width"), SIZES)
def test_a_matrix_is_its_band_turned(n, width):
    A = np.random.default_rng(1).normal(size=(n, n))
    A = A + A.T
    form = BandForm.of(A.copy(), width)
    assert np.allclose(form.basis @ form.basis.T, np.eye(n), atol=1e-12)
    assert np.allclose(form.basis.T @ whole(form) @ form.basis, A, atol=1e-11)
    assert form.norm >= np.abs(np.linalg.eigvalsh(A)).max() * (1 - 1e-12)


@pytest.mark.parametrize(("n", "width"), SIZES)
@pytest.mark.parametrize("alpha", [1e-2, 30.0])
def test_inverses_are_those_of_the_matrix(n, width, alpha):
    K, right = gram(n), np.random.default_rng(2).normal(size=(n, 3))
    inverse = np.linalg.inv(K + alpha * np.eye(n))
    form = BandForm.of(K.copy(), width)
    assert np.allclose(form.solve(alpha, form.rotated(right)), inverse @ right, rtol=1e-9, atol=1e-9 / alpha)
    assert np.allclose(form.inverse_diagonal(alpha), np.diag(inverse), rtol=1e-9)
    folds = [fold for fold in np.array_split(np.random.default_rng(3).permutation(n), 5) if len(fold)]
    found = {}
    form.inverse_blocks(alpha, folds, found.__setitem__)
    assert sorted(found) == list(range(len(folds)))
    for number, fold in enumerate(folds):
        assert np.allclose(found[number], inverse[np.ix_(fold, fold)], rtol=1e-9, atol=1e-11 / alpha)


@pytest.mark.parametrize("K", [np.zeros((9, 9)), np.ones((9, 9)), np.diag(np.arange(9.0)), np.eye(9)], ids=str)
def test_matrices_that_are_reduced_already(K):
    form = BandForm.of(K.copy(), 2)
    assert np.allclose(form.basis.T @ whole(form) @ form.basis, K)
    assert np.allclose(form.inverse_diagonal(0.5), np.diag(np.linalg.inv(K + 0.5 * np.eye(9))))


def test_numbers_do_not_depend_on_threads(monkeypatch):
    found = []
    for count in "1", "3":
        monkeypatch.setenv("MERCER_NUM_THREADS", count)
        assert executors.Threads().count == int(count)
        form = BandForm.of(gram(700), 16)
        found.append((form.band, form.basis, form.inverse_diagonal(0.1)))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_what_is_not_positive_definite_is_refused():
    K = gram(30)
    K[0, 0] = -5.0
    with pytest.raises(scipy.linalg.LinAlgError):
        BandForm.of(K, 4).solve(1.0, np.ones((30, 1)))


# ---------------------------------------------------------------------------------------------------------------- ridge


def anew(K, y, weights, alpha, test, intercept):
    """Residuals of objects that a machine, trained on the rest, never saw."""
    train = np.setdiff1d(np.arange(len(y)), test)
    penalties = np.full(y.shape[1], alpha)
    found = direct.solve(K[np.ix_(train, train)], y[train], penalties, weights[train], intercept=intercept)
    return y[test] - (K[np.ix_(test, train)] @ found.coefficients + found.intercept)


def problem(n, outputs, weighted):
    rng = np.random.default_rng(4)
    return gram(n), rng.normal(size=(n, outputs)), rng.uniform(0.2, 2.0, n) if weighted else np.ones(n)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("n", "outputs", "weighted"), [(5, 1, False), (64, 2, True), (129, 1, True), (150, 3, False)])
def test_paths_over_a_band_equal_training_anew(n, outputs, weighted, intercept):
    K, y, weights = problem(n, outputs, weighted)
    path = direct.RidgePath.of(K, y, weights, intercept=intercept, alphas=0)
    assert path._band is not None
    folds = np.array_split(np.random.default_rng(5).permutation(n), 3)
    for alpha in 1e-2, 3.0:
        one_by_one = np.vstack([anew(K, y, weights, alpha, np.array([i]), intercept) for i in range(n)])
        assert np.allclose(path.leave_one_out(alpha), one_by_one, rtol=1e-9, atol=1e-9)
        residuals = path.fold_residuals(alpha, folds)
        for fold in folds:
            assert np.allclose(residuals[fold], anew(K, y, weights, alpha, fold, intercept), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_bands_and_eigenvectors_agree(intercept):
    K, y, weights = problem(200, 2, weighted=True)
    band = direct.RidgePath.of(K, y, weights, intercept=intercept, alphas=0)
    eigen = direct.RidgePath.of(K, y, weights, intercept=intercept, alphas=10**6)
    assert eigen._band is None
    folds = [np.arange(50), np.arange(50, 51), np.arange(51, 200)]
    for alpha in 1e-2, 1.0, 1e3:
        assert np.allclose(band.leave_one_out(alpha), eigen.leave_one_out(alpha), rtol=1e-9, atol=1e-10)
        assert np.allclose(band.fold_residuals(alpha, folds), eigen.fold_residuals(alpha, folds), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-30, 1e-16])
def test_an_alpha_lost_in_rounding_is_left_to_eigenvectors(alpha):
    K, y, weights = np.ones((20, 20)), np.arange(20.0)[:, None], np.ones(20)
    few = direct.RidgePath.of(K, y, weights, intercept=False, alphas=0)
    many = direct.RidgePath.of(K, y, weights, intercept=False, alphas=10**6)
    assert np.array_equal(few.leave_one_out(alpha), many.leave_one_out(alpha))


def test_an_indefinite_matrix_is_left_to_eigenvectors_where_it_must_be():
    K, y, weights = problem(40, 1, weighted=False)
    K -= 0.5 * np.eye(40)
    few = direct.RidgePath.of(K, y, weights, intercept=False, alphas=0)
    many = direct.RidgePath.of(K, y, weights, intercept=False, alphas=10**6)
    assert np.array_equal(few.leave_one_out(0.1), many.leave_one_out(0.1))
    one_by_one = [anew(K, y, weights, 1.0, np.array([i]), intercept=False)[0] for i in range(40)]
    assert np.allclose(few.leave_one_out(1.0), one_by_one, rtol=1e-9)
