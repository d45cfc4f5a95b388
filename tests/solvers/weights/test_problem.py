"""Duality, from its definition."""

import numpy as np
import pytest

from mercer.losses.hinge import Hinge
from mercer.solvers.weights.problem import OneVsRestProblem, balanced, bounds, relative_gap, unit_dual
from tests.solvers.weights.linear_problems import DUAL, INTERCEPT_SCALES, problem


def test_balanced_coefficients_sum_to_zero_within_their_bounds():
    for b in (np.array([1.0, 2.0, -1.0]), np.array([-3.0, 1.0, 0.0]), np.zeros(3), np.array([1.0, 0.0])):
        even = balanced(b)
        assert abs(even.sum()) < 1e-15
        assert (even * b >= 0).all()
        assert (np.abs(even) <= np.abs(b)).all()


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("loss", DUAL, ids=str)
def test_no_dual_objective_exceeds_a_primal_one(loss, intercept_scale):
    rng, p = np.random.default_rng(0), problem(loss, intercept_scale)
    dual = loss.dual(p.y, p.C)
    for _ in range(20):
        w, c = rng.normal(size=4), rng.normal() * (intercept_scale > 0)
        b = p.feasible(np.clip(rng.normal(size=len(p.y)), dual.lower, dual.upper))
        primal, lower = bounds(p, w, c, p.rows @ w + c, b, b @ p.rows)
        assert lower <= primal
        assert relative_gap(primal, lower) >= 0.0


def test_one_class_against_the_rest():
    codes, C = np.array([0, 1, 2, 1]), np.array([1.0, 2.0, 3.0, 4.0])
    given = OneVsRestProblem(np.eye(4), Hinge(), codes, C, np.array([1.0, 10.0, 1.0]), 0.5)
    single = given.single(1)
    assert single.y.tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert single.C.tolist() == [1.0, 20.0, 3.0, 40.0]
    assert single.intercept_scale == 0.5


def test_the_dual_of_a_label_is_that_of_the_loss():
    dual = unit_dual(Hinge())
    assert dual.lower.tolist() == [-1.0, 0.0]
    assert dual.upper.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("loss", DUAL, ids=str)
def test_duals_are_conjugates(loss):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 50) if loss.classifies else rng.normal(size=50)
    C = rng.uniform(0.5, 2, 50)
    dual = loss.dual(y, C)
    b = np.clip(rng.normal(size=50), dual.lower, dual.upper)
    value = 0.5 * dual.ridge * b * b + dual.linear * b + dual.kink * np.abs(b)
    assert np.allclose(value, C * loss.conjugate(y, -b / C))
