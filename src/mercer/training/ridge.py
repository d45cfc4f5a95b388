"""Ridge regression: one direct solution for all outputs, with its certificate."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import _check, _speed
from mercer._types import Float64
from mercer.errors import KernelError, KernelWarning
from mercer.gram import cost
from mercer.gram.block_rows import BlockRows, many_rows
from mercer.gram.condensing import machine_over, of_weights, read_whole, streams
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import numbers_of
from mercer.kernels.base import FittedKernel
from mercer.losses.squared import Squared
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge import direct, iterative, normal_equations
from mercer.solvers.ridge.one_pass import RidgeSums
from mercer.solvers.solution import Status
from mercer.training.certificate import Certificate, Prove, certify, unknown_certificate
from mercer.training.full_kernel import Claim
from mercer.training.matrix import GramSettings, Recomputed, Repair, by_features, guard, training_gram
from mercer.training.on_a_part import Growing, Part, affordable

_TINY = float(np.finfo(np.float64).tiny)
_ZERO = "To interpolate, use a small one such as 1e-10."


@final
@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Minimise sum_i w_i (y_i - f(x_i))^2 + alpha |w|^2 for every column of targets, each with its own alpha."""

    targets: Float64
    weights: Float64
    alpha: Float64
    intercept: bool


def fit_ridge(
    problem: RidgeProblem,
    settings: GramSettings,
    fitted: FittedKernel,
    objects: Objects,
    limits: Limits,
    began: float,
    gram: Gram | None = None,
) -> tuple[Expansion, Repair | None, Prove]:
    """The machine over all training objects, the repair of its matrix, and a function that computes its certificate."""
    rows = _rows_in_passes(settings, fitted, objects) if gram is None else None
    if rows is not None:
        return _fit_in_passes(problem, rows, fitted, objects, limits, began)
    gram = training_gram(settings, fitted, objects, [Squared()]) if gram is None else gram
    if gram.factor is None and not gram.in_memory and not isinstance(objects, Streamed):
        parts = None
        if not gram.expensive and fitted.kernel.psd:
            parts = affordable(gram, problem.weights, 1.0, limits, flops_per_cube=_speed.CHOLESKY)
        if parts is not None:
            return _fit_a_part(problem, settings, fitted, objects, limits, gram, parts)
        by_products = _fit_by_products(problem, settings, fitted, objects, limits, gram)
        if by_products is not None:
            solution, outputs, seen = by_products.solution, by_products.outputs, time.monotonic() - began
            expansion, _ = machine_over(fitted, objects, slice(None), solution.coefficients, solution.intercept)
            recomputed = Recomputed(solution.coefficients, outputs, by_products.entries, gram.diagonal())
            return expansion, None, partial(certify_ridge, problem, recomputed, solution.intercept, seen)
    guarded = guard(settings.owner, fitted.kernel, gram, settings.psd)
    targets, alpha = problem.targets, problem.alpha
    solve = direct.solve if gram.factor is None else normal_equations.solve
    matrix = guarded.gram.exact() if gram.factor is None else gram.factor
    found = solve(matrix, targets, alpha, problem.weights, intercept=problem.intercept, limits=limits)
    outputs = guarded.gram.matvec(found.coefficients)
    objects = objects if streams(fitted, objects) else read_whole(objects, settings.memory)
    full = guarded.expanded(found.coefficients)
    expansion, _ = machine_over(fitted, objects, slice(None), full, found.intercept)
    recomputed = Recomputed(found.coefficients, outputs, gram.entries_computed, guarded.gram.diagonal())
    dtype, seconds = np.dtype(gram.dtype).name, time.monotonic() - began
    prove = partial(certify_ridge, problem, recomputed, found.intercept, seconds, dtype)
    return expansion, guarded.repair(found.coefficients), prove


def _fit_a_part(
    problem: RidgeProblem,
    settings: GramSettings,
    fitted: FittedKernel,
    objects: Objects,
    limits: Limits,
    gram: Gram,
    parts: Growing,
) -> tuple[Expansion, Repair | None, Prove]:
    """The machine of as many objects as there is time for."""

    def train(part: Part) -> _OfPart:
        some = RidgeProblem(problem.targets[part.ids], part.weights, problem.alpha, problem.intercept)
        view = gram.view(part.ids).stored_if_it_fits()
        return _OfPart(*fit_ridge(some, settings, fitted, objects.take(part.ids), limits, time.monotonic(), view))

    part, made = parts.largest(train)
    warnings.warn(f"{settings.owner} did not converge. {Status.OF_A_PART.value}", ConvergenceWarning, stacklevel=5)
    coefficients = part.all(made.expansion.coefficients)
    expansion, _ = machine_over(fitted, objects, slice(None), coefficients, made.expansion.intercept)
    return expansion, None, partial(unknown_certificate, 1, np.dtype(gram.dtype).name)


@final
@dataclass(frozen=True, eq=False)
class _OfPart:
    """A machine trained on a part; unlike others it has no iterations."""

    expansion: Expansion
    repair: Repair | None
    prove: Prove
    status: Status = Status.CONVERGED


