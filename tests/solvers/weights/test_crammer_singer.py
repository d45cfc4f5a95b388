"""All classes at once: the optimum by a general optimiser, the bounds by definition, and limits."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from mercer.solvers.drive import Limits
from mercer.solvers.solution import Status
from mercer.solvers.weights import crammer_singer


def objective(X, codes, C, scale, W, c):
    f = X @ W.T + c
    own = f[np.arange(len(codes)), codes]
    raised = f + 1.0
    raised[np.arange(len(codes)), codes] -= 1.0
    penalty = 0.5 * (W**2).sum() + (0.5 * ((c / scale) ** 2).sum() if scale else 0.0)
    return penalty + C @ (raised.max(axis=1) - own)


def optimum(X, codes, C, scale, classes):
    """The dual by a general optimiser: coefficients of a row sum to zero, that of its class alone may be positive."""
    n = len(X)
    Z = np.column_stack([X, np.full(n, scale)])
    errors = np.ones((n, classes))
    errors[np.arange(n), codes] = 0.0

    def value(flat):
        a = flat.reshape(n, classes)
        W = a.T @ Z
        return 0.5 * (W**2).sum() + (errors * a).sum(), (Z @ W.T + errors).ravel()

    bounds = [(None, C[i] if k == codes[i] else 0.0) for i in range(n) for k in range(classes)]
    rows = {
        "type": "eq",
        "fun": lambda a: a.reshape(n, classes).sum(axis=1),
        "jac": lambda a: np.kron(np.eye(n), np.ones(classes)),
    }
    options = {"ftol": 1e-14, "maxiter": 1000}
    return -minimize(
        value, np.zeros(n * classes), jac=True, bounds=bounds, constraints=rows, method="SLSQP", options=options
    ).fun


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("scale", "classes"), [(0.0, 3), (1.5, 3), (1.0, 2)])
def test_optimum_and_bounds(scale, classes, sparse):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(24, 3)), np.arange(24) % classes
    X[:, 0] += codes
    X[3] = 0.0
    C = rng.uniform(0.1, 2.0, 24)
    rows = sp.csr_array(X) if sparse else X
    found = crammer_singer.solve(rows, codes, C, scale, tol=1e-8)
    assert found[0].status is Status.CONVERGED
    W, c = np.array([one.w for one in found]), np.array([one.intercept for one in found])
    primal, dual = sum(one.primal for one in found), sum(one.lower_bound for one in found)
    assert primal == pytest.approx(objective(X, codes, C, scale, W, c), rel=1e-9)
    assert primal == pytest.approx(optimum(X, codes, C, scale, classes), rel=1e-6)
    b = np.array([one.dual for one in found]).T
    np.testing.assert_allclose(b.sum(axis=1), 0.0, atol=1e-9)
    own = b[np.arange(24), codes]
    assert ((own >= -1e-12) & (own <= C + 1e-12)).all()
    assert (np.delete(b, 0, axis=0) <= C[1:, None] + 1e-12).all()
    assert dual <= primal * (1 + 1e-12)


def test_limits():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(60, 4)), np.arange(60) % 3
    found = crammer_singer.solve(X, codes, np.full(60, 10.0), 1.0, tol=1e-12, limits=Limits(3))
    assert {one.status for one in found} == {Status.OUT_OF_ITERATIONS}
    assert sum(one.lower_bound for one in found) < sum(one.primal for one in found)
