"""One machine: a loss, a Gram matrix, the solver that suits the loss, and the proof of the result."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import _check, _registry
from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.gram.contract import Gram
from mercer.losses.base import Box, Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.perceptron import PerceptronLoss
from mercer.solvers.box.choice import SMO, STEPPED
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.smooth import newton
from mercer.solvers.smooth.factored import factor_of
from mercer.solvers.solution import Solution, Status
from mercer.training import on_features
from mercer.training.certificate import Certificate, objective, smooth_certificate, violation
from mercer.training.warm_start import Sharing


@final
@dataclass(frozen=True, eq=False)
class Machine:
    """f(x) = sum_i coefficients[i] k(x_i, x) + intercept over the objects of its Gram matrix."""

    coefficients: Float64
    intercept: Any
    status: Status
    certificate: Certificate

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED


def train(
    gram: Gram,
    loss: Loss,
    y: Float64,
    C: Float64,
    *,
    tol: float,
    intercept: bool,
    outputs: int = 1,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
    sharing: Sharing | None = None,
) -> Machine:
    """Minimise 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)) on this Gram matrix."""
    box = loss.as_box(y, C)
    refuse_pointless(loss, box)
    rows = gram.factor
    if rows is not None and on_features.solves(loss, rows, outputs):
        solution = on_features.solve(
            rows, loss, y, C, tol=tol, intercept=intercept, outputs=outputs, limits=limits, on_chunk=on_chunk
        )
        coefficients, products = solution.coefficients, solution.outputs
    elif box is None:
        problem = newton.SmoothProblem(loss, y, C, outputs, intercept)
        solution = newton.solve(gram, problem, tol=tol, limits=limits, on_chunk=on_chunk)
        if solution.status is Status.STALLED and len(y) <= newton.MOST_FACTORED:
            solution = _rescued(gram, problem, solution, tol, limits, on_chunk)
        coefficients, products = solution.coefficients, solution.outputs
    else:
        dual = _kinked(box, len(y)) if intercept else None
        copies = 1 if dual is not None else box.copies
        if dual is None:
            dual = BoxProblem(box.linear, box.lower, box.upper, 0.0 if intercept else None)
        # Copies of an object are rows and columns of the same matrix, met more than once.
        repeated = gram if copies == 1 else gram.view(np.tile(np.arange(len(y)), copies))
        start = None if sharing is None else sharing.start(loss, y, box, intercept=intercept)
        if start is not None and copies < box.copies:
            start = start.reshape(2, len(y)).sum(axis=0)
        solution = SMO().solve(repeated, dual, start=start, tol=tol, limits=limits, on_chunk=on_chunk)
        coefficients = solution.coefficients.reshape(copies, len(y)).sum(axis=0)
        if sharing is not None:
            ended = _in_copies(box, coefficients) if copies == 1 else solution.coefficients
            sharing.ended(loss, y, box, ended, intercept=intercept)
        products = solution.outputs[: len(y)]
    proof = certify(
        loss,
        y,
        C,
        coefficients,
        products,
        solution.intercept,
        has_intercept=intercept,
        iterations=solution.stats.iterations,
        dtype=np.dtype(gram.dtype).name,
        box=box,
    )
    return Machine(coefficients, solution.intercept, solution.status, proof)


def _rescued(
    gram: Gram,
    problem: newton.SmoothProblem,
    stalled: Solution,
    tol: float,
    limits: Limits | None,
    on_chunk: OnChunk | None,
) -> Solution:
    """The machine on a factor of the matrix, if that is nearer to the optimum."""
    found = on_features.solve(
        factor_of(gram), problem.loss, problem.y, problem.C,
        tol=tol, intercept=problem.intercept, outputs=problem.outputs, limits=limits, on_chunk=on_chunk,
    )  # fmt: skip
    found = dataclasses.replace(found, outputs=gram.matvec(found.coefficients))

    def violated(solution: Solution) -> float:
        proof = smooth_certificate(
            problem.loss, problem.y, problem.C, solution.coefficients, solution.outputs, solution.intercept,
            iterations=0, dtype="",
        )  # fmt: skip
        return proof.kkt_violation

    return found if violated(found) < violated(stalled) else stalled


def _kinked(box: Box, n: int) -> BoxProblem | None:
    """Two copies that meet at zero, the dearer one above, are one variable whose cost has a kink there."""
    if box.copies != 2:
        return None
    (above, below), (least, lower), (upper, most) = (
        np.reshape(part, (2, n)) for part in (box.linear, box.lower, box.upper)
    )
    kink = (above - below) / 2
    if least.any() or most.any() or (kink <= 0).any():
        return None
    return BoxProblem((above + below) / 2, lower, upper, 0.0, kink=kink)


def _in_copies(box: Box, coefficients: Float64) -> Float64:
    """Of two copies, the first holds what is positive and the second what is negative."""
    if box.copies == 1:
        return coefficients
    return np.concatenate([np.maximum(coefficients, 0.0), np.minimum(coefficients, 0.0)])


def certify(
    loss: Loss,
    y: Float64,
    C: Float64,
    coefficients: Float64,
    outputs: Float64,
    intercept: Any,
    *,
    has_intercept: bool,
    iterations: int,
    dtype: str,
    box: Box | None = None,
) -> Certificate:
    """The certificate of given coefficients, from K @ coefficients alone; `box` is the loss's, where it is known."""
    box = box or loss.as_box(y, C)
    if box is None:
        return smooth_certificate(loss, y, C, coefficients, outputs, intercept, iterations=iterations, dtype=dtype)
    copies = _in_copies(box, coefficients)
    products = np.tile(outputs, box.copies)
    primal, length = objective(loss, y, C, coefficients, outputs, intercept)
    dual = -0.5 * length**2 - float(box.linear @ copies)
    worst = violation(box.lower, box.upper, copies, -(products + box.linear), intercept=has_intercept)
    margin = 1.0 / length if length > 0 else np.inf
    return Certificate(primal, dual, worst, margin, iterations, kernel_entries=0, seconds=0.0, dtype=dtype)


