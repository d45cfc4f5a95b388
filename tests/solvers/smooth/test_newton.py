"""Newton's method against L-BFGS on the primal in explicit coordinates, a method that shares nothing with it."""

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import minimize

from mercer import kernels
from mercer.gram.lowrank import low_rank
from mercer.gram.make import gram_of
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.multinomial import Multinomial
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.losses.squared import Squared
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.solvers.smooth import newton
from mercer.solvers.smooth.system import _factored
from mercer.solvers.solution import Status


def problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)), rng.uniform(1, 20, n), rng.integers(0, 3, n)


def optimum(K, loss, y, C, outputs, intercept):
    """The primal over w in coordinates in which K = L L'."""
    n = len(K)
    L = np.linalg.cholesky(K + 1e-11 * np.eye(n))

    def primal(theta):
        w, c = theta[: n * outputs].reshape(n, outputs), theta[n * outputs :] * intercept
        f = L @ w + c
        f = f[:, 0] if outputs == 1 else f
        slope = loss.slope(y, f).reshape(n, outputs) * C[:, None]
        value = 0.5 * (w * w).sum() + C @ loss.value(y, f)
        return value, np.concatenate([(w + L.T @ slope).ravel(), intercept * slope.sum(axis=0)])

    options = {"maxiter": 20_000, "maxfun": 200_000, "ftol": 1e-15, "gtol": 1e-8}
    return minimize(primal, np.zeros((n + 1) * outputs), jac=True, method="L-BFGS-B", options=options).fun


SCALAR = [Logistic(), SquaredHinge(), SmoothHinge(), Huber(0.5), Squared(), SquaredEpsilonInsensitive(0.2)]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", SCALAR, ids=repr)
def test_reaches_the_optimum(loss, intercept):
    X, y, C, _ = problem()
    fitted = kernels.RBF(gamma=0.3).fit(X)
    solution = newton.solve(gram_of(fitted, X), LossProblem(loss, y, C, 1, intercept), tol=1e-8)
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(optimum(fitted(X), loss, y, C, 1, intercept), rel=1e-7)
    assert np.allclose(solution.outputs, fitted(X) @ solution.coefficients)
    slope = loss.slope(y, solution.outputs + solution.intercept)
    assert np.abs(solution.coefficients / C + slope).max() < 1e-7
    if intercept:
        assert abs(solution.coefficients.sum()) < 1e-6


@pytest.mark.parametrize("intercept", [True, False])
def test_all_classes_at_once(intercept):
    X, _, C, codes = problem()
    fitted = kernels.RBF(gamma=0.3).fit(X)
    y = codes.astype(float)
    solution = newton.solve(gram_of(fitted, X), LossProblem(Multinomial(), y, C, 3, intercept), tol=1e-8)
    assert solution.converged
    assert solution.objective == pytest.approx(optimum(fitted(X), Multinomial(), y, C, 3, intercept), rel=1e-7)


def test_limits_stop_it():
    X, y, C, _ = problem()
    gram = gram_of(kernels.RBF(gamma=0.3).fit(X), X)
    smooth = LossProblem(Logistic(), y, 1e6 * C)
    assert newton.solve(gram, smooth, tol=1e-12, limits=Limits(max_iter=2)).status is Status.OUT_OF_ITERATIONS
    assert newton.solve(gram, smooth, tol=1e-300, limits=Limits(time_limit=0.0)).status in (
        Status.OUT_OF_TIME,
        Status.STALLED,
    )


def test_low_rank_factor_approaches_the_matrix():
    X = problem(200)[0]
    gram = gram_of(kernels.RBF(gamma=0.05).fit(X), X)
    K = gram.dense()
    errors = []
    for rank in (5, 20, 80):
        found = low_rank(gram, rank)
        assert found.factor.shape == (200, rank)
        rest = K - found.factor @ found.factor.T
        assert np.linalg.eigvalsh(rest).min() > -1e-8
        assert found.residual == pytest.approx(np.trace(rest) / np.trace(K), abs=1e-9)
        assert np.allclose(rest[found.pivots], 0, atol=1e-8)
        errors.append(found.residual)
    assert errors[0] > errors[1] > errors[2]
    assert np.array_equal(low_rank(gram, 20).pivots, low_rank(gram, 20).pivots)


def test_the_small_system_is_factored():
    random = np.random.default_rng(0)
    F, weights = random.normal(size=(9, 3)), random.uniform(0.5, 2.0, size=9)
    found = scipy.linalg.cho_solve(_factored(F, weights), np.eye(3))
    np.testing.assert_allclose(found @ (np.eye(3) + F.T @ (weights[:, None] ** 2 * F)), np.eye(3), atol=1e-12)
