"""A loss that nobody has written yet is one class, and every solver that can trains it to the same objective."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer.losses.base import Loss
from mercer.losses.dual import Dual
from mercer.losses.piecewise import PiecewiseQuadratic
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.problem import LossProblem
from mercer.solvers.weights import coordinate_descent, smoothed
from mercer.solvers.weights.problem import LinearProblem
from mercer.testing import check_loss
from mercer.testing.solvers import stored_gram
from mercer.training.train import train
from tests.oracles import qp


@dataclass(frozen=True)
class ThreeSlopes(Loss):
    """Too low costs `below` for each unit, a little too high nothing, and beyond `room` `above` for each unit."""

    below: float = 0.5
    above: float = 2.0
    room: float = 0.6

    smooth = False
    classifies = False

    def _error(self, y, f):
        return f - y - 0.5 * self.room

    def value(self, y, f):
        error, half = self._error(y, f), 0.5 * self.room
        return self.above * np.maximum(error - half, 0.0) + self.below * np.maximum(-error - half, 0.0)

    def slope(self, y, f):
        error, half = self._error(y, f), 0.5 * self.room
        return np.where(error > half, self.above, np.where(error < -half, -self.below, 0.0))

    def curvature(self, y, f):
        return np.zeros_like(f)

    def conjugate(self, y, a):
        inside = (a >= -self.below) & (a <= self.above)
        return np.where(inside, a * (y + 0.5 * self.room) + 0.5 * self.room * np.abs(a), np.inf)

    def dual(self, y, C):
        return Dual.of(-y - 0.5 * self.room, lower=-self.above * C, upper=self.below * C, kink=0.5 * self.room)


@dataclass(frozen=True)
class FromItsDual(PiecewiseQuadratic):
    """The same loss, of which no more than the dual is written down."""

    smooth = False
    classifies = False

    def dual(self, y, C):
        return ThreeSlopes().dual(y, C)


LOSS = ThreeSlopes()
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.7 + RNG.normal(size=50)
C = RNG.uniform(0.2, 2.0, 50)


def oracle(intercept):
    """The least objective, by projected gradient on the dual with a variable for each sign of a coefficient."""
    dual = LOSS.dual(Y, C)
    K = np.tile(X @ X.T, (2, 2))
    linear = np.concatenate([dual.linear + dual.kink, dual.linear - dual.kink])
    lower, upper = np.concatenate([np.zeros(50), dual.lower]), np.concatenate([dual.upper, np.zeros(50)])
    total = 0.0 if intercept else None
    b = qp.minimise(K, linear, lower, upper, total, iterations=6000)
    assert qp.violation(K, linear, lower, upper, total, b) < 1e-4
    return -qp.objective(K, linear, b)


@pytest.fixture(scope="module")
def least():
    return {intercept: oracle(intercept) for intercept in (True, False)}


def objective(w, c):
    return 0.5 * w @ w + C @ LOSS.value(Y, X @ w + c)


def test_it_is_a_loss():
    check_loss(LOSS)


def test_its_dual_says_all_of_it():
    check_loss(FromItsDual())
    y, f = np.repeat([-1.0, 0.5], 81), np.tile(np.linspace(-4.03, 3.97, 81), 2)
    for method in ("value", "slope", "curvature", "conjugate"):
        np.testing.assert_allclose(getattr(FromItsDual(), method)(y, f), getattr(LOSS, method)(y, f), atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
def test_by_the_box_solver(least, intercept):
    problem = LossProblem(LOSS, Y, C, intercept=intercept)
    found = SMO().solve(stored_gram(X @ X.T), BoxProblem.of(problem), tol=1e-7)
    assert -found.objective == pytest.approx(least[intercept], rel=1e-5)
    assert objective(X.T @ found.coefficients, found.intercept) == pytest.approx(least[intercept], rel=1e-5)
    machine = train(stored_gram(X @ X.T), problem, tol=1e-7)
    assert machine.certificate.primal == pytest.approx(least[intercept], rel=1e-5)
    assert machine.certificate.dual == pytest.approx(least[intercept], rel=1e-5)


@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "CSR"])
@pytest.mark.parametrize("solver", [smoothed, coordinate_descent], ids=["smoothed", "coordinate_descent"])
@pytest.mark.parametrize("intercept", [True, False])
def test_on_features(least, solver, rows, intercept):
    found = solver.solve(LinearProblem(rows, LOSS, Y, C, math.inf if intercept else 0.0), tol=1e-7)
    assert objective(found.w, found.intercept) == pytest.approx(least[intercept], rel=1e-5)
    assert found.lower_bound == pytest.approx(least[intercept], rel=1e-5)


def test_by_the_estimators(least):
    model = mercer.KernelMachineRegressor(loss=LOSS, kernel="linear", C=1.0, tol=1e-7).fit(X, Y, sample_weight=C)
    assert model.certificate_.primal == pytest.approx(least[True], rel=1e-5)
