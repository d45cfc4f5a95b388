"""Training on the features of a kernel instead of its Gram matrix: when, and how.

Where the features of a kernel can be written down, K = Phi Phi', and a machine can be trained on its weights w: memory
and the cost of a step grow with the entries of Phi rather than with the square of the objects. The machine that comes
out is the same, sum_i b_i k(x_i, x) + c with w = Phi'b, and is kept, certified, saved and explained in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer import _check
from mercer._types import DType, Float64
from mercer.errors import KernelError, MemoryBudgetError
from mercer.gram import budget
from mercer.gram.contract import Gram
from mercer.gram.executors import single_threaded_blas
from mercer.gram.make import gram_of, gram_of_rows
from mercer.inputs.base import Objects
from mercer.inputs.row_products import squared_lengths
from mercer.kernels.base import FittedKernel, Kernel
from mercer.kernels.features.space import (
    FeatureSpace,
    columns_at_least,
    entries_per_object,
    has_feature_space,
)
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge import normal_equations
from mercer.solvers.solution import Solution, Status
from mercer.solvers.weights import choice, joint_newton
from mercer.solvers.weights.problem import MOST_FEATURES, LinearProblem, LinearSolution, unit_dual
from mercer.solvers.weights.recovery import recover_coefficients

MANY = 5_000
"""From this many objects on, training on features is faster, if objects have few of them. A joint loss of several
outputs gains from fewer objects ..."""
VERY_MANY = 20_000
"""... and losses with kinks only from this many, as their dual is quicker to solve on a matrix; the nu forms do not."""
FEW = 1024
"""Up to this many objects, losses with kinks are solved on the small matrix of dot products even if there are rows."""
_OBJECTS_PER_FEATURE = 10
"""With fewer objects per entry of a row, products with rows take longer than products with the matrix."""
_BYTES_PER_ENTRY = 24
"""Of rows: a number, its column, and once more in a copy."""
_SHARE_OF_TOL = 0.1
"""Duality gaps are shares of the objective, tolerances are in units of the decision function: this share of them gives
machines about as exact as those trained on a matrix."""
_FINEST = 1e-13
"""Smaller duality gaps are lost in rounding."""


def training_gram(
    fitted: FittedKernel,
    objects: Objects,
    losses: Sequence[Loss],
    *,
    owner: str,
    dual: Any,
    memory: budget.Memory,
    nu_form: bool = False,
    dtype: DType | None = None,
) -> Gram:
    """The Gram matrix to train on: of rows of features where that is asked for or pays, else of kernel values.

    `dual` is the parameter of that name of an estimator called `owner`: True for the matrix, False for features, or
    "auto".
    """
    _check_dual(owner, dual, fitted.kernel, losses)
    n, primal = len(objects), dual != "auto" and not dual
    wanted = primal or (dual == "auto" and _worthwhile(fitted, objects, losses, memory, nu_form=nu_form))
    if wanted and not _by_matrix(fitted, objects, losses):
        rows = FeatureSpace.of(fitted, objects)[1]
        fitted.in_range(squared_lengths(rows))
        if primal or rows.shape[1] <= MOST_FEATURES or (n >= MANY and _pays(n, losses, memory)):
            return gram_of_rows(rows, memory=memory)
    return gram_of(fitted, objects, dtype=dtype, memory=memory)


def _check_dual(owner: str, dual: Any, kernel: Kernel, losses: Sequence[Loss]) -> None:
    if not isinstance(dual, bool | np.bool_) and dual != "auto":
        raise _check.fail(owner, "dual", "True, False or 'auto'", dual)
    if dual:
        return
    if not has_feature_space(kernel):
        rule = f"True or 'auto' with {kernel}, whose features cannot be written down"
        raise _check.fail(owner, "dual", rule, dual)
    if not all(_solvable(loss) for loss in losses):
        raise _check.fail(owner, "dual", "True or 'auto' with this loss, which has no primal solver", dual)


def _worthwhile(
    fitted: FittedKernel, objects: Objects, losses: Sequence[Loss], memory: budget.Memory, *, nu_form: bool
) -> bool:
    """Whether features are few enough, and objects many enough, to train on features without being asked."""
    n = len(objects)
    enough = n >= MANY or any(loss.joint for loss in losses)
    if not enough or not has_feature_space(fitted.kernel) or not all(_solvable(loss) for loss in losses):
        return False
    try:
        entries = entries_per_object(fitted, objects)
    except (KernelError, MemoryBudgetError):  # too many features to write down
        return False
    if entries * n * _BYTES_PER_ENTRY > budget.stored_bytes(memory) or entries * _OBJECTS_PER_FEATURE > n:
        return False
    return nu_form or _pays(n, losses, memory)


def _by_matrix(fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> bool:
    """Whether least squares come down to the matrix anyway, as those of few objects do: then no feature is written."""
    if len(objects) > normal_equations.MOST_FEATURES or len(objects) >= columns_at_least(fitted.kernel, objects):
        return False
    duals = [unit_dual(loss) for loss in losses]
    return all(dual is not None and dual.least_squares for dual in duals)


def _pays(n: int, losses: Sequence[Loss], memory: budget.Memory) -> bool:
    """Whether so many objects are better trained on features, few or many, or could not be trained otherwise."""
    beyond = n * n * np.dtype(np.float32).itemsize > budget.stored_bytes(memory)
    return n >= VERY_MANY or all(loss.smooth for loss in losses) or beyond


def _solvable(loss: Loss) -> bool:
    dual = None if loss.smooth else unit_dual(loss)
    return loss.smooth or (dual is not None and dual.is_box)


def solves(loss: Loss, rows: Any, outputs: int = 1) -> bool:
    """Whether `solve` minimises this loss on these rows.

    Losses with kinks over few objects go to steps on the small matrix of their dot products, which end however badly
    scaled features are; joint losses over many features to Newton's method in function space, by products with rows.
    """
    if loss.joint:
        return loss.smooth and joint_newton.suits(rows.shape[1], outputs)
    return _solvable(loss) and (loss.smooth or rows.shape[0] > FEW)


def solve(
    rows: Any,
    problem: LossProblem,
    *,
    tol: float,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """The machine on these rows, as the coefficients b that their Gram matrix would have given.

    For smooth losses `tol` bounds the violation of b_i = -C_i slope(y_i, f_i); where the loss has kinks, ten times the
    duality gap, as a share of the objective.
    """
    loss, y, C = problem.loss, problem.y, problem.C
    if loss.joint:
        return joint_newton.solve(rows, problem, tol=tol, limits=limits, on_chunk=on_chunk)
    linear = LinearProblem(rows, loss, y, C, math.inf if problem.intercept else 0.0)
    if not loss.smooth:
        found, products = _solve_linear(linear, None, _SHARE_OF_TOL * tol, limits, on_chunk)
        return Solution(found.dual, products, found.intercept, found.primal, found.status, found.stats)
    # From Phi w to Phi Phi'b, f moves by at most |x| |gradient|, and the gap is half the squared gradient.
    longest = float(squared_lengths(rows).max(initial=0.0))
    start = float(C @ loss.value(y, np.zeros_like(y)))
    gap = max(tol**2 / max(2.0 * longest * start, tol), _FINEST)
    found, products = _solve_linear(linear, False, gap, limits, on_chunk)
    status = found.status
    if status in (Status.STALLED, Status.CONVERGED):
        # That bound is a cautious one; but coefficients that are large beside w may say less of it than it knows.
        violation = np.abs(found.dual / C + loss.slope(y, products + found.intercept)).max(initial=0.0)
        status = Status.CONVERGED if violation <= tol else Status.STALLED
    solution = Solution(found.dual, products, found.intercept, found.primal, status, found.stats)
    return recover_coefficients(solution, found.w, rows, problem)


def _solve_linear(
    problem: LinearProblem, dual: bool | None, gap: float, limits: Limits | None, on_chunk: OnChunk | None
) -> tuple[LinearSolution, Float64]:
    """The solution, and the outputs of its dual coefficients."""
    with single_threaded_blas():
        found = choice.solve(problem, dual=dual, tol=gap, limits=limits, on_chunk=on_chunk)
        return found, np.asarray(problem.rows @ (problem.rows.T @ found.dual), dtype=np.float64)
