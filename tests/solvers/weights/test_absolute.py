"""Weights with an absolute penalty: the optimum by a general optimiser, the bounds by definition, and limits."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.drive import Limits
from mercer.solvers.solution import Status
from mercer.solvers.weights import absolute
from mercer.solvers.weights.problem import LinearProblem
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, problem


def objective(p, w, c):
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows
    penalty = abs(c) / p.intercept_scale if 0 < p.intercept_scale < np.inf else 0.0
    return np.abs(w).sum() + penalty + p.C @ np.maximum(0.0, 1.0 - p.y * (X @ w + c)) ** 2


def optimum(p):
    """Weights as differences of two that are not negative, which makes the objective smooth."""
    d, scale = p.rows.shape[1], p.intercept_scale
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows

    def value(z):
        w, c = z[:d] - z[d : 2 * d], (z[2 * d] - z[2 * d + 1]) * (scale > 0)
        price = 1.0 / scale if 0 < scale < np.inf else 0.0
        slack = np.maximum(0.0, 1.0 - p.y * (X @ w + c))
        pull = 2.0 * p.C * p.y * slack
        down = np.concatenate([1.0 - X.T @ pull, 1.0 + X.T @ pull, [price - pull.sum() * (scale > 0)]])
        return z[: 2 * d].sum() + price * z[2 * d :].sum() + p.C @ slack**2, np.append(down, 2 * price - down[-1])

    start, bounds = np.zeros(2 * d + 2), [(0.0, None)] * (2 * d + 2)
    return minimize(
        value, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10}
    ).fun


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scale", INTERCEPT_SCALES)
def test_optimum_and_bounds(scale, sparse):
    p = problem(SquaredHinge(), scale, n=80, d=6, sparse=sparse)
    found, best = absolute.solve(p, tol=1e-9), optimum(p)
    assert found.status is Status.CONVERGED
    assert found.primal == pytest.approx(objective(p, found.w, found.intercept), rel=1e-12)
    assert found.primal == pytest.approx(best, rel=1e-7)
    assert found.lower_bound <= best * (1 + 1e-9)
    assert found.violation < 1e-3
    X = p.rows.toarray() if sparse else p.rows
    assert np.abs(X.T @ found.dual).max() <= 1 + 1e-12  # feasible: the bound is one
    assert (found.dual * p.y >= 0).all()
    assert absolute.proof(p, found.w, found.intercept) == pytest.approx(
        (found.primal, found.lower_bound, found.violation)
    )


def test_many_weights_are_zero_and_copies_of_features_do_no_harm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 30))
    X[:, 1] = X[:, 0]
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    found = absolute.solve(LinearProblem(X, SquaredHinge(), y, np.full(100, 0.02)), tol=1e-8)
    assert found.status is Status.CONVERGED
    assert np.count_nonzero(found.w) < 10


def test_limits_and_nothing_to_learn():
    p = problem(SquaredHinge(), 1.5, n=80, d=6)
    stopped = absolute.solve(p, tol=1e-12, limits=Limits(1))
    assert stopped.status is Status.OUT_OF_ITERATIONS
    assert stopped.stats.iterations == 1
    tiny = absolute.solve(LinearProblem(p.rows, p.loss, p.y, 1e-6 * p.C), tol=1e-6)
    assert not tiny.w.any()
    assert tiny.status is Status.CONVERGED
