"""Linear systems for coefficients that rest on nothing, where steps along pairs would crawl."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.gram.make import gram_of
from mercer.kernels.vectors.linear import Linear
from mercer.solvers.box import step_rules
from mercer.solvers.box.face import Face, descend, polish
from mercer.solvers.box.local import LocalProblem
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO, feasible
from mercer.solvers.box.step_rules import rule_for
from mercer.solvers.drive import Limits
from mercer.solvers.solution import Status
from mercer.testing.solvers import stored_gram


def badly_scaled(n: int = 60, seed: int = 0) -> Any:
    """Rows whose columns differ by powers of ten, up to a million."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 7)) * 10.0 ** np.arange(-3, 4)


def problems(n: int, seed: int) -> dict[str, BoxProblem]:
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    signs[:2] = 1.0, -1.0
    C = 100.0
    low, high = np.where(signs > 0, 0.0, -C), np.where(signs > 0, C, 0.0)
    absolute_sum = 0.3 * C * min((signs > 0).sum(), (signs < 0).sum())
    targets = rng.normal(size=n)
    box = np.full(n, C)
    return {
        "pairs": BoxProblem(-signs, low, high),
        "singles": BoxProblem(-signs, low, high, None),
        "nu": BoxProblem(np.zeros(n), low, high, 0.0, absolute_sum),
        "kinked": BoxProblem(-targets, -box, box, 0.0, kink=np.full(n, 0.1)),
        "kinked singles": BoxProblem(-targets, -box, box, None, kink=np.full(n, 0.1)),
    }


@pytest.mark.parametrize("name", ["pairs", "singles", "nu", "kinked", "kinked singles"])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_never_raises_the_objective_and_keeps_box_and_sums(name: str, seed: int) -> None:
    X = badly_scaled(40, seed)
    K = X @ X.T
    problem = problems(len(X), seed)[name]
    b = feasible(problem)
    local = LocalProblem(K, np.diagonal(K).copy(), b, -(K @ b + problem.linear), problem)
    for _ in range(20):
        rule_for(problem).steps(local, 0.0, 37)
        before, at = problem.objective(local.b, local.F), local.b.copy()
        polish(local)
        after = problem.objective(local.b, local.F)
        noise = 1e-15 * K.max() * np.abs(local.b).sum() ** 2
        assert after <= before + max(1e-9 * abs(before), noise)
        assert (local.b >= problem.lower).all()
        assert (local.b <= problem.upper).all()
        if problem.total is not None:
            assert local.b.sum() == pytest.approx(problem.total, abs=1e-7)
        if problem.absolute_sum is not None:
            assert np.abs(local.b).sum() == pytest.approx(problem.absolute_sum)
        if problem.kink is not None:
            assert (at * local.b >= 0).all()
        np.testing.assert_allclose(local.F, -(K @ local.b + problem.linear), rtol=1e-6, atol=1e-4)


def test_a_face_without_ends_is_solved_at_once() -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(12, 12))
    K, right = A @ A.T, rng.normal(size=12)
    far = np.full(12, 1e9)
    local = LocalProblem(K, np.diagonal(K).copy(), np.zeros(12), right.copy(), BoxProblem(-right, -far, far))
    assert not descend(local, Face(np.arange(12), local.F.copy(), -far, far, np.ones((12, 1))))
    system = np.block([[K, np.ones((12, 1))], [np.ones((1, 12)), np.zeros((1, 1))]])
    np.testing.assert_allclose(local.b, np.linalg.solve(system, np.append(right, 0.0))[:12], rtol=1e-6)
    assert np.ptp(local.F) < 1e-8


@pytest.mark.parametrize("name", ["pairs", "singles", "nu", "kinked", "kinked singles"])
def test_badly_scaled_problems_are_solved(name: str) -> None:
    X = badly_scaled()
    gram = gram_of(Linear().fit(X), X)
    problem = problems(len(X), 1)[name]
    solution = SMO().solve(gram, problem, tol=1e-3, limits=Limits(max_iter=200_000))
    assert solution.status is Status.CONVERGED
    F = -(X @ (X.T @ solution.coefficients) + problem.linear)
    rule = rule_for(problem)
    assert rule.gap(*rule.extremes(solution.coefficients, F, problem)) <= 2e-3


def test_without_linear_systems_it_would_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problems above are hard for steps alone; else they would prove nothing."""
    monkeypatch.setattr(step_rules, "STEPS", 10**9)
    X = badly_scaled()
    problem = problems(len(X), 1)["pairs"]
    solution = SMO().solve(gram_of(Linear().fit(X), X), problem, tol=1e-3, limits=Limits(max_iter=200_000))
    assert solution.status is Status.OUT_OF_ITERATIONS


def test_a_matrix_with_unknown_entries_ends() -> None:
    gram = stored_gram(np.eye(8))
    gram.kept.square[0, 1] = gram.kept.square[1, 0] = np.nan  # as no kernel should give them
    found = SMO().solve(gram, problems(8, seed=0)["pairs"], tol=1e-9)
    assert found.status is not Status.CONVERGED
