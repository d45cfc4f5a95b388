"""Linear machines, and their optimum by general-purpose optimisers, which share nothing with the solvers."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.quantile import Quantile
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.losses.squared import Squared
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.solution import Status
from mercer.solvers.weights.problem import LinearProblem

SMOOTH = [SquaredHinge(), Logistic(), SmoothHinge(), Squared(), SquaredEpsilonInsensitive(0.3), Huber(0.5)]
KINKED = [Hinge(), EpsilonInsensitive(0.2), EpsilonInsensitive(0.0), Quantile(0.2), Quantile(0.7)]
DUAL = [
    Hinge(),
    Huber(0.5),
    SquaredHinge(),
    EpsilonInsensitive(0.2),
    SquaredEpsilonInsensitive(0.2),
    Squared(),
    Quantile(0.2),
]
INTERCEPT_SCALES = [0.0, 1.5, np.inf]


def problem(loss, intercept_scale=0.0, n=60, d=4, seed=0, sparse=False, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)).astype(dtype)
    X[3] = 0.0  # a row that sees the intercept alone
    y = X @ np.arange(1, d + 1) - 0.7 + rng.normal(size=n)
    y = np.where(y > 0, 1.0, -1.0) if loss.classifies else y.astype(np.float64)
    return LinearProblem(sp.csr_array(X) if sparse else X, loss, y, rng.uniform(0.1, 3, n), intercept_scale)


def objective(p, w, c):
    """From the definition."""
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows
    penalty = 0.5 * w @ w + (0.5 * (c / p.intercept_scale) ** 2 if 0 < p.intercept_scale < np.inf else 0.0)
    return penalty + p.C @ p.loss.value(p.y, X.astype(float) @ w + c)


def optimum(p):
    """The least objective: by BFGS where it is smooth, else by SLSQP on the dual's box with its constraint."""
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows
    X = X.astype(float)
    d = X.shape[1]
    if p.loss.smooth:

        def primal(theta):
            w, c = theta[:d], theta[d] * (p.intercept_scale > 0)
            slope = p.C * p.loss.slope(p.y, X @ w + c)
            pull = 0.0 if p.intercept_scale == 0 else slope.sum() + c / p.intercept_scale**2
            return objective(p, w, c), np.append(w + X.T @ slope, pull)

        return minimize(primal, np.zeros(d + 1), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    dual = p.loss.dual(p.y, p.C)  # one variable for the positive part of each coefficient, one for the negative
    linear = np.concatenate([dual.linear + dual.kink, dual.linear - dual.kink])
    lower = np.concatenate([np.maximum(dual.lower, 0.0), np.minimum(dual.lower, 0.0)])
    upper = np.concatenate([np.maximum(dual.upper, 0.0), np.minimum(dual.upper, 0.0)])
    Z = np.vstack([X, X])
    if 0 < p.intercept_scale < np.inf:
        Z = np.column_stack([Z, np.full(len(Z), p.intercept_scale)])
    constraints = [{"type": "eq", "fun": np.sum, "jac": np.ones_like}] if p.intercept_scale == np.inf else []
    found = minimize(
        lambda b: (0.5 * np.sum((b @ Z) ** 2) + linear @ b, Z @ (b @ Z) + linear),
        np.zeros(len(Z)), jac=True, method="SLSQP", bounds=list(zip(lower, upper, strict=True)),
        constraints=constraints, options={"ftol": 1e-13, "maxiter": 2000},
    )  # fmt: skip
    return -found.fun


def check(p, solution, best, rel):
    """The bounds are those of the definition, lie around the optimum, and are as close as asked."""
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows
    b = solution.dual
    image = b @ X
    dual = -0.5 * image @ image - p.C @ p.loss.conjugate(p.y, -b / p.C)
    if 0 < p.intercept_scale < np.inf:
        dual -= 0.5 * (p.intercept_scale * b.sum()) ** 2
    elif p.intercept_scale == np.inf:
        assert abs(b.sum()) < 1e-9
    else:
        assert solution.intercept == 0
    assert solution.status is Status.CONVERGED
    assert solution.primal == pytest.approx(objective(p, solution.w, solution.intercept), rel=1e-10)
    assert solution.lower_bound == pytest.approx(dual, rel=1e-9)
    assert solution.lower_bound <= best * (1 + 1e-7)
    assert best <= solution.primal * (1 + 1e-7)
    assert solution.primal <= best * (1 + rel)
