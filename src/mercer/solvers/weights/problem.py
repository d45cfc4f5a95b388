"""The primal problem of linear machines, and what their solvers return."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.solvers.solution import Stats, Status


@final
@dataclass(frozen=True, eq=False)
class LinearProblem:
    """Minimise 1/2 |w|^2 + 1/2 (c / freedom)^2 + sum_i C_i loss(y_i, <w, x_i> + c).

    `freedom` is how free the intercept c is: 0 means that there is none, infinity that it is not penalised; between
    them, c is the weight of one more feature of that value.
    """

    rows: Any
    """A C-contiguous array or CSR, of float64 or float32."""
    loss: Loss
    y: Float64
    C: Float64
    freedom: float = 0.0

    @property
    def n_features(self) -> int:
        return int(self.rows.shape[1])

    def intercept_penalty(self, c: float) -> float:
        return 0.0 if self.freedom == 0 or math.isinf(self.freedom) else 0.5 * (c / self.freedom) ** 2


@final
@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Weights, and the dual coefficients that prove how good they are."""

    w: Float64
    intercept: float
    dual: Float64
    """b, with w = sum_i b_i x_i at the optimum."""
    primal: float
    lower_bound: float
    """The dual objective at b: no weights have a primal objective below it."""
    status: Status
    stats: Stats


def bounds(problem: LinearProblem, w: Float64, c: float, f: Float64, b: Float64, image: Float64) -> tuple[float, float]:
    """The objective of (w, c), whose outputs are f, and the dual objective of b, whose image is sum_i b_i x_i.

    An unpenalised intercept asks for sum(b) = 0 (see `balanced`); a penalised one adds its share to the image.
    """
    loss, y, C = problem.loss, problem.y, problem.C
    primal = 0.5 * float(w @ w) + problem.intercept_penalty(c) + float(C @ loss.value(y, f))
    dual = -0.5 * float(image @ image) - float(C @ loss.conjugate(y, -b / C))
    if 0 < problem.freedom < math.inf:
        dual -= 0.5 * (problem.freedom * float(b.sum())) ** 2
    return primal, dual


def balanced(b: Float64) -> Float64:
    """b with the heavier of its signs scaled down until it sums to zero; no bound on b is crossed by that."""
    positive, negative = float(b[b > 0].sum()), -float(b[b < 0].sum())
    heavy = max(positive, negative)
    if heavy == 0.0 or positive == negative:
        return b
    ratio = min(positive, negative) / heavy
    scaled: Float64 = np.where((b > 0) == (positive > negative), ratio * b, b)
    return scaled
