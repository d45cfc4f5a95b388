"""Machines that begin from cells, and nested problems, end where those that begin from nothing do."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVC, SVR, _deadline, kernels
from mercer.errors import TimeLimitError
from mercer.gram.make import gram_of
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.solvers.box import nested
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Stats, Status

N = 2400


@pytest.fixture
def small(monkeypatch):
    """Problems of a few thousand count as very large."""
    monkeypatch.setattr(nested, "LEAST", 1000)
    monkeypatch.setattr(nested, "CELL", 300)


def data(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    signs = np.where(np.floor(6 * X).sum(axis=1) % 2 == 0, 1.0, -1.0)
    return X, np.where(rng.uniform(size=n) < 0.05, -signs, signs)


def box_of(loss, y, C, *, intercept):
    return BoxProblem.of(LossProblem(loss, y, C, intercept=intercept))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.1)])
def test_the_optimum_is_that_of_working_sets(small, monkeypatch, loss, intercept):
    X, y = data()
    C = np.where(np.arange(N) % 3 == 0, 2.0, 10.0)
    gram = gram_of(kernels.RBF(gamma=40.0).fit(X), X)
    box = box_of(loss, y, C, intercept=intercept)
    assert nested.suits(gram, box)
    found = SMO().solve(gram, box, tol=1e-3)
    monkeypatch.setattr(nested, "LEAST", 10**9)
    other = SMO().solve(gram, box, tol=1e-3)
    assert found.status is other.status is Status.CONVERGED
    K, b = gram.exact(), found.coefficients
    assert (b >= box.lower).all()
    assert (b <= box.upper).all()
    assert not intercept or abs(b.sum()) < 1e-9
    assert box.violation(b, -(K @ b + box.linear)) <= 1.1e-3
    np.testing.assert_allclose(found.outputs, K @ b, atol=1e-4)
    assert found.objective == pytest.approx(other.objective, rel=1e-4)


def test_cells_are_a_start_near_the_solution(small, monkeypatch):
    """Fewer steps follow than from nothing: else cells would be in vain."""
    X, y = data()
    gram = gram_of(kernels.RBF(gamma=150.0).fit(X), X)
    box = box_of(Hinge(), y, np.full(N, 10.0), intercept=True)
    found = SMO().solve(gram, box, tol=1e-3)
    monkeypatch.setattr(nested, "LEAST", 10**9)
    assert found.stats.iterations < 0.7 * SMO().solve(gram, box, tol=1e-3).stats.iterations


def test_cells_are_left_out_where_all_objects_are_neighbours(small):
    X, y = data()
    box = box_of(Hinge(), y, np.full(N, 10.0), intercept=True)
    assert not nested.suits(gram_of(kernels.RBF(gamma=0.5).fit(X), X), box)
    assert not nested.suits(gram_of(kernels.RBF(gamma=40.0).fit(X), X).stored(), box)
    assert not nested.suits(gram_of(kernels.RBF(gamma=40.0).fit(X[:900]), X[:900]), box.part(np.arange(900)))


def test_a_start_is_taken_and_cells_of_one_class_do_no_harm(small):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(700, 2)), rng.normal(size=(500, 2)) + 30.0])
    y = np.where(np.arange(1200) < 700, 1.0, -1.0)
    gram = gram_of(kernels.RBF(gamma=8.0).fit(X), X, dtype=np.float32)
    box = box_of(Hinge(), y, np.ones(1200), intercept=True)
    assert nested.suits(gram, box)
    found = SMO().solve(gram, box, tol=1e-3)
    again = SMO().solve(gram, box, start=found.coefficients, tol=1e-3)
    assert found.status is again.status is Status.CONVERGED
    assert again.stats.iterations == 0
    np.testing.assert_array_equal(again.coefficients, found.coefficients)


def test_it_stops_after_so_many_steps_with_a_feasible_point_and_its_outputs(small):
    X, y = data()
    gram = gram_of(kernels.RBF(gamma=40.0).fit(X), X)
    box = box_of(Hinge(), y, np.full(N, 10.0), intercept=True)
    found = SMO().solve(gram, box, tol=1e-3, limits=Limits(max_iter=50))
    assert found.status is Status.OUT_OF_ITERATIONS
    assert found.stats.iterations <= 50
    assert abs(found.coefficients.sum()) < 1e-9
    np.testing.assert_allclose(found.outputs, gram.exact() @ found.coefficients, atol=1e-4)
    assert found.stats.gap == pytest.approx(box.violation(found.coefficients, -(found.outputs + box.linear)))


@pytest.mark.parametrize(("n", "memory"), [(N, "auto"), (4500, 17)])
def test_estimators_are_certified_whatever_memory_they_have(small, n, memory):
    X, y = data(n)
    model = SVC(C=10.0, gamma=40.0, memory=memory).fit(X, y)
    assert model.certificate_.kkt_violation <= 1e-3
    assert model.certificate_.gap <= 1e-3 * model.certificate_.primal
    assert model.verify(X, y).kkt_violation <= 1.01e-3
    regressor = SVR(C=10.0, gamma=40.0, memory=memory).fit(X, y)
    assert regressor.certificate_.kkt_violation <= 1e-3


def test_time_may_be_over_before_anything_is_known(small):
    X, y = data(6000)
    gram = gram_of(kernels.RBF(gamma=40.0).fit(X), X)
    box = box_of(Hinge(), y, np.full(6000, 10.0), intercept=True)
    with _deadline.limited(-1.0), pytest.raises(TimeLimitError, match="time_limit"):
        SMO().solve(gram, box, tol=1e-3)


def test_time_that_ends_a_nested_problem_leaves_the_point_before_it(small):
    X, y = data()
    gram = gram_of(kernels.RBF(gamma=40.0).fit(X), X)
    box = box_of(Hinge(), y, np.full(N, 10.0), intercept=True)
    run = SMO().init(gram, box, start=None, tol=1e-9)
    while run.iterations < 500:
        run.step(100)
    with _deadline.limited(-1.0):
        found = run.finish(Status.OUT_OF_TIME, Stats(run.iterations, run.gap, 0.0))
    np.testing.assert_allclose(found.outputs, gram.exact() @ found.coefficients, atol=1e-4)
    assert abs(found.coefficients.sum()) < 1e-9
