"""Coefficients from weights: those that steps on the Gram matrix find."""

import math

import numpy as np
import pytest

from mercer.gram.make import gram_of_rows
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.quantile import Quantile
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Status
from mercer.solvers.weights import kinked
from mercer.solvers.weights.problem import LinearProblem

LOSSES = [Hinge(), EpsilonInsensitive(0.1), Quantile(0.3)]


def rows(n=80, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def targets(loss, X, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    y = X[:, 0] - 0.5 * X[:, 1] + noise
    return np.where(y > 0, 1.0, -1.0) if loss.classifies else y


def box_of(problem):
    return BoxProblem.of(LossProblem(problem.loss, problem.y, problem.C, intercept=problem.free_intercept))


def violation(problem, b):
    box = box_of(problem)
    return box.violation(b, -(problem.rows @ (problem.rows.T @ b) + box.linear))


@pytest.mark.parametrize("scale", [0.0, math.inf], ids=["without", "intercept"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_coefficients_are_those_of_steps(loss, scale):
    X = rows()
    C = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    problem = LinearProblem(X, loss, targets(loss, X), C, scale)
    found = kinked.solve(problem, tol=1e-6)
    assert found.status is Status.CONVERGED
    assert violation(problem, found.dual) <= 1e-6
    stepped = SMO().solve(gram_of_rows(X), box_of(problem), tol=1e-6)
    np.testing.assert_allclose(found.dual, stepped.coefficients, atol=1e-4)
    np.testing.assert_allclose(found.w, X.T @ stepped.coefficients, atol=1e-5)
    assert found.intercept == pytest.approx(stepped.intercept, abs=1e-5)
    assert found.primal - found.lower_bound <= 1e-4


@pytest.mark.parametrize("C", [1e4, 1e6])
@pytest.mark.parametrize("spread", [0.0, 2.0], ids=["scaled", "unscaled"])
def test_huge_penalties_on_labels_that_no_plane_separates(C, spread):
    X = rows(300, 8) * 10.0 ** np.random.default_rng(3).uniform(-spread, spread, 8)
    y = np.where(np.random.default_rng(4).normal(size=300) > 0, 1.0, -1.0)
    problem = LinearProblem(X, Hinge(), y, np.full(300, C), math.inf)
    found = kinked.solve(problem, tol=1e-3)
    assert found.stats.iterations < 150
    assert violation(problem, found.dual) <= 1e-3
    assert found.primal - found.lower_bound <= 1e-4 * found.primal


def test_what_rounding_forbids_ends_as_stalled():
    X = 1e3 * rows(100, 3)
    y = np.where(np.random.default_rng(4).normal(size=100) > 0, 1.0, -1.0)
    problem = LinearProblem(X, Hinge(), y, np.full(100, 1e6), math.inf)
    found = kinked.solve(problem, tol=1e-12)
    assert found.status is Status.STALLED
    assert found.stats.iterations < 400
    assert found.primal - found.lower_bound <= 1e-2 * found.primal


def test_many_rows_begin_from_a_few_of_them():
    X = rows(17_000, 4)
    problem = LinearProblem(X, Hinge(), targets(Hinge(), X), np.ones(len(X)), math.inf)
    found = kinked.solve(problem, tol=1e-3)
    assert violation(problem, found.dual) <= 1e-3
    assert np.count_nonzero((found.dual != 0) & (np.abs(found.dual) != 1)) < 40  # the others are exactly on a bound


def test_sums_are_corrected_by_free_coefficients_alone():
    box = BoxProblem(np.zeros(5), np.zeros(5), np.ones(5))
    b = np.array([0.0, 1.0, 0.5, 0.2, 0.0])
    # Nothing negative can make up for what is left.
    balanced = kinked.with_zero_sum(b - 0.5 * np.array([0, 1, 0, 0, 0]), box)
    assert balanced.tolist() == [0.0, 0.0, 0.0, 0.0, 0.0]
    box = BoxProblem(np.zeros(4), np.array([0.0, 0.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0, 0.0]))
    balanced = kinked.with_zero_sum(np.array([1.0, 0.5, -1.0, -0.4]), box)
    assert balanced[[0, 2]].tolist() == [1.0, -1.0]
    assert balanced.sum() == pytest.approx(0.0, abs=1e-15)


def test_tiny_bounds_leave_no_sum_unbalanced():
    X = rows(20, 3)
    y = np.where(np.arange(20) < 15, 1.0, -1.0)
    found = kinked.solve(LinearProblem(X, Hinge(), y, np.full(20, 1e-7), math.inf), tol=1e-3)
    assert found.status is Status.CONVERGED
    assert abs(found.dual.sum()) <= 1e-18
    assert found.intercept == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("scale", [0.0, math.inf], ids=["without", "intercept"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("shape", [(60, 4), (300, 10), (150, 40)])
def test_compiled_rounds_are_those_in_python(loss, scale, shape):
    X = rows(*shape, seed=5)
    C = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    problem = LinearProblem(X, loss, targets(loss, X), C, scale)
    found, expected = kinked.solve(problem, tol=1e-3), kinked.KinkedRun.solve(problem, tol=1e-3)
    assert expected.status is found.status is Status.CONVERGED
    assert found.stats.iterations == expected.stats.iterations
    assert found.stats.gap == pytest.approx(violation(problem, found.dual), abs=1e-9)
    np.testing.assert_allclose(found.dual, expected.dual, atol=1e-6)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-6)
    assert found.intercept == pytest.approx(expected.intercept, abs=1e-6)