def worth_storing(gram: Gram, losses: Sequence[Loss], *, intercept: bool) -> bool:
    """Whether machines with these losses use most of the Gram matrix: one box problem needs no more than some rows.

    A tube around the function leaves out many objects: up to some number of them, half a matrix is computed sooner than
    all their rows.
    """
    if len(losses) > 1 or losses[0].smooth:
        return True
    n = gram.shape[0]
    return n <= STEPPED and intercept and not gram.expensive and isinstance(losses[0], EpsilonInsensitive)


def loss_of(owner: str, loss: Any) -> Loss:
    """A loss object; a name means the loss with its default parameters."""
    if isinstance(loss, str):
        found: Loss = _registry.find(_registry.LOSSES, loss, "loss").load()()
        return found
    rule = "the name of a loss or a loss object, such as Hinge()"
    checked: Loss = _check.instance(owner, "loss", loss, Loss, rule)
    return checked


def refuse_pointless(loss: Loss, box: Box | None = None) -> None:
    """Some losses have no sensible minimiser beside a penalty on |w|; `box` is the loss's dual, where it is known."""
    if isinstance(loss, PerceptronLoss):
        raise ParameterError(
            "The perceptron loss beside a penalty on |w| is smallest at w = 0, which predicts nothing. "
            "Use the perceptron algorithm, or a loss with a margin: Hinge(), Logistic()."
        )
    if not (loss.smooth or box or loss.as_box(np.ones(1), np.ones(1))):
        raise ParameterError(
            f"No exact solver is known for {loss!r}: it is neither smooth nor has a dual that is a box problem. "
            "Give it slope and curvature (smooth = True), or as_box."
        )


def warn_if_unfinished(estimator: Any, machines: list[Machine]) -> None:
    """Say that training stopped early, why, and what to do."""
    unfinished = [machine for machine in machines if not machine.converged]
    if not unfinished:
        return
    worst = max(machine.certificate.kkt_violation for machine in unfinished)
    where = "" if len(machines) == 1 else f" for {len(unfinished)} of {len(machines)} machines"
    warnings.warn(
        f"{type(estimator).__name__} did not converge{where}: the largest violation is {worst:.3g}, tol is "
        f"{estimator.tol:g}. {unfinished[0].status.value}",
        ConvergenceWarning,
        stacklevel=3,
    )