def _fit_by_products(
    problem: RidgeProblem,
    settings: GramSettings,
    fitted: FittedKernel,
    objects: Objects,
    limits: Limits,
    gram: Gram,
) -> iterative.Found | None:
    """Solve iteratively if a factorisation would take long or not fit; None if a factorisation is better."""
    fits, n = gram.fits(), len(objects)
    pays = cost.ridge_products_pay(n, numbers_of(objects), iterative.rank_for(n))
    if (fits and not pays) or gram.expensive or not fitted.kernel.psd:
        return None
    found = iterative.solve(
        gram_of(fitted, objects, memory=settings.memory), problem.targets, problem.alpha, problem.weights,
        intercept=problem.intercept, limits=limits,
        unless=lambda products: fits and cost.factor_pays(n, numbers_of(objects), products),
    )  # fmt: skip
    if found is None or found.residual <= iterative.ENOUGH:
        return found
    if fits:
        return None
    if found.residual >= 1.0:
        raise KernelError(
            f"K + alpha I cannot be solved in floating point: alpha = {problem.alpha.min():g} is too small for this "
            f"kernel and {len(objects):,} objects. Raise alpha."
        )
    warnings.warn(
        f"The system of ridge regression is solved to a relative residual of {found.residual:.2g}, not "
        f"to {iterative.ENOUGH:g}: alpha is small for this kernel, or time ran out. Raise alpha or time_limit.",
        KernelWarning,
        stacklevel=5,
    )
    return found


def _rows_in_passes(settings: GramSettings, fitted: FittedKernel, objects: Objects) -> BlockRows | None:
    """Rows of many objects with few features, for which one pass is enough; None if a matrix is needed."""
    in_blocks = streams(fitted, objects)
    if not in_blocks and (isinstance(objects, Streamed) or not by_features(settings, fitted, objects, [Squared()])):
        return None
    rows = many_rows(fitted, objects, settings.memory)
    return rows if rows is not None and rows.shape[1] <= normal_equations.MOST_FEATURES else None


def _fit_in_passes(
    problem: RidgeProblem,
    rows: BlockRows,
    fitted: FittedKernel,
    objects: Objects,
    limits: Limits,
    began: float,
) -> tuple[Expansion, Repair | None, Prove]:
    """Solve from sums over one pass; coefficients of objects in memory need a second pass."""
    y, weights, alpha = problem.targets, problem.weights, problem.alpha
    sums = RidgeSums.of(rows, rows.example(), y, weights, intercept=problem.intercept)
    v = sums.solved(alpha, limits)
    intercept = sums.intercepts(v)
    if isinstance(objects, Streamed):
        expansion, _ = of_weights(fitted, objects, v, intercept)
    else:
        left = y - (rows @ v) - intercept
        expansion = Expansion(fitted, objects, weights[:, None] * left / alpha, intercept, v)
    parts = tuple(
        Certificate(
            primal, dual, worst, 1.0 / max(float(np.linalg.norm(v[:, column])), _TINY), 1,
            kernel_entries=0, seconds=0.0, dtype=rows.dtype.name,
        )
        for column, (primal, dual, worst) in enumerate(np.transpose(sums.bounds(v, alpha)).tolist())
    )  # fmt: skip
    entries = len(objects) * rows.shape[1]
    proof = Certificate.together(parts, entries, time.monotonic() - began)
    return expansion, None, lambda: proof


def zero_weights(expansion: Expansion) -> Float64:
    """Zero weights for the support objects of a machine trained from blocks, which only represent all objects."""
    return np.zeros(len(expansion.support))


def ridge_claims(problem: RidgeProblem) -> list[Claim]:
    """The machine of each output, in the common form C sum_i w_i loss + 1/2 |w|^2, where alpha is 1 / C."""
    every = np.arange(len(problem.weights))
    return [
        Claim(
            LossProblem(Squared(), problem.targets[:, column], problem.weights / alpha, intercept=problem.intercept),
            every,
            column,
        )
        for column, alpha in enumerate(problem.alpha)
    ]


def certify_ridge(
    problem: RidgeProblem, found: Recomputed, intercept: Float64, seconds: float, dtype: str = "float64"
) -> Certificate:
    """One certificate for all outputs; `dtype` is the precision of the matrix."""
    parts = []
    for column, alpha in enumerate(problem.alpha):
        # In the common form C sum_i w_i loss + 1/2 |w|^2, alpha is 1 / C.
        common = LossProblem(Squared(), problem.targets[:, column], problem.weights / alpha)
        coefficients, outputs = found.coefficients[:, column], found.outputs[:, column]
        constant = float(intercept[column])
        proof = certify(
            common, coefficients, outputs, constant, iterations=1, dtype=dtype, diagonal=found.diagonal
        )  # fmt: skip
        parts.append(proof)
    return Certificate.together(tuple(parts), found.entries, seconds)


def checked_alpha(owner: str, alpha: Any, n_outputs: int) -> Float64:
    """One penalty for each output."""
    if np.ndim(alpha) == 0:
        value = _check.real(owner, "alpha", alpha, low=0, low_open=True, high_open=True, remedy=_ZERO)
        return np.full(n_outputs, value)
    values = np.asarray(alpha, dtype=np.float64)
    if values.shape != (n_outputs,) or not np.isfinite(values).all() or (values <= 0).any():
        raise _check.fail(owner, "alpha", f"a number > 0, or {n_outputs} of them, one per output", alpha, _ZERO)
    return values
