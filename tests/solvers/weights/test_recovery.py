"""Coefficients for weights whose training was not finished."""

import dataclasses

import numpy as np
import pytest

from mercer.losses.logistic import Logistic
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.recovery import recover_coefficients

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) + 1.0
Y = np.where(X[:, 0] > 1.0, 1.0, -1.0)


def unfinished(intercept, W):
    """Good weights, with coefficients that add up to others."""
    problem = LossProblem(Logistic(), Y, np.ones(40), intercept=intercept)
    b = RNG.normal(size=40)
    products = X @ (X.T @ b)
    value = 0.5 * b @ products + Logistic().value(Y, products).sum()
    return problem, Solution(b, products, 0.0, value, Status.OUT_OF_TIME, Stats(1, 1.0, 0.0))


@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_add_up_to_the_weights(intercept):
    W = np.array([2.0, 0.1, -0.1])
    problem, solution = unfinished(intercept, W)
    found = recover_coefficients(solution, W, X, problem)
    np.testing.assert_allclose(X.T @ found.coefficients, W, atol=1e-10)
    np.testing.assert_allclose(found.outputs, X @ W, atol=1e-9)
    assert found.objective == pytest.approx(0.5 * W @ W + Logistic().value(Y, X @ W).sum())
    if intercept:
        assert found.coefficients.sum() == pytest.approx(0.0, abs=1e-10)


def test_what_is_finished_or_no_worse_is_kept():
    W = np.array([2.0, 0.1, -0.1])
    problem, solution = unfinished(False, W)
    done = dataclasses.replace(solution, status=Status.CONVERGED)
    assert recover_coefficients(done, W, X, problem) is done
    assert recover_coefficients(solution, 1e3 * W, X, problem) is solution
