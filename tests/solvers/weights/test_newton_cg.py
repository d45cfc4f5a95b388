"""Newton's method with conjugate gradients."""

import pytest

from mercer.losses.logistic import Logistic
from mercer.solvers.solution import Status
from mercer.solvers.weights import newton_cg
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, SMOOTH, check, optimum, problem


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_finds_the_optimum(loss, intercept_scale):
    for sparse in (False, True):
        p = problem(loss, intercept_scale, sparse=sparse)
        check(p, newton_cg.solve(p, tol=1e-10), optimum(p), 1e-7)


def test_more_features_than_rows():
    p = problem(Logistic(), 1.0, n=30, d=80, sparse=True)
    assert newton_cg.solve(p, tol=1e-9).status is Status.CONVERGED
