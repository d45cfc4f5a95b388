"""Training on the features of a kernel instead of its Gram matrix: when, and how.

Where the features of a kernel can be written down, K = Phi Phi', and a machine can be trained on its weights w: memory
and the cost of a step grow with the entries of Phi rather than with the square of the objects. The machine that comes
out is the same, sum_i b_i k(x_i, x) + c with w = Phi'b, and is kept, certified, saved and explained in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import DType
from mercer.errors import KernelError, MemoryBudgetError
from mercer.gram import budget
from mercer.gram.executors import single_threaded_blas
from mercer.gram.matrix import Gram
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.kernels.features.space import (
    FeatureSpace,
    columns_at_least,
    entries_per_object,
    has_feature_space,
    squared_lengths,
)
from mercer.losses.base import Loss
from mercer.losses.squared import Squared
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge import normal_equations
from mercer.solvers.solution import Solution, Status
from mercer.solvers.weights import choice, joint_newton, nu_newton
from mercer.solvers.weights.problem import LinearProblem
from mercer.solvers.weights.recovery import settled
from mercer.solvers.weights.smoothed import Kinked

MANY = 5_000
"""From so many objects on, training on features is worth it by itself, where an object has few of them (and always for
a joint loss of several outputs) ..."""
VERY_MANY = 20_000
"""... and from so many for losses with kinks, whose dual is quicker to solve on a matrix; but not in the nu-forms."""
FEW = 1024
_OBJECTS_PER_FEATURE = 10
_BYTES_PER_ENTRY = 24
_SHARE_OF_TOL = 0.1
_FINEST = 1e-13


@final
@dataclass(frozen=True, eq=False)
class GramSettings:
    """What an estimator says about the matrix that it is trained on."""

    owner: str
    """The name of the estimator, for messages."""
    dual: bool | str
    """Whether to train on kernel values (True), on features (False), or on what pays ("auto")."""
    memory: budget.Memory
    psd: str = "ignore"
    """What to do about negative eigenvalues: see `training.guard`."""
    dtype: DType | None = None
    """The precision of kernel values, where it does not depend on the number of objects."""
    nu_form: bool = False
    """Whether coefficients of either sign keep their sum, as in the nu-forms, which gain from features sooner."""


def training_gram(settings: GramSettings, fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> Gram:
    """The Gram matrix to train on: of rows of features where that is asked for or pays, else of kernel values."""
    memory = settings.memory
    if _in_primal(settings, fitted, objects, losses) and not _by_matrix(fitted, objects, losses):
        rows = FeatureSpace.of(fitted, objects)[1]
        fitted.in_range(squared_lengths(rows))
        few, n = rows.shape[1] <= nu_newton.MOST_FEATURES, len(objects)
        if few or settings.dual is False or (n >= MANY and _pays(n, losses, memory)):
            return Gram.of_rows(rows, memory=memory)
    return Gram.of(fitted, objects, dtype=settings.dtype, memory=memory)


def _by_matrix(fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> bool:
    """Whether least squares come down to the matrix anyway, as those of few objects do: then no feature is written."""
    n = len(objects)
    few = n <= normal_equations.MOST_FEATURES and all(isinstance(loss, Squared) for loss in losses)
    return few and n < columns_at_least(fitted.kernel, objects)


def _in_primal(settings: GramSettings, fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> bool:
    owner, dual, memory = settings.owner, settings.dual, settings.memory
    if not isinstance(dual, bool | np.bool_) and dual != "auto":
        raise _check.fail(owner, "dual", "True, False or 'auto'", dual)
    solvable = all(_solvable(loss) for loss in losses)
    if dual != "auto":
        if dual:
            return False
        if not has_feature_space(fitted.kernel):
            rule = f"True or 'auto' with {fitted.kernel}, whose features cannot be written down"
            raise _check.fail(owner, "dual", rule, dual)
        if not solvable:
            raise _check.fail(owner, "dual", "True or 'auto' with this loss, which has no primal solver", dual)
        return True
    n = len(objects)
    joint = any(loss.joint for loss in losses)
    if (n < MANY and not joint) or not solvable or not has_feature_space(fitted.kernel):
        return False
    try:
        entries = entries_per_object(fitted, objects)
    except (KernelError, MemoryBudgetError):  # too many features to write down
        return False
    allowed = budget.stored_bytes(memory)
    if entries * n * _BYTES_PER_ENTRY > allowed or entries * _OBJECTS_PER_FEATURE > n:
        return False
    return settings.nu_form or _pays(n, losses, memory)


def _pays(n: int, losses: Sequence[Loss], memory: budget.Memory) -> bool:
    """Whether so many objects are better trained on features, few or many, or could not be trained otherwise."""
    beyond = n * n * np.dtype(np.float32).itemsize > budget.stored_bytes(memory)
    return n >= VERY_MANY or all(loss.smooth for loss in losses) or beyond


def _solvable(loss: Loss) -> bool:
    return loss.smooth or isinstance(loss, Kinked)


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
    given: LossProblem,
    *,
    tol: float,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """The machine on these rows, as the coefficients b that their Gram matrix would have given.

    For smooth losses `tol` bounds the violation of b_i = -C_i slope(y_i, f_i); where the loss has kinks, ten times the
    duality gap, as a share of the objective.
    """
    loss, y, C = given.loss, given.y, given.C
    if loss.joint:
        return joint_newton.solve(rows, given, tol=tol, limits=limits, on_chunk=on_chunk)
    problem = LinearProblem(rows, loss, y, C, math.inf if given.intercept else 0.0)
    gap = _SHARE_OF_TOL * tol
    if loss.smooth:
        # From Phi w to Phi Phi'b, f moves by at most |x| |gradient|, and the gap is half the squared gradient.
        longest = float(squared_lengths(rows).max(initial=0.0))
        start = float(C @ loss.value(y, np.zeros_like(y)))
        gap = max(tol**2 / max(2.0 * longest * start, tol), _FINEST)
    with single_threaded_blas():
        found = choice.solve(problem, dual=False if loss.smooth else None, tol=gap, limits=limits, on_chunk=on_chunk)
        products = np.asarray(rows @ (rows.T @ found.dual), dtype=np.float64)
    status = found.status
    if loss.smooth and status in (Status.STALLED, Status.CONVERGED):
        # The bound above is a cautious one; but coefficients that are large beside w may say less of it than it knows.
        violation = np.abs(found.dual / C + loss.slope(y, products + found.intercept)).max(initial=0.0)
        status = Status.CONVERGED if violation <= tol else Status.STALLED
    solution = Solution(found.dual, products, found.intercept, found.primal, status, found.stats)
    if not loss.smooth:
        return solution
    return settled(solution, found.w, rows, given)
