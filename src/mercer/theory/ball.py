"""The smallest ball around the training objects in feature space.

Problem   minimise r^2 over centres c with |phi(x_i) - c|^2 <= r^2 for all i
Result    c = sum_i a_i phi(x_i), where a maximises sum_i a_i k(x_i, x_i) - a'Ka over a >= 0, sum(a) = 1

The dual is a box problem with a sum constraint, so the solver of support vector machines solves it. The returned radius
is the largest distance from the centre that was found, so it is never too small, however early the solver stops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO


@final
@dataclass(frozen=True, eq=False)
class Ball:
    """Its radius, the convex weights of its centre, and a lower bound on the smallest radius."""

    radius: float
    weights: Float64
    at_least: float


def enclosing_ball(gram: Gram, *, tol: float = 1e-8) -> Ball:
    """The smallest ball; `tol` is relative to the largest k(x, x).

    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> X = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]
    >>> round(enclosing_ball(gram_of(kernels.Linear().fit(X), X)).radius, 6)
    1.0
    """
    own = gram.diagonal()
    n = len(own)
    problem = BoxProblem(-0.5 * own, np.zeros(n), np.ones(n), 1.0)
    scale = max(float(own.max()), np.finfo(float).tiny)
    found = SMO().solve(gram, problem, start=np.full(n, 1.0 / n), tol=tol * scale)
    weights = found.coefficients
    squared = float(weights @ found.outputs)
    farthest = float((own - 2.0 * found.outputs + squared).max())
    dual = float(weights @ own) - squared
    return Ball(math.sqrt(max(farthest, 0.0)), weights, math.sqrt(max(dual, 0.0)))
