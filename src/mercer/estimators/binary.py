"""One machine between two classes: a loss, a Gram matrix, a solver, and the proof of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.estimators.certificate import Certificate, objectives, violation
from mercer.gram.matrix import Gram
from mercer.losses.hinge import Hinge
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import BoxProblem
from mercer.solvers.smo import SMO
from mercer.solvers.solution import Status

Float64 = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class BinaryMachine:
    """f(x) = sum_i coefficients[i] k(x_ids[i], x) + intercept."""

    ids: Rows
    coefficients: Float64
    intercept: float
    status: Status
    certificate: Certificate

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED


def train(
    gram: Gram,
    ids: Rows,
    signs: Float64,
    penalties: Float64,
    *,
    tol: float,
    intercept: bool,
    limits: Limits,
    on_chunk: OnChunk | None,
) -> BinaryMachine:
    """Solve the dual of 1/2 |w|^2 + sum_i penalties_i hinge(signs_i, f(x_i)) on this Gram matrix."""
    box = Hinge().as_box(signs, penalties)
    problem = BoxProblem(box.linear, box.lower, box.upper, 0.0 if intercept else None)
    solution = SMO().solve(gram, problem, tol=tol, limits=limits, on_chunk=on_chunk)
    proof = certify(
        signs,
        penalties,
        solution.coefficients,
        solution.outputs,
        solution.intercept,
        has_intercept=intercept,
        iterations=solution.stats.iterations,
        dtype=np.dtype(gram.dtype).name,
    )
    return BinaryMachine(ids, solution.coefficients, solution.intercept, solution.status, proof)


def certify(
    signs: Float64,
    penalties: Float64,
    coefficients: Float64,
    outputs: Float64,
    intercept: float,
    *,
    has_intercept: bool,
    iterations: int,
    dtype: str,
) -> Certificate:
    """The certificate of given coefficients, from K @ coefficients alone."""
    box = Hinge().as_box(signs, penalties)
    primal, dual, length = objectives(Hinge(), signs, penalties, coefficients, outputs, intercept, box.linear)
    worst = violation(box.lower, box.upper, coefficients, -(outputs + box.linear), intercept=has_intercept)
    margin = 1.0 / length if length > 0 else np.inf
    return Certificate(primal, dual, worst, margin, iterations, kernel_entries=0, seconds=0.0, dtype=dtype)
