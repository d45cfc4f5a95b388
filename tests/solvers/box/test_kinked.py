"""Problems with a kink at zero, against the same problems with two variables per object."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.solvers.box.large import WorkingSetRun
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO, feasible
from mercer.solvers.box.step_rules import rule_for
from mercer.solvers.drive import Limits, drive

KERNELS = [kernels.RBF(gamma=0.5), kernels.Linear(), kernels.RBF(gamma=5.0)]


def sample(seed, n, kernel, C, epsilon):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * random.normal(size=n)
    bounds = C * random.uniform(0.2, 2.0, size=n)
    kink = epsilon * random.uniform(0.5, 1.5, size=n)
    return gram_of(kernel.fit(X), X), BoxProblem(-y, -bounds, bounds, 0.0, kink=kink)


def doubled(problem):
    """The same with a copy of each object for either sign."""
    none = np.zeros(len(problem.linear))
    return BoxProblem(
        np.concatenate([problem.linear + problem.kink, problem.linear - problem.kink]),
        np.concatenate([none, problem.lower]),
        np.concatenate([problem.upper, none]),
    )


def violation(K, problem, b):
    F = -(K @ b + problem.linear)
    up = np.where(b >= 0, F - problem.kink, F + problem.kink)[b < problem.upper]
    down = np.where(b > 0, F - problem.kink, F + problem.kink)[b > problem.lower]
    return max(up.max() - down.min(), 0.0)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([0.01, 1.0, 20.0]),
    epsilon=st.sampled_from([1e-3, 0.1, 1.0, 10.0]),
)
def test_is_the_problem_with_two_variables(seed, kernel, C, epsilon):
    gram, problem = sample(seed, 30, kernel, C, epsilon)
    K = gram.exact()
    solution = SMO().solve(gram, problem, tol=1e-7)
    twice = SMO().solve(gram.view(np.tile(np.arange(30), 2)), doubled(problem), tol=1e-7)
    run = WorkingSetRun(gram, problem, feasible(problem), 1e-7, rule_for(problem), 6, 12)
    parts = drive(run, 1e-7, Limits(), None, time.monotonic())
    for found in (solution, parts):
        b = found.coefficients
        assert found.converged
        assert (b >= problem.lower).all()
        assert (b <= problem.upper).all()
        assert b.sum() == pytest.approx(0.0, abs=1e-9 * max(1.0, np.abs(b).sum()))
        assert violation(K, problem, b) <= 1.05e-7
        assert found.objective == pytest.approx(twice.objective, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(found.outputs, K @ b, atol=1e-9)
    np.testing.assert_allclose(solution.outputs, twice.outputs[:30], atol=1e-4 * (1 + np.abs(twice.outputs).max()))


def test_in_single_precision_and_by_working_sets():
    random = np.random.default_rng(0)
    X = random.normal(size=(2500, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * random.normal(size=2500)
    C = np.full(2500, 2.0)
    gram = gram_of(kernels.RBF(gamma=0.5).fit(X), X)
    assert gram.dtype is np.float32
    problem = BoxProblem(-y, -C, C, 0.0, kink=np.full(2500, 0.1))
    solution = SMO().solve(gram, problem, tol=1e-3)
    assert solution.converged
    assert violation(gram.exact(), problem, solution.coefficients) <= 1.1e-3
    f = solution.outputs + solution.intercept
    primal = 0.5 * solution.coefficients @ solution.outputs + C @ EpsilonInsensitive(0.1).value(y, f)
    assert primal == pytest.approx(-solution.objective, rel=1e-2)
