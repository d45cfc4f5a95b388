"""The primal problem of linear machines, and what their solvers return."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np

from mercer._cached import cached_property
from mercer._types import Float64, Indices
from mercer.losses.base import Loss
from mercer.losses.dual import Dual
from mercer.solvers.solution import Stats, Status
from mercer.solvers.weights.row_products import RowProducts


@final
@dataclass(frozen=True, eq=False)
class LinearProblem:
    """Minimise 1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c).

    With an intercept scale of 0 there is no intercept c; with infinity it is not penalised. Between them, c is the
    weight of an additional feature of that value.
    """

    rows: Any
    """A C-contiguous array or CSR, of float64 or float32."""
    loss: Loss
    y: Float64
    C: Float64
    intercept_scale: float = 0.0

    @property
    def n_features(self) -> int:
        return int(self.rows.shape[1])

    @cached_property
    def dual(self) -> Dual | None:
        """The dual of the losses, where it is quadratic."""
        return self.loss.dual(self.y, self.C)

    @property
    def free_intercept(self) -> bool:
        """Whether there is an intercept without a penalty."""
        return math.isinf(self.intercept_scale)

    def feasible(self, b: Float64) -> Float64:
        """Feasible dual coefficients: a free intercept requires that they sum to zero."""
        return balanced(b) if self.free_intercept else b


@final
@dataclass(frozen=True, eq=False)
class OneVsRestProblem:
    """One machine for each class against the rest, on the same rows."""

    rows: Any
    loss: Loss
    codes: Indices
    """The class of each row."""
    C: Float64
    """The penalty of each row ..."""
    factors: Float64
    """... and its factor, for each class, in the machine of the row's own class."""
    intercept_scale: float = 0.0

    def all(self) -> tuple[Float64, Float64]:
        """Targets and penalties of all machines, one row each."""
        own = self.codes == np.arange(len(self.factors))[:, None]
        return np.where(own, 1.0, -1.0), np.where(own, self.C * self.factors[:, None], self.C)

    def single(self, k: int) -> LinearProblem:
        """The machine of class k."""
        own = self.codes == k
        C = np.where(own, self.C * self.factors[k], self.C)
        return LinearProblem(self.rows, self.loss, np.where(own, 1.0, -1.0), C, self.intercept_scale)


@final
@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Weights, and dual coefficients that certify them."""

    w: Float64
    intercept: float
    dual: Float64
    """b, with w = sum_i b_i x_i at the optimum."""
    primal: float
    lower_bound: float
    """The dual objective at b: a lower bound on the primal objective of any weights."""
    status: Status
    stats: Stats
    violation: float | None = None
    """The largest violation of optimality, if the gap does not bound the distance from the best weights."""


def unit_dual(loss: Loss) -> Dual | None:
    """The dual of two objects with labels -1 and +1 and penalties of 1; it has the same form for other objects."""
    try:
        return _known_dual(loss)
    except TypeError:  # a user's loss that has no hash
        return _unit_dual(loss)


def _unit_dual(loss: Loss) -> Dual | None:
    return loss.dual(np.array([-1.0, 1.0]), np.ones(2))


_known_dual = lru_cache(_unit_dual)
"""Cached: it is needed many times in a small fit."""


def bounds(problem: LinearProblem, w: Float64, c: float, f: Float64, b: Float64, image: Float64) -> tuple[float, float]:
    """The objective of (w, c) with outputs f, and the dual objective of b with the image sum_i b_i x_i."""
    loss, y, C, scale = problem.loss, problem.y, problem.C, problem.intercept_scale
    if problem.dual is None:
        losses, conjugates = C @ loss.value(y, f), C @ loss.conjugate(y, -b / C)
    else:
        losses, conjugates = problem.dual.value(f).sum(), problem.dual.price(b).sum()
    primal = 0.5 * float(w @ w) + float(losses)
    dual = -0.5 * float(image @ image) - float(conjugates)
    if 0.0 < scale < math.inf:
        primal += 0.5 * (c / scale) ** 2
        dual -= 0.5 * (scale * float(b.sum())) ** 2
    return primal, dual


def proven(
    problem: LinearProblem, rows: RowProducts, w: Float64, c: float, f: Float64, b: Float64, image: Float64
) -> tuple[Float64, float, float]:
    """Make b feasible; returns it, the objective of (w, c) with outputs f, the dual objective of b, and its image."""
    feasible = problem.feasible(b)
    if feasible is not b:
        image = image - rows.combination(b - feasible)
    return feasible, *bounds(problem, w, c, f, feasible, image)


def relative_gap(primal: float, dual: float) -> float:
    """The relative duality gap."""
    return (primal - dual) / max(abs(primal), np.finfo(float).tiny)


def balanced(b: Float64) -> Float64:
    """Scale down the coefficients of the heavier sign until all sum to zero; this crosses no bound."""
    positive, negative = float(b[b > 0].sum()), -float(b[b < 0].sum())
    heavy = max(positive, negative)
    if heavy == 0.0 or positive == negative:
        return b
    ratio = min(positive, negative) / heavy
    scaled: Float64 = np.where((b > 0) == (positive > negative), ratio * b, b)
    return scaled
