"""Dual coordinate descent."""

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.losses.hinge import Hinge
from mercer.losses.logistic import Logistic
from mercer.solvers.weights import coordinate_descent
from tests.solvers.weights.linear_problems import DUAL, INTERCEPT_SCALES, check, optimum, problem


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("loss", DUAL, ids=str)
def test_dual_descent_finds_the_optimum(loss, intercept_scale):
    for sparse in (False, True):
        p = problem(loss, intercept_scale, sparse=sparse)
        check(p, coordinate_descent.solve(p, tol=1e-6), optimum(p), 2e-6)


def test_seeds_change_the_way_and_not_the_result():
    p = problem(Hinge(), n=200)
    first, again, other = (coordinate_descent.solve(p, tol=1e-7, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(first.w, again.w)
    assert not np.array_equal(first.w, other.w)
    assert np.allclose(first.w, other.w, atol=1e-3)


def test_losses_without_a_quadratic_dual_are_refused():
    with pytest.raises(ParameterError, match="no form for coordinate descent"):
        coordinate_descent.solve(problem(Logistic()))
