"""Linear machines: which solver suits which problem."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.gram.executors import Threads
from mercer.losses.base import Loss
from mercer.losses.hinge import Hinge
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.weights import coordinate_descent, joint_descent, newton, newton_cg, smoothed
from mercer.solvers.weights.dual_form import dual_form
from mercer.solvers.weights.joint_descent import WIDTH, ClassProblem, Unfinished
from mercer.solvers.weights.problem import LinearProblem, LinearSolution

MOST_FEATURES = 1000
"""Up to so many features a normal matrix is formed."""


def solve(
    problem: LinearProblem,
    *,
    dual: bool | None = None,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
    seed: int = 0,
) -> LinearSolution:
    """Minimise until the duality gap is at most `tol` of the objective; `dual` forces the dual or the primal."""
    if dual is None and _by_smoothing(problem.loss, problem.n_features):
        return smoothed.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)
    if _in_dual(problem.loss, problem.n_features, dual):
        return coordinate_descent.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk, seed=seed)
    few_rows = problem.n_features <= problem.rows.shape[0] <= 2 * MOST_FEATURES
    if problem.n_features <= MOST_FEATURES or few_rows:
        return newton.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)
    return newton_cg.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)


def solve_classes(
    rows: Any,
    loss: Loss,
    codes: npt.NDArray[np.intp],
    C: Float64,
    factors: Float64,
    freedom: float,
    *,
    dual: bool | None = None,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
    seed: int = 0,
) -> list[LinearSolution]:
    """One machine per class against the rest; rows of class k have C_i times `factors[k]` in its machine."""
    began = time.monotonic()
    limits = limits or Limits()
    found: list[LinearSolution | None] = [None] * len(factors)
    executor = Threads()
    smoothed = dual is None and _by_smoothing(loss, rows.shape[1])
    joint = not smoothed and _in_dual(loss, rows.shape[1], dual) and isinstance(loss, Hinge | SquaredHinge)
    if not joint:

        def alone(k: int) -> None:
            own = codes == k
            problem = LinearProblem(rows, loss, np.where(own, 1.0, -1.0), np.where(own, C * factors[k], C), freedom)
            found[k] = solve(problem, dual=dual, tol=tol, limits=limits, on_chunk=on_chunk, seed=seed)

        executor.each(alone, range(len(factors)), limits.stop)
        return [solution for solution in found if solution is not None]
    sparse, place = coordinate_descent.sparse_rows(rows)
    lengths = coordinate_descent.squared_lengths(sparse)
    groups = _groups(len(factors))
    later: list[tuple[int, Unfinished]] = []

    def finish(k: int, part: Unfinished) -> None:
        solution = part.finish(tol, limits, on_chunk, began, seed)
        found[k] = dataclasses.replace(solution, w=solution.w[place])

    def together(number: int) -> None:
        group = groups[number]
        problem = ClassProblem(sparse, lengths, codes, loss, C, factors[group], int(group[0]), freedom)
        if len(group) == 1:
            finish(int(group[0]), Unfinished.at_zero(problem))
            return
        for k, part in zip(group, joint_descent.solve(problem, tol, limits, on_chunk, began, seed), strict=True):
            if isinstance(part, Unfinished):
                later.append((int(k), part))
            else:
                found[k] = dataclasses.replace(part, w=part.w[place])

    executor.each(together, range(len(groups)), limits.stop)
    executor.each(lambda number: finish(*later[number]), range(len(later)), limits.stop)
    return [solution for solution in found if solution is not None]


def _groups(classes: int) -> list[npt.NDArray[np.intp]]:
    """Which classes are trained together: as many as fit; few that are left over go one by one, as threads are free."""
    left_over = classes % WIDTH
    if classes > WIDTH and left_over <= WIDTH // 2:
        full = classes - left_over
        return [*np.split(np.arange(full), full // WIDTH), *np.arange(full, classes)[:, None]]
    return list(np.array_split(np.arange(classes), -(-classes // WIDTH)))


def _by_smoothing(loss: Loss, n_features: int) -> bool:
    """Whether kinks of the loss are best approached by parabolas."""
    return isinstance(loss, smoothed.Kinked) and n_features <= MOST_FEATURES


def _in_dual(loss: Loss, n_features: int, dual: bool | None) -> bool:
    """Whether to train in the dual: where the primal is not smooth, and where features are many."""
    possible = dual_form(loss, np.ones(1), np.ones(1)) is not None
    if dual is None:
        dual = possible and (not loss.smooth or n_features > MOST_FEATURES)
    if dual and not possible:
        raise ParameterError(f"The dual of {loss!r} has no form for coordinate descent. Use dual=False.")
    if not dual and not loss.smooth:
        raise ParameterError(f"The primal of {loss!r} is not smooth, so that Newton's method cannot minimise it.")
    return dual
