"""Problems whose positive and negative coefficients each keep their sum, against a slow solver and the conditions."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.solvers.box.large import WorkingSetRun
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO, feasible
from mercer.solvers.box.step_rules import NuPairs, side_levels
from mercer.solvers.drive import Limits, drive
from tests.oracles import qp

KERNELS = [kernels.RBF(gamma=0.5), kernels.Linear(), kernels.Polynomial(degree=2), kernels.RBF(gamma=5.0)]


def sample(seed, n, kernel, share, weights=False, linear=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.6, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    bounds = rng.uniform(0.1, 2.0, size=n) if weights else np.ones(n)
    absolute_sum = share * 2 * min(bounds[y > 0].sum(), bounds[y < 0].sum())
    problem = BoxProblem(
        linear * rng.normal(size=n), np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0), 0.0, absolute_sum
    )
    return gram_of(kernel.fit(X), X), problem


def violation(K, problem, b):
    F = -(K @ b + problem.linear)
    worst = 0.0
    for side in (problem.upper > 0, problem.upper <= 0):
        rising, falling = F[side & (b < problem.upper)], F[side & (b > problem.lower)]
        if len(rising) and len(falling):
            worst = max(worst, rising.max() - falling.min())
    return worst


def checked(gram, problem, solution, tol):
    K, b = gram.exact(), solution.coefficients
    positive = problem.upper > 0
    assert (b >= problem.lower).all()
    assert (b <= problem.upper).all()
    assert b[positive].sum() == pytest.approx(problem.absolute_sum / 2, abs=1e-9 * max(1, problem.absolute_sum))
    assert b[~positive].sum() == pytest.approx(-problem.absolute_sum / 2, abs=1e-9 * max(1, problem.absolute_sum))
    assert violation(K, problem, b) <= 1.05 * tol
    np.testing.assert_allclose(solution.outputs, K @ b, atol=1e-9)


def slowly(K, problem, iterations=20000):
    """Projected gradient, each side projected onto its own sum."""
    positive = problem.upper > 0
    half = problem.absolute_sum / 2

    def project(point):
        out = np.empty_like(point)
        for side, total in ((positive, half), (~positive, -half)):
            out[side] = qp.project(point[side], problem.lower[side], problem.upper[side], total)
        return out

    step = 1.0 / max(np.linalg.eigvalsh(K)[-1], 1e-9)
    b = project(np.zeros(len(K)))
    ahead, momentum = b, 1.0
    for _ in range(iterations):
        after = project(ahead - step * (K @ ahead + problem.linear))
        if (ahead - after) @ (after - b) > 0:
            ahead, momentum = b, 1.0
            continue
        if np.abs(after - b).max() < 1e-13 and momentum > 10:
            break
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = after + (momentum - 1.0) / following * (after - b)
        b, momentum = after, following
    return b


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(KERNELS),
    share=st.sampled_from([0.05, 0.4, 0.9, 1.0]),
    weights=st.booleans(),
    linear=st.sampled_from([0.0, 1.0]),
)
def test_agrees_with_projected_gradient(seed, kernel, share, weights, linear):
    gram, problem = sample(seed, 24, kernel, share, weights, linear)
    K = gram.exact()
    best = qp.objective(K, problem.linear, slowly(K, problem, 3000))
    solution = SMO().solve(gram, problem, tol=1e-6)
    assert solution.converged
    checked(gram, problem, solution, 1e-6)
    assert solution.objective <= best + 1e-5 * max(1.0, abs(best))
    run = WorkingSetRun(gram, problem, feasible(problem), 1e-6, NuPairs(), 6, 12)
    parts = drive(run, 1e-6, Limits(), None, time.monotonic())
    checked(gram, problem, parts, 1e-6)
    assert parts.objective == pytest.approx(solution.objective, rel=1e-5, abs=1e-5)


def test_in_single_precision_and_by_working_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=2500) > 0, 1.0, -1.0)
    problem = BoxProblem(np.zeros(2500), np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0), 0.0, 0.4 * 2500)
    gram = gram_of(kernels.RBF(gamma=0.5).fit(X), X)
    assert gram.dtype is np.float32
    solution = SMO().solve(gram, problem, tol=1e-3)
    assert solution.converged
    assert violation(gram.exact(), problem, solution.coefficients) <= 1.05e-3


def test_levels_of_the_sides():
    gram, problem = sample(3, 60, KERNELS[0], 0.4)
    solution = SMO().solve(gram, problem, tol=1e-8)
    F = -solution.outputs - problem.linear
    first, second = side_levels(solution.coefficients, F, problem)
    free = (solution.coefficients > problem.lower) & (solution.coefficients < problem.upper)
    positive = problem.upper > 0
    np.testing.assert_allclose(F[free & positive], first, atol=1e-7)
    np.testing.assert_allclose(F[free & ~positive], second, atol=1e-7)
    assert solution.intercept == pytest.approx((first + second) / 2)


def test_masses_that_no_point_has():
    gram, problem = sample(0, 20, KERNELS[0], 1.01)
    with pytest.raises(ValueError, match="no point of the box"):
        SMO().solve(gram, problem)
