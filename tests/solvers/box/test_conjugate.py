"""Conjugate steps: the same solution in fewer steps, however the steps are cut into calls."""

import time

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.solvers.box import conjugate, step_rules
from mercer.solvers.box.local import LocalProblem
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import DenseRun, feasible
from mercer.solvers.box.step_rules import Pairs
from mercer.solvers.drive import Limits, drive
from tests.oracles import qp


@pytest.fixture(autouse=True)
def steps_alone(monkeypatch):
    """Linear systems would solve these problems before steps had become slow."""
    monkeypatch.setattr(step_rules, "STEPS", 10**9)


def hard(n=500, C=1e4, dtype=np.float64):
    """Many free coefficients: noise that only a wiggly function can follow, at a large penalty."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    gram = gram_of(kernels.RBF(gamma=2.0).fit(X), X, dtype=dtype)
    return gram, BoxProblem(-y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0), 0.0)


def solved(gram, problem, tol=1e-3, limits=None):
    run = DenseRun(gram, problem, feasible(problem), tol, Pairs())
    return run, drive(run, tol, limits or Limits(), None, time.monotonic())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_solution_is_optimal_and_takes_fewer_steps(dtype, monkeypatch):
    gram, problem = hard(dtype=dtype)
    run, solution = solved(gram, problem)
    assert run._local.direction.state[conjugate.STEADY] == 1
    K, b = gram.dense().astype(np.float64), solution.coefficients
    assert (b >= problem.lower).all()
    assert (b <= problem.upper).all()
    assert b.sum() == pytest.approx(0.0, abs=1e-9 * np.abs(b).sum())
    assert qp.violation(K, problem.linear, problem.lower, problem.upper, 0.0, b) <= 1.1e-3
    monkeypatch.setattr("mercer.solvers.box.step_rules.Pairs.steps", _plain_steps)
    _, plain = solved(gram, problem)
    assert solution.objective == pytest.approx(plain.objective, rel=1e-5)
    assert solution.stats.iterations < 0.9 * plain.stats.iterations


_steps = Pairs.steps


def _plain_steps(self, local, tol, limit):
    local.direction.state[conjugate.HITS] = 10**9  # as if every step had ended on a bound
    local.direction.state[conjugate.STEADY] = 0
    return _steps(self, local, tol, min(limit, conjugate.LOOK_EVERY - local.made % conjugate.LOOK_EVERY))


def local_problem(gram, problem):
    start = feasible(problem)
    return LocalProblem(gram.dense(), gram.diagonal(), start, -problem.linear - gram.dense() @ start, problem)


def test_steps_do_not_depend_on_how_they_are_cut():
    gram, problem = hard()
    whole, pieces = local_problem(gram, problem), local_problem(gram, problem)
    Pairs().steps(whole, 1e-9, 1500)
    for size in (1, 7, 300, 492, 700):
        Pairs().steps(pieces, 1e-9, size)
    assert whole.direction.state[conjugate.STEADY] == 1
    np.testing.assert_array_equal(whole.b, pieces.b)
    np.testing.assert_array_equal(whole.F, pieces.F)


def test_a_step_is_conjugate_to_the_one_before_and_keeps_the_image():
    gram, problem = hard()
    K = gram.dense()
    local = local_problem(gram, problem)
    Pairs().steps(local, 1e-9, 2000)
    direction = local.direction
    checked = 0
    for _ in range(50):
        before = direction.p.copy()
        Pairs().steps(local, 1e-9, 1)
        now = direction.p.copy()
        if now.any():
            np.testing.assert_allclose(direction.image, K @ now, atol=1e-8)
            assert direction.length[0] == pytest.approx(now @ K @ now, rel=1e-6)
            if before.any() and np.count_nonzero(now) > 2:
                scale = np.sqrt((before @ K @ before) * (now @ K @ now))
                assert abs(before @ K @ now) < 1e-6 * scale
                checked += 1
        np.testing.assert_allclose(local.F, -problem.linear - K @ local.b, atol=1e-6)
    assert checked > 10


def test_a_direction_is_given_up_when_steps_end_on_bounds():
    gram, problem = hard(C=0.1)
    run, solution = solved(gram, problem)
    assert solution.converged
    assert run._local.direction.state[conjugate.STEADY] == 0
    assert not run._local.direction.p.any()
