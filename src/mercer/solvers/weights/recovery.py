"""Dual coefficients for weights whose training was stopped early.

At the optimum the weights are X'b with b_i = -C_i slope(y_i, f_i). Before it, that b may give quite a different
machine, while the weights are as good as time allowed. Then b is changed as little as possible so that it gives the
weights.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.solvers.numerics.symmetric import pseudo_inverse
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge.centred_rows import CentredRows
from mercer.solvers.ridge.normal_equations import MOST_FEATURES
from mercer.solvers.solution import Solution

_AS_GOOD = 1e-3
"""Coefficients whose objective is at most this much larger, relatively, are kept: their certificate is tighter."""


def recover_coefficients(solution: Solution, W: Float64, rows: Any, problem: LossProblem) -> Solution:
    """Give an unfinished solution the coefficients of its weights W, if its own have a clearly larger objective."""
    if solution.converged or rows.shape[1] > MOST_FEATURES:
        return solution
    own = solution.coefficients.reshape(len(problem.C), -1)
    weights = W.reshape(rows.shape[1], -1)
    balanced = own - own.mean(axis=0) if problem.intercept else own
    centred = CentredRows(rows, np.ones(len(own)), intercept=problem.intercept)
    lacking = weights - np.asarray(rows.T @ balanced, dtype=np.float64)
    b = (balanced + centred.outputs(pseudo_inverse(centred.normal()) @ lacking)).reshape(solution.coefficients.shape)
    outputs = np.asarray(rows @ (rows.T @ b), dtype=np.float64)

    def objective(coefficients: Float64, products: Float64) -> float:
        losses = problem.loss.value(problem.y, products + solution.intercept)
        return 0.5 * float((coefficients * products).sum()) + float(problem.C @ losses)

    value = objective(b, outputs)
    if not value < (1.0 - _AS_GOOD) * objective(solution.coefficients, solution.outputs):
        return solution
    return dataclasses.replace(solution, coefficients=b, outputs=outputs, objective=value)
