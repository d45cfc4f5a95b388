"""Machines of several outputs on features, against L-BFGS on the weights, a method that shares nothing with them."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

from mercer.gram.make import gram_of_rows
from mercer.losses.base import VectorLoss
from mercer.losses.curvature import DiagonalRoot, MatrixRoot
from mercer.losses.multinomial import Multinomial
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.solvers.smooth import newton
from mercer.solvers.solution import Status
from mercer.solvers.weights import joint_newton, joint_system


@dataclass(frozen=True)
class OneVsRest(VectorLoss):
    """A logistic loss for each class, added up: outputs do not meet, and their mean counts."""

    smooth = True
    classifies = True

    def _signs(self, y, f):
        return np.where(np.arange(f.shape[1]) == np.asarray(y)[:, None], 1.0, -1.0)

    def value(self, y, f):
        return np.logaddexp(0.0, -self._signs(y, f) * f).sum(axis=1)

    def slope(self, y, f):
        signs = self._signs(y, f)
        return -signs * expit(-signs * f)

    def curvature(self, y, f):
        return expit(f) * expit(-f)

    def curvature_root(self, y, f):
        return DiagonalRoot(np.sqrt(self.curvature(y, f)))

    def conjugate(self, y, a):
        raise NotImplementedError

    @classmethod
    def examples(cls):
        yield cls()


@dataclass(frozen=True)
class MultinomialByMatrices(Multinomial):
    """The same loss, with its Hessians written out."""

    def curvature_root(self, y, f):
        root = super().curvature_root(y, f)
        units = np.eye(f.shape[1])
        return MatrixRoot(np.stack([root.applied(np.tile(unit, (len(f), 1))) for unit in units], axis=2))


LOSSES = [Multinomial(), MultinomialByMatrices(), OneVsRest()]


def problem(n=120, d=6, classes=4, seed=0, *, loss=LOSSES[0], intercept=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.argmax(X[:, :classes] + rng.gumbel(size=(n, classes)), axis=1)
    C = rng.uniform(0.1, 10, n)
    return X + 0.5, LossProblem(loss, y.astype(float), C, classes, intercept)


def optimum(X, given):
    """The least objective, and the weights and intercepts that have it."""
    d, k = X.shape[1], given.outputs

    def primal(theta):
        W, c = theta[: d * k].reshape(d, k), theta[d * k :] * given.intercept
        f = X @ W + c
        slope = given.C[:, None] * given.loss.slope(given.y, f)
        value = 0.5 * (W * W).sum() + given.C @ given.loss.value(given.y, f)
        return value, np.concatenate([(W + X.T @ slope).ravel(), given.intercept * slope.sum(axis=0)])

    options = {"maxiter": 20_000, "maxfun": 200_000, "ftol": 1e-16, "gtol": 1e-9}
    found = minimize(primal, np.zeros((d + 1) * k), jac=True, method="L-BFGS-B", options=options)
    return found.fun, found.x[: d * k].reshape(d, k), found.x[d * k :]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_reaches_the_optimum(loss, intercept):
    X, given = problem(loss=loss, intercept=intercept)
    best, W, c = optimum(X, given)
    found = joint_newton.solve(X, given, tol=1e-9)
    assert found.converged
    assert found.objective == pytest.approx(best, rel=1e-10)
    np.testing.assert_allclose(X.T @ found.coefficients, W, atol=1e-4)
    np.testing.assert_allclose(found.outputs, X @ (X.T @ found.coefficients), atol=1e-9)
    slope = loss.slope(given.y, found.outputs + found.intercept)
    np.testing.assert_allclose(found.coefficients / given.C[:, None], -slope, atol=1e-9)
    if intercept:
        np.testing.assert_allclose(found.intercept, c, atol=1e-4)
        assert np.abs(found.coefficients.sum(axis=0)).max() < 1e-9
    else:
        assert not np.any(found.intercept)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_function_space_has_the_same_optimum(loss, intercept):
    X, given = problem(loss=loss, intercept=intercept)
    best, W, _ = optimum(X, given)
    found = newton.solve(gram_of_rows(X), given, tol=1e-9)
    assert found.converged
    assert found.objective == pytest.approx(best, rel=1e-10)
    np.testing.assert_allclose(X.T @ found.coefficients, W, atol=1e-4)
    if intercept and loss != OneVsRest():
        assert abs(np.mean(found.intercept)) < 1e-12  # nothing moves it


def test_rows_of_every_form_give_one_answer():
    X, given = problem()
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    X = X.astype(np.float32)
    wanted = joint_newton.solve(X.astype(np.float64), given, tol=1e-9)
    for rows in (X, sp.csr_array(X), sp.csr_array(X.astype(np.float64))):
        found = joint_newton.solve(rows, given, tol=1e-9)
        np.testing.assert_allclose(found.coefficients, wanted.coefficients, atol=1e-8)


def test_many_rows_start_from_a_few(monkeypatch):
    monkeypatch.setattr(joint_newton, "_ROWS_FOR_A_START", 100)
    monkeypatch.setattr(joint_system, "_ROWS_PER_FEATURE", 20)
    starts = []
    original = joint_newton._start
    monkeypatch.setattr(joint_newton, "_start", lambda *args: starts.append(original(*args)) or starts[-1])
    X, given = problem(n=3000)
    found = joint_newton.solve(X, given, tol=1e-8)
    assert any(start is not None for start in starts)
    assert found.objective == pytest.approx(optimum(X, given)[0], rel=1e-10)


def test_a_class_too_rare_for_a_start_is_learnt():
    X, given = problem(n=20_000, d=3, classes=3)
    y = given.y.copy()
    y[y == 2] = 1
    y[:3] = 2
    rare = LossProblem(given.loss, y, given.C, 3)
    assert joint_newton._start(X, rare, Limits()) is None
    assert joint_newton.solve(X, rare, tol=1e-6).converged


def test_rows_that_tell_nothing_end():
    X, given = problem()
    same = LossProblem(given.loss, given.y, given.C, 4)
    assert joint_newton.solve(np.ones_like(X), same, tol=1e-8).converged
    assert joint_newton.solve(np.zeros_like(X), same, tol=1e-8).converged


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e3, 1e8])
def test_every_scale_of_features_ends_finite(scale):
    X, given = problem()
    found = joint_newton.solve(scale * X, given, tol=1e-6, limits=Limits(time_limit=20.0))
    assert found.status is not Status.OUT_OF_TIME
    assert np.isfinite(found.coefficients).all()
    assert np.isfinite(found.intercept).all()
    assert np.isfinite(found.outputs).all()


def test_limits_stop_it():
    X, given = problem()
    assert joint_newton.solve(X, given, limits=Limits(max_iter=2)).status is Status.OUT_OF_ITERATIONS
    assert joint_newton.solve(X, given, limits=Limits(time_limit=0.0)).status is Status.OUT_OF_TIME


def test_too_many_features_are_left_to_function_space():
    assert joint_newton.suits(1000, 10)
    assert not joint_newton.suits(1001, 2)
    assert not joint_newton.suits(1000, 100)
