"""Train one machine: a loss, a Gram matrix, the solver that suits the loss, and a certificate."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning

from mercer import _check, _registry
from mercer._cached import cached_property
from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.gram.contract import Gram
from mercer.losses.base import Loss
from mercer.solvers.box import refined
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO, STEPPED, patience
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.smooth import newton
from mercer.solvers.smooth.factored import factor_of
from mercer.solvers.solution import Solution, Status
from mercer.solvers.weights.problem import unit_dual
from mercer.training import by_steps, on_features
from mercer.training.certificate import Certificate, Prove, certify
from mercer.training.warm_start import WarmStart


@final
@dataclass(frozen=True, eq=False)
class Machine:
    """f(x) = sum_i coefficients[i] k(x_i, x) + intercept over the objects of its Gram matrix."""

    coefficients: Float64
    intercept: Any
    status: Status
    iterations: int
    prove: Prove

    @cached_property
    def certificate(self) -> Certificate:
        """How close it is to the optimum; computed on first access from the results of the solver."""
        return self.prove()

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED


_LEVELLED = 20_000
"""Objects used to find the best intercept when time has run out: more find it better, but take longer."""


def train(
    gram: Gram,
    problem: LossProblem,
    *,
    tol: float,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
    warm_start: WarmStart | None = None,
) -> Machine:
    """Minimise 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)) on this Gram matrix; see `refuse_pointless` for losses."""
    rows = gram.factor
    if rows is not None and on_features.solves(problem.loss, rows, problem.outputs):
        solution = on_features.solve(rows, problem, tol=tol, limits=limits, on_chunk=on_chunk)
        if gram.dtype is np.float32:
            solution = dataclasses.replace(solution, off=_rounded_rows(gram, solution.coefficients))
    elif problem.loss.smooth:
        solution = newton.solve(gram, problem, tol=tol, limits=limits, on_chunk=on_chunk)
        if solution.status is Status.STALLED and len(problem.y) <= newton.MOST_FACTORED:
            solution = _nearer_on_factor(gram, problem, solution, tol, limits, on_chunk)
    else:
        box = BoxProblem.of(problem)
        start = None if warm_start is None else warm_start.start(problem, box)
        soon = (limits or Limits()).within(patience(box))
        step = SMO().solve if gram.setting.finer is None else refined.solve
        solution = step(gram, box, start=start, tol=tol, limits=soon, on_chunk=on_chunk)
        if solution.status is not Status.CONVERGED:
            solution = by_steps.finished(gram, problem, solution, tol=tol, limits=limits, on_chunk=on_chunk)
        if solution.status is Status.OUT_OF_TIME and problem.intercept:
            solution = _with_best_intercept(problem, solution)
        if warm_start is not None:
            warm_start.record(problem, box, solution.coefficients)
    return machine_of(gram, problem, solution)


def machine_of(gram: Gram, problem: LossProblem, solution: Solution) -> Machine:
    """The machine of a solution, certified for a problem."""
    steps, dtype = solution.stats.iterations, np.dtype(gram.dtype).name
    prove = partial(
        certify, problem, solution.coefficients, solution.outputs, solution.intercept,
        iterations=steps, dtype=dtype, off=solution.off, diagonal=gram.diagonal(),
    )  # fmt: skip
    return Machine(solution.coefficients, solution.intercept, solution.status, steps, prove)


def _with_best_intercept(problem: LossProblem, stopped: Solution) -> Solution:
    """An unfinished solution with the best intercept for its coefficients.

    Its own intercept lies between the two worst violations, which are often those of outliers.
    """
    step = -(-len(problem.y) // _LEVELLED)
    y, C, outputs = problem.y[::step], problem.C[::step], stopped.outputs[::step]
    reach = float(np.abs(outputs).max(initial=0.0) + np.abs(y).max(initial=0.0)) + 1.0

    def loss(level: float) -> float:
        return float(C @ problem.loss.value(y, outputs + level))

    best = float(scipy.optimize.minimize_scalar(loss, bounds=(-reach, reach), method="bounded").x)
    return dataclasses.replace(stopped, intercept=best) if loss(best) < loss(stopped.intercept) else stopped


def _rounded_rows(gram: Gram, b: Float64) -> Float64:
    """A bound on the error of outputs if rows are rounded to float32: 2 u |x| |z| per product."""
    sizes = np.sqrt(gram.diagonal())
    lost = float(np.finfo(np.float32).eps) * np.tensordot(sizes, np.abs(b), axes=1)
    return np.asarray(np.multiply.outer(sizes, lost))


def _nearer_on_factor(
    gram: Gram,
    problem: LossProblem,
    stalled: Solution,
    tol: float,
    limits: Limits | None,
    on_chunk: OnChunk | None,
) -> Solution:
    """The solution on a factor of the matrix, if it is nearer to the optimum."""
    found = on_features.solve(factor_of(gram), problem, tol=tol, limits=limits, on_chunk=on_chunk)
    found = dataclasses.replace(found, outputs=gram.matvec(found.coefficients))

    def violated(solution: Solution) -> float:
        proof = certify(
            problem, solution.coefficients, solution.outputs, solution.intercept, iterations=0, dtype=""
        )  # fmt: skip
        return proof.kkt_violation

    return found if violated(found) < violated(stalled) else stalled


def worth_storing(gram: Gram, losses: Sequence[Loss]) -> bool:
    """Whether training with these losses uses most of the Gram matrix; a single box problem needs only some rows.

    A tube around the function leaves many objects outside: up to a certain number of objects, half the matrix is
    computed faster than all their rows.
    """
    if len(losses) > 1 or losses[0].smooth:
        return True
    dual = unit_dual(losses[0])
    return gram.shape[0] <= STEPPED and not gram.expensive and dual is not None and dual.has_kink


def loss_of(owner: str, loss: Any) -> Loss:
    """A loss object; a name means the loss with its default parameters."""
    if isinstance(loss, str):
        found: Loss = _registry.find(_registry.LOSSES, loss, "loss").load()()
        return found
    rule = "the name of a loss or a loss object, such as Hinge()"
    checked: Loss = _check.instance(owner, "loss", loss, Loss, rule)
    return checked


def refuse_pointless(loss: Loss) -> None:
    """Refuse losses that no solver minimises, and those that w = 0 minimises."""
    dual = None if loss.joint else unit_dual(loss)
    if loss.classifies and dual is not None and not dual.linear.any():
        raise ParameterError(
            f"{loss!r} with a penalty on |w| is smallest at w = 0, which predicts nothing. "
            "Use the perceptron algorithm, or a loss with a margin: Hinge(), Logistic()."
        )
    if not (loss.smooth or (dual is not None and dual.is_box)):
        raise ParameterError(
            f"No exact solver is known for {loss!r}: it is neither smooth nor has a dual that is a box problem. "
            "Give it slope and curvature (smooth = True), or a dual without ridge."
        )


def warn_if_unfinished(estimator: Any, machines: list[Machine], trained: int = 1) -> None:
    """Warn about machines that stopped early: how many of them, why, and what to do."""
    unfinished = [machine for machine in machines if not machine.converged]
    if not unfinished:
        return
    worst = max(machine.certificate.kkt_violation for machine in unfinished)
    known = (
        f"the largest violation is {worst:.3g}" if np.isfinite(worst) else "how far it is from the optimum is not known"
    )
    where = "" if trained == 1 else f" for {len(unfinished)} of {trained} machines"
    early = ""
    if unfinished[0].status is Status.OUT_OF_ITERATIONS:  # scikit-learn's words, including the two spaces
        early = (
            f"Solver terminated early (max_iter={estimator.max_iter}).  Consider pre-processing your data with "
            "StandardScaler or MinMaxScaler. "
        )
    warnings.warn(
        f"{early}{type(estimator).__name__} did not converge{where}: {known}, tol is {estimator.tol:g}. "
        f" {unfinished[0].status.value}",
        ConvergenceWarning,
        stacklevel=3,
    )
