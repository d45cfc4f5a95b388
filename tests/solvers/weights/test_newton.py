"""Newton's method on weights."""

import numpy as np
import pytest

from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.solution import Status
from mercer.solvers.weights import newton, newton_cg, row_products
from mercer.solvers.weights.terms import terms_of
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, SMOOTH, check, optimum, problem


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_finds_the_optimum(loss, intercept_scale):
    for sparse in (False, True):
        p = problem(loss, intercept_scale, sparse=sparse)
        check(p, newton.solve(p, tol=1e-10), optimum(p), 1e-7)


def test_newton_with_squared_hinges_ends_after_finitely_many_steps():
    p = problem(SquaredHinge(), n=400, d=10)
    solution = newton.solve(p, tol=1e-25)
    assert solution.stats.iterations < 12
    assert solution.status is Status.CONVERGED


def test_a_start_on_a_few_rows_and_corrected_matrices_lead_to_the_same_place():
    for sparse in (False, True):
        p = problem(SquaredHinge(), np.inf, n=20_000, sparse=sparse)
        exact = newton.solve(p, tol=1e-20)
        assert np.allclose(exact.w, newton_cg.solve(p, tol=1e-14).w, atol=1e-6)
        run = newton.PrimalNewtonRun(p, row_products.rows_of(p.rows), terms_of(p), exact.w[[0, 0, 0, 0, 0]], 1e-20)
        for _ in range(4):
            run.step(1)
        X = p.rows.toarray() if sparse else p.rows
        expected = X.T @ (run._curvature[:, None] * X)
        assert np.allclose(np.tril(run._normals.sum(axis=0)), np.tril(expected), rtol=1e-10)


def test_a_matrix_without_a_factor_still_gives_a_descent():
    gradient = np.array([1.0, -2.0])
    assert np.allclose(newton.descent_direction(np.diag([2.0, 4.0]), gradient), [-0.5, 0.5])
    assert newton.descent_direction(np.array([[1.0, 0.0], [3.0, 1.0]]), gradient) @ gradient < 0
