"""Linear machines: which solver suits which problem."""

from __future__ import annotations

from typing import Any

from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.gram.block_rows import BlockRows
from mercer.gram.cost import MOST_FEATURES
from mercer.gram.executors import Threads
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.solution import Status
from mercer.solvers.weights import (
    absolute,
    coordinate_descent,
    joint_descent,
    newton,
    newton_cg,
    small,
    small_sparse,
    smoothed,
)
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, OneVsRestProblem, unit_dual


def solve(
    problem: LinearProblem,
    *,
    dual: bool | None = None,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
    seed: int = 0,
    sparse: bool = False,
) -> LinearSolution:
    """Minimise until the duality gap is at most `tol` of the objective; `dual` forces the dual or the primal.

    With `sparse`, |w|_1 takes the place of 1/2 |w|^2, and the loss must be the squared hinge.
    """
    loss, features = problem.loss, problem.n_features
    in_blocks = isinstance(problem.rows, BlockRows)  # single rows are not available, so no coordinate descent
    if sparse:
        refuse_blocks(problem.rows, "an absolute penalty")
        return absolute.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk, seed=seed)
    if in_blocks and dual:
        raise ParameterError("Rows that are held in blocks cannot be trained in the dual. Use dual='auto'.")
    limits = limits or Limits()
    solved = _by_loops(problem, problem.y[None], problem.C[None], dual, tol, limits)
    if solved is not None:
        return solved[0]
    if by_smoothing(loss, 0 if in_blocks else features, dual):
        found = smoothed.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)
        if in_blocks or found.status is not Status.STALLED:
            return found
        # Penalties of very different sizes make parabolas too narrow for float64; single coefficients still move.
        dual = True
    few_rows = features <= problem.rows.shape[0] <= 2 * MOST_FEATURES
    if in_dual(loss, 0 if in_blocks else features, dual):
        minimise = coordinate_descent.solve
    else:
        minimise = newton.solve if features <= MOST_FEATURES or few_rows else newton_cg.solve
    return minimise(problem, tol=tol, limits=limits, on_chunk=on_chunk, seed=seed)


def solve_classes(
    problem: OneVsRestProblem,
    *,
    dual: bool | None = None,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
    seed: int = 0,
    sparse: bool = False,
) -> list[LinearSolution]:
    """One machine per class against the rest."""
    limits = limits or Limits()
    loss, features = problem.loss, int(problem.rows.shape[1])
    form = unit_dual(loss)
    in_blocks = isinstance(problem.rows, BlockRows)
    descends = not (in_blocks or by_smoothing(loss, features, dual)) and in_dual(loss, features, dual)
    if not sparse and descends and form is not None and form.one_sided:
        return joint_descent.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk, seed=seed)
    solved = None if sparse else _by_loops(problem, *problem.all(), dual, tol, limits)
    if solved is not None:
        return solved
    found: list[LinearSolution | None] = [None] * len(problem.factors)

    def alone(k: int) -> None:
        single = problem.single(k)
        found[k] = solve(single, dual=dual, tol=tol, limits=limits, on_chunk=on_chunk, seed=seed, sparse=sparse)

    Threads().each(alone, range(len(found)), limits.stop)
    return [solution for solution in found if solution is not None]


def refuse_blocks(rows: Any, what: str) -> None:
    """Refuse rows that are recomputed block by block, for methods that visit single rows or columns."""
    if isinstance(rows, BlockRows):
        raise ParameterError(
            f"The features of these objects do not fit into memory, and {what} needs all of them at once. Train on "
            "fewer objects, or use penalty='l2' and multi_class='ovr'."
        )


def by_smoothing(loss: Loss, n_features: int, dual: bool | None = None) -> bool:
    """Whether replacing the kinks of the loss by parabolas is the fastest method."""
    form = unit_dual(loss)
    return dual is None and form is not None and form.is_box and n_features <= MOST_FEATURES


def by_loops(rows: Any, loss: Loss, dual: bool | None = None) -> bool:
    """Whether the problem is so small that one compiled call is the fastest primal method."""
    form = unit_dual(loss)
    if form is None or dual or isinstance(rows, BlockRows):
        return False
    if loss.smooth and small_sparse.suits(rows):
        return True
    return small.suits(rows) and (form.is_box if dual is None and not loss.smooth else loss.smooth)


def _by_loops(
    problem: LinearProblem | OneVsRestProblem,
    y: Float64,
    C: Float64,
    dual: bool | None,
    tol: float,
    limits: Limits,
) -> list[LinearSolution] | None:
    """The machines of these targets and penalties by one compiled call, if that is suitable and succeeds."""
    if not by_loops(problem.rows, problem.loss, dual):
        return None
    return small.solve(problem.rows, problem.loss, y, C, problem.intercept_scale, tol=tol, limits=limits)


def in_dual(loss: Loss, n_features: int, dual: bool | None = None) -> bool:
    """Whether to train in the dual: where the primal is not smooth, and where there are many features."""
    possible = unit_dual(loss) is not None
    if dual is None:
        dual = possible and (not loss.smooth or n_features > MOST_FEATURES)
    if dual and not possible:
        raise ParameterError(f"The dual of {loss!r} has no form for coordinate descent. Use dual=False.")
    if not dual and not loss.smooth:
        raise ParameterError(f"The primal of {loss!r} is not smooth, so Newton's method cannot minimise it.")
    return dual
