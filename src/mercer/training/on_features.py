"""Training on the features of a kernel instead of its Gram matrix.

If a kernel has explicit features, K = Phi Phi', and a machine can be trained on its weights w: memory and the cost of a
step grow with the entries of Phi rather than with the square of the number of objects. The resulting machine is the
same, sum_i b_i k(x_i, x) + c with w = Phi'b, and is kept, certified, saved and explained in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.gram import cost
from mercer.gram.block_rows import BlockRows
from mercer.inputs.vectors import is_sparse, squared_lengths
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Solution, Status
from mercer.solvers.weights import choice, joint_newton, kinked
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, unit_dual
from mercer.solvers.weights.recovery import recover_coefficients

_SHARE_OF_TOL = 0.1
"""Duality gaps are relative to the objective, tolerances are in units of the decision function: a gap of this fraction
of `tol` gives about the accuracy of training on a matrix."""
_FINEST = 1e-13
"""Smaller duality gaps are lost in rounding."""


def solvable(loss: Loss) -> bool:
    """Whether there is a solver on features for this loss."""
    dual = None if loss.smooth else unit_dual(loss)
    return loss.smooth or (dual is not None and dual.is_box)


def solves(loss: Loss, rows: Any, outputs: int = 1) -> bool:
    """Whether `solve` minimises this loss on these rows.

    It does not if another method costs less: for losses with kinks and few objects, steps on the matrix of dot
    products; for joint losses and many features, Newton's method in function space.
    """
    if loss.joint:
        return loss.smooth and joint_newton.suits(rows.shape[1], outputs)
    return solvable(loss) and (loss.smooth or isinstance(rows, BlockRows) or cheaper(form_of([loss]), rows))


def form_of(losses: Sequence[Loss], *, nu_form: bool = False) -> cost.Form:
    """The kind of problem that these losses pose, for the cost model."""
    if nu_form:
        return cost.NU
    duals = [None if loss.joint else unit_dual(loss) for loss in losses]
    if all(loss.smooth for loss in losses):
        solved = all(dual is not None and dual.least_squares for dual in duals)
        return cost.LEAST_SQUARES if solved else cost.SMOOTH
    return cost.TUBE if all(dual is not None and dual.has_kink for dual in duals) else cost.KINKED


def cheaper(form: cost.Form, rows: Any, width: float | None = None, *, write: bool = False, groups: int = 2) -> bool:
    """Whether training on these rows costs less than on kernel values computed from `width` numbers or from rows."""
    n, features = rows.shape
    entries = rows.nnz / max(1, n) if is_sparse(rows) else float(features)
    width = entries if width is None else width
    return cost.weights_pay(form, n, width=width, features=features, entries=entries, write=write, groups=groups)


def solve(
    rows: Any,
    problem: LossProblem,
    *,
    tol: float,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """Train on these rows; returns the coefficients b that their Gram matrix would have given.

    For smooth losses `tol` bounds the violation of b_i = -C_i slope(y_i, f_i); for losses with kinks, it bounds ten
    times the relative duality gap.
    """
    loss, y, C = problem.loss, problem.y, problem.C
    if loss.joint:
        return joint_newton.solve(rows, problem, tol=tol, limits=limits, on_chunk=on_chunk)
    linear = LinearProblem(rows, loss, y, C, math.inf if problem.intercept else 0.0)
    if not loss.smooth:
        found, products = _solve_kinked(linear, tol, limits, on_chunk)
        return Solution(found.dual, products, found.intercept, found.primal, found.status, found.stats)
    # Between Phi w and Phi Phi'b, f changes by at most |x| |gradient|, and the gap is half the squared gradient.
    longest = float(squared_lengths(rows).max(initial=0.0))
    start = float(C @ loss.value(y, np.zeros_like(y)))
    gap = max(tol**2 / max(2.0 * longest * start, tol), _FINEST)
    found, products = _solve_linear(linear, False, gap, limits, on_chunk)
    status = found.status
    if status in (Status.STALLED, Status.CONVERGED):
        # That bound is pessimistic; but coefficients much larger than w represent it less accurately.
        violation = np.abs(found.dual / C + loss.slope(y, products + found.intercept)).max(initial=0.0)
        status = Status.CONVERGED if violation <= tol else Status.STALLED
    solution = Solution(found.dual, products, found.intercept, found.primal, status, found.stats)
    return recover_coefficients(solution, found.w, rows, problem)


def _solve_kinked(
    problem: LinearProblem, tol: float, limits: Limits | None, on_chunk: OnChunk | None
) -> tuple[LinearSolution, Float64]:
    with single_threaded_blas():
        if problem.n_features <= cost.MOST_FEATURES:
            found = kinked.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)
        else:
            found = choice.solve(problem, tol=_SHARE_OF_TOL * tol, limits=limits, on_chunk=on_chunk)
        return found, np.asarray(problem.rows @ (problem.rows.T @ found.dual), dtype=np.float64)


def _solve_linear(
    problem: LinearProblem, dual: bool | None, gap: float, limits: Limits | None, on_chunk: OnChunk | None
) -> tuple[LinearSolution, Float64]:
    """The solution, and the outputs of its dual coefficients."""
    with single_threaded_blas():
        found = choice.solve(problem, dual=dual, tol=gap, limits=limits, on_chunk=on_chunk)
        return found, np.asarray(problem.rows @ (problem.rows.T @ found.dual), dtype=np.float64)
