"""The conformance suite of solvers: optimality recomputed from the problem alone, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.gram.make import gram_of
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.precomputed import Precomputed
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.drive import Limits, Solver
from mercer.solvers.solution import Solution, Status
from mercer.testing.checks import Check, Suite, fingerprint, require, require_unchanged, run_all


def kkt_violation(K: npt.ArrayLike, problem: BoxProblem, b: npt.ArrayLike) -> float:
    """By how much b misses the conditions of optimality, or the constraints, whichever is more.

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
        for check in _SolverSuite(solver, K, problem):
            yield replace(check, name=f"{check.name}_{name}")


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


@final
@dataclass(frozen=True, eq=False)
class _SolverSuite(Suite):
    """What solvers of box problems promise, on one of them."""

    prefix = "solver"
    solver: Solver
    K: Float64
    problem: BoxProblem

    def _solve(self, **options: Any) -> Solution:
        return self.solver.solve(stored_gram(self.K), self.problem, **options)

    def optimality(self) -> None:
        """As exact as asked and as claimed; objective and intercept are those of the coefficients."""
        before = fingerprint([self.K, self.problem.linear, self.problem.lower, self.problem.upper])
        for tol in (1e-2, 1e-5):
            solution = self._solve(tol=tol)
            b = solution.coefficients
            require(solution.converged, f"not converged to {tol:g}: {solution.status.name}")
            violation = kkt_violation(self.K, self.problem, b)
            require(violation <= tol * (1 + 1e-6) + 1e-9, f"violates optimality by {violation:g}, asked for {tol:g}")
            require(solution.stats.gap <= tol, f"claims convergence with a gap of {solution.stats.gap:g} > {tol:g}")
            self._require_consistent(solution, tol)
            require_unchanged(before, [self.K, self.problem.linear, self.problem.lower, self.problem.upper], "solve")

    def _require_consistent(self, solution: Solution, tol: float) -> None:
        b = solution.coefficients
        objective = 0.5 * float(b @ self.K @ b) + float(self.problem.linear @ b)
        scale = max(1.0, float(np.abs(self.problem.linear * b).sum()))
        off = abs(solution.objective - objective)
        require(off <= 1e-7 * scale, f"says the objective is {solution.objective:g}, but it is {objective:g}")
        if self.problem.total is None:
            require(solution.intercept == 0.0, f"an intercept of {solution.intercept:g} without the sum constraint")
            return
        F = -(self.K @ b + self.problem.linear)
        highest, lowest = (
            F[b < self.problem.upper].max(initial=-np.inf),
            F[b > self.problem.lower].min(initial=np.inf),
        )
        inside = min(highest, lowest) - tol <= solution.intercept <= max(highest, lowest) + tol
        require(inside, f"the intercept {solution.intercept:g} is not between {lowest:g} and {highest:g}")

    def warm_start(self) -> None:
        """Begun at its own solution it has nothing left to do, and leaves what it began from alone."""
        first = self._solve(tol=1e-5).coefficients
        kept = first.copy()
        again = self._solve(start=first, tol=1e-4)
        require(np.array_equal(first, kept), "writes to the point that it started from")
        require(again.stats.iterations <= 2, f"needs {again.stats.iterations} iterations from its own solution")
        violation = kkt_violation(self.K, self.problem, again.coefficients)
        require(violation <= 1e-4 * (1 + 1e-6) + 1e-9, f"leaves the optimum it was started at, by {violation:g}")

    def limits(self) -> None:
        """Stopped early it says so, and its point is feasible."""
        stopped = self._solve(tol=1e-9, limits=Limits(max_iter=1))
        require(stopped.stats.iterations <= 1, f"did {stopped.stats.iterations} iterations, at most 1 was allowed")
        b = stopped.coefficients
        require(((b >= self.problem.lower) & (b <= self.problem.upper)).all(), "left the box when stopped early")
        honest = stopped.converged == (kkt_violation(self.K, self.problem, b) <= 1e-9)
        known = stopped.status in (Status.OUT_OF_ITERATIONS, Status.STALLED)
        require(honest or known, f"says {stopped.status.name} of a point that violates optimality")
        late = self._solve(tol=0.0, limits=Limits(time_limit=0.0))
        require(
            late.status in (Status.OUT_OF_TIME, Status.CONVERGED, Status.STALLED), f"out of time, says {late.status}"
        )

    def determinism(self) -> None:
        """The same problem gives the same bits."""
        first, again = (self._solve(tol=1e-4) for _ in range(2))
        require(np.array_equal(first.coefficients, again.coefficients), "two runs give different coefficients")
