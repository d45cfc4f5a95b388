"""Ridge regression from the sums of one pass, against the normal equations written out."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.block_rows import many_rows
from mercer.inputs.blocks import ArrayBlocks
from mercer.solvers.ridge.one_pass import RidgeSums

RNG = np.random.default_rng(0)
N = 500
X = RNG.normal(size=(N, 3)) + 2.0
Y = np.column_stack([np.sin(X[:, 0]) + 5.0, X[:, 1] ** 2])
WEIGHTS = RNG.uniform(0.2, 3.0, size=N)
ALPHA = np.array([0.3, 2.0])
KERNEL = kernels.Nystrom(kernels.RBF(gamma=0.3), m=25)


def rows_and_features():
    fitted = KERNEL.fit(X)
    rows = many_rows(fitted, KERNEL.coerce(ArrayBlocks(X, rows=64)))
    return rows, KERNEL.coordinates(fitted.coerce(X), fitted.state)


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_errors_and_bounds_are_those_of_the_normal_equations(intercept):
    rows, phi = rows_and_features()
    sums = RidgeSums.of(rows, rows.example(), Y, WEIGHTS, intercept=intercept)
    found = sums.solved(ALPHA)
    constants = sums.intercepts(found)
    for column, alpha in enumerate(ALPHA):
        design = np.column_stack([phi, np.ones(N)]) if intercept else phi
        penalty = alpha * np.eye(design.shape[1])
        penalty[phi.shape[1] :, phi.shape[1] :] = 0.0
        best = np.linalg.solve(design.T @ (WEIGHTS[:, None] * design) + penalty, design.T @ (WEIGHTS * Y[:, column]))
        np.testing.assert_allclose(found[:, column], best[: phi.shape[1]], atol=2e-4)
        assert constants[column] == pytest.approx(best[-1] if intercept else 0.0, abs=2e-4)
        left = Y[:, column] - design @ best
        errors = float(WEIGHTS @ left**2)
        assert sums.errors(found)[column] == pytest.approx(errors, rel=1e-4)
        objective = 0.5 * float(best[: phi.shape[1]] @ best[: phi.shape[1]]) + errors / (2 * alpha)
        primal, dual, worst = (part[column] for part in sums.bounds(found, ALPHA))
        assert dual <= objective <= primal
        assert primal - dual < 1e-2 * objective
        assert 0 <= worst < 1e-2
    path = sums.path(np.array([0.3, 2.0, 50.0]))
    np.testing.assert_allclose(path[:, 0, 0], found[:, 0], atol=1e-8)
    np.testing.assert_allclose(path[:, 1, 1], found[:, 1], atol=1e-8)


def test_a_machine_that_is_off_is_told_by_the_bounds():
    rows, _ = rows_and_features()
    sums = RidgeSums.of(rows, rows.example(), Y, WEIGHTS, intercept=True)
    best = sums.solved(ALPHA)
    optimum = sums.bounds(best, ALPHA)[0]
    worse = best + 0.1 * RNG.normal(size=best.shape)
    primal, dual, worst = sums.bounds(worse, ALPHA)
    assert (primal > optimum).all()
    assert (dual <= optimum).all()
    assert (worst > 1e-3).all()
