"""The conformance suite of solvers of box problems: optimality recomputed from the problem alone, in float64."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.gram.make import gram_of
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.precomputed import Precomputed
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import feasible
from mercer.solvers.drive import Limits, OnChunk, Solver
from mercer.testing.checks import Check, require, run_all
from mercer.testing.minimisers import Answer, Minimiser, minimiser_checks


def kkt_violation(K: npt.ArrayLike, problem: BoxProblem, b: npt.ArrayLike) -> float:
    """How far b violates the optimality conditions or the constraints, whichever is more.

    With the sum constraint, the decision values F = -(Kb + linear) of coefficients that could rise must not exceed
    those of coefficients that could fall; without it, none that could rise may have F > 0, and none that could fall
    F < 0.

    >>> import numpy as np
    >>> from mercer.solvers.box.problem import BoxProblem
    >>> problem = BoxProblem(linear=np.array([-1.0, 1.0]), lower=np.array([0.0, -9.0]), upper=np.array([9.0, 0.0]))
    >>> kkt_violation([[1.0, -1.0], [-1.0, 1.0]], problem, [0.5, -0.5])
    0.0
    """
    matrix, point = np.asarray(K, dtype=np.float64), np.asarray(b, dtype=np.float64)
    F = -(matrix @ point + problem.linear)
    rising, falling = F[point < problem.upper], F[point > problem.lower]
    outside = float(np.maximum(problem.lower - point, point - problem.upper).max(initial=0.0))
    if problem.total is None:
        return max(outside, float(rising.max(initial=0.0)), float(-falling.min(initial=0.0)))
    missing = abs(float(point.sum()) - problem.total)
    gap = float(rising.max(initial=-np.inf) - falling.min(initial=np.inf))
    return max(outside, missing, gap, 0.0)


def solver_checks(solver: Solver, *, intercept: bool = True) -> Iterator[Check]:
    """Every property that a solver of box problems promises, on small problems of several shapes.

    `intercept=False` is for solvers of problems without the sum constraint.
    """
    for name, (K, problem) in sample_problems(intercept).items():
        for check in minimiser_checks(box_minimiser(solver, K, problem)):
            yield Check(f"{check.name}_{name}", check.body)
        yield Check(f"solver_intercept_{name}", partial(_intercept, solver, K, problem))


def check_solver(solver: Solver, *, intercept: bool = True) -> None:
    """Run every check of `solver_checks`; AssertionError lists those that fail."""
    run_all(type(solver).__name__, solver_checks(solver, intercept=intercept))


def sample_problems(intercept: bool) -> dict[str, tuple[Float64, BoxProblem]]:
    """Matrices and problems by name: easy, hard, rank-deficient, with repeated objects, uneven, and constant."""
    random = np.random.default_rng(0)
    total = 0.0 if intercept else None
    X = random.normal(size=(40, 3))
    y = np.where(X[:, 0] + 0.7 * random.normal(size=40) > 0, 1.0, -1.0)
    far = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    repeated = np.concatenate([X[:10]] * 3)
    conflicting = np.concatenate([y[:10], -y[:10], y[:10]])
    uneven = np.where(np.arange(40) < 2, 1.0, -1.0)
    return {
        "gaussian": (np.exp(-0.5 * far), _hinge(y, np.full(40, 1.0), total)),
        "hard": (np.exp(-0.5 * far), _hinge(y, np.full(40, 1e4), total)),
        "low_rank": (X @ X.T, _hinge(y, np.full(40, 0.3), total)),
        "repeated": (repeated @ repeated.T, _hinge(conflicting, np.full(30, 1.0), total)),
        "uneven": (np.exp(-2.0 * far), _hinge(uneven, np.where(uneven > 0, 10.0, 0.5), total)),
        "constant": (np.ones((40, 40)), _hinge(y, np.full(40, 1.0), total)),
    }


def _hinge(y: Float64, C: Float64, total: float | None) -> BoxProblem:
    return BoxProblem(-y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0), total)


def stored_gram(K: Float64) -> Gram:
    """A matrix as solvers see it."""
    rows = GramRows.coerce(K)
    return gram_of(Precomputed().fit(rows), rows)


def box_minimiser(solver: Solver, K: Float64, problem: BoxProblem, least: float | None = None) -> Minimiser:
    """A box problem and its solver, for `minimiser_checks`; `least` is the least objective, where it is known."""
    twice = np.tile(np.arange(len(K)), 2)
    shared = problem.part(twice)
    shared = dataclasses.replace(shared, lower=shared.lower / 2, upper=shared.upper / 2)
    alone = _box_minimiser(solver, K, problem, least)
    return dataclasses.replace(alone, doubled=_box_minimiser(solver, K[np.ix_(twice, twice)], shared, least))


def _box_minimiser(solver: Solver, K: Float64, problem: BoxProblem, least: float | None) -> Minimiser:
    reach = float((problem.upper - problem.lower).sum())
    """How far the coefficients can move in total: times the gap, it bounds what is left to gain."""

    def solve(*, tol: float, limits: Limits, on_chunk: OnChunk | None = None, start: Any = None) -> Answer:
        found = solver.solve(stored_gram(K), problem, start=start, tol=tol, limits=limits, on_chunk=on_chunk)
        bound = found.objective - found.stats.gap * reach if np.isfinite(found.stats.gap * reach) else -np.inf
        stats = found.stats
        return Answer(found.coefficients, found.objective, found.status, stats.iterations, stats.gap, bound)

    def objective(b: Float64) -> float:
        return 0.5 * float(b @ K @ b) + problem.price(b)

    def infeasibility(b: Float64) -> float:
        sums = 0.0 if problem.total is None else abs(float(b.sum()) - problem.total)
        if problem.absolute_sum is not None:
            sums = max(sums, abs(float(np.abs(b).sum()) - problem.absolute_sum))
        outside = float(np.maximum(problem.lower - b, b - problem.upper).max(initial=0.0))
        return max(outside, sums / max(1.0, float(np.abs(b).sum())))

    simple = problem.kink is None and problem.absolute_sum is None
    return Minimiser(
        solve,
        objective,
        infeasibility,
        allowed=lambda tol: tol * reach if np.isfinite(reach) else tol * max(1.0, abs(least or 0.0)),
        least=least,
        violation=partial(kkt_violation, K, problem) if simple else None,
        at_start=objective(feasible(problem)),
        given=(K, problem.linear, problem.lower, problem.upper),
        warm_starts=np.isfinite(reach),
    )


def _intercept(solver: Solver, K: Float64, problem: BoxProblem) -> None:
    """The intercept lies between the decision values of coefficients that could rise and fall; outputs are K b."""
    tol = 1e-5
    solution = solver.solve(stored_gram(K), problem, tol=tol)
    b = solution.coefficients
    off = float(np.abs(solution.outputs - K @ b).max())
    require(off <= 1e-7 * max(1.0, float(np.abs(b).sum())), f"its outputs are off by {off:g}")
    if problem.total is None:
        require(solution.intercept == 0.0, f"an intercept of {solution.intercept:g} without the sum constraint")
        return
    F = -(K @ b + problem.linear)
    highest, lowest = (F[b < problem.upper].max(initial=-np.inf), F[b > problem.lower].min(initial=np.inf))
    inside = min(highest, lowest) - tol <= solution.intercept <= max(highest, lowest) + tol
    require(inside, f"the intercept {solution.intercept:g} is not between {lowest:g} and {highest:g}")
