"""The hard margin: the widest street where there is one, and a proof where there is none."""

import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC as ReferenceSVC

from mercer import kernels
from mercer.errors import InseparableError
from mercer.gram.make import gram_of
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits
from mercer.solvers.solution import Status


def hard(y, total=0.0):
    return BoxProblem(-y, np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0), total)


def solve(X, y, kernel, total=0.0, **options):
    return SMO().solve(gram_of(kernel.fit(X), X), hard(y, total), **options)


def proven(X, y, kernel, total):
    """Solve what has no solution, and check the proof independently."""
    with pytest.raises(InseparableError, match="No hyperplane separates") as caught:
        solve(X, y, kernel, total)
    error = caught.value
    K = kernel.fit(X)(X)
    assert (error.positive >= 0).all()
    assert (error.negative >= 0).all()
    assert not error.positive[y < 0].any()
    assert not error.negative[y > 0].any()
    if total is None:
        assert error.positive.sum() + error.negative.sum() == pytest.approx(1.0)
    else:
        assert error.positive.sum() == pytest.approx(1.0)
        assert error.negative.sum() == pytest.approx(1.0)
    difference = error.positive - error.negative
    assert np.sqrt(max(0.0, difference @ K @ difference)) <= 1.01 * error.tolerance + 1e-8
    return error


def test_two_points():
    solution = solve(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), kernels.Linear(), tol=1e-9)
    np.testing.assert_allclose(solution.coefficients, [-0.5, 0.5])
    assert solution.intercept == pytest.approx(-1.0)
    np.testing.assert_allclose(solution.outputs + solution.intercept, [-1.0, 1.0])


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60))
def test_separable_data_have_the_widest_street(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X[:, 0] += 0.5 * y
    X[:2, 0] = 0.6, -0.6
    solution = solve(X, y, kernels.Linear(), tol=1e-6)
    assert solution.converged
    values = y * (solution.outputs + solution.intercept)
    assert values.min() == pytest.approx(1.0, abs=1e-5)
    reference = ReferenceSVC(C=1e8, kernel="linear", tol=1e-8).fit(X, y)
    weights = solution.coefficients @ X
    np.testing.assert_allclose(weights, reference.coef_[0], rtol=1e-3, atol=1e-4)
    assert solution.intercept == pytest.approx(reference.intercept_[0], abs=1e-3)


def test_no_intercept():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, -2.0]])
    y = np.array([1.0, 1.0, -1.0])
    solution = solve(X, y, kernels.Linear(), None, tol=1e-9)
    assert solution.intercept == 0.0
    np.testing.assert_allclose(solution.coefficients @ X, [1.0, 1.0], atol=1e-8)
    shifted = np.array([[1.0], [2.0]])
    proven(shifted, np.array([1.0, -1.0]), kernels.Linear(), None)
    assert solve(shifted, np.array([1.0, -1.0]), kernels.Linear()).converged


@pytest.mark.parametrize("total", [0.0, None])
@pytest.mark.parametrize("kernel", [kernels.Linear(), kernels.RBF(gamma=1.0), kernels.Polynomial(degree=3)])
def test_conflicting_labels(kernel, total):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    X, y = np.vstack((X, X[:1])), np.append(y, -y[0])
    error = proven(X, y, kernel, total)
    if total == 0.0 and isinstance(kernel, kernels.RBF):
        assert error.positive[[0, 30]].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("total", [0.0, None])
@pytest.mark.parametrize("seed", range(5))
def test_overlapping_clouds(seed, total):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    began = time.monotonic()
    proven(X, np.where(rng.random(200) > 0.5, 1.0, -1.0), kernels.Linear(), total)
    assert time.monotonic() - began < 30.0


def test_the_lifts_of_the_lecture():
    line = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([1.0, -1.0, -1.0, 1.0])
    proven(line, y, kernels.Linear(), 0.0)
    lifted = np.hstack((line, line**2))
    solution = solve(lifted, y, kernels.Linear(), tol=1e-8)
    np.testing.assert_allclose(solution.coefficients @ lifted, [0.0, 2.0 / 3.0], atol=1e-6)
    angles = np.linspace(0.0, 2.0 * np.pi, 13)[:-1]
    circle = np.column_stack((np.cos(angles), np.sin(angles)))
    rings, sides = np.vstack((circle, 2.0 * circle)), np.repeat([-1.0, 1.0], 12)
    proven(rings, sides, kernels.Linear(), 0.0)
    lifted = np.hstack((rings, (rings**2).sum(axis=1, keepdims=True)))
    solution = solve(lifted, sides, kernels.Linear(), tol=1e-8)
    np.testing.assert_allclose(solution.coefficients @ lifted, [0.0, 0.0, 2.0 / 3.0], atol=1e-6)


def test_limits_hold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    assert solve(X, y, kernels.Linear(), limits=Limits(max_iter=3)).status is Status.OUT_OF_ITERATIONS
    short = solve(X, y, kernels.Linear(), tol=1e-13, limits=Limits(time_limit=0.0))
    assert short.status is Status.OUT_OF_TIME


def test_the_error_travels():
    error = proven(np.array([[0.0], [0.0]]), np.array([1.0, -1.0]), kernels.Linear(), 0.0)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    np.testing.assert_array_equal(copy.positive, error.positive)
