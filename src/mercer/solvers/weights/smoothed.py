"""Newton's method for losses with kinks, through ever closer smooth ones; for linear machines of few features.

Problem   minimise  1/2 |w|^2 + 1/2 (c / freedom)^2 + sum_i C_i loss(y_i, <w, x_i> + c)
Given     a `LinearProblem` with the hinge, epsilon-insensitive or pinball loss, of up to about a thousand features
Result    w, c, dual coefficients, and the duality gap for the loss with its kinks
Source    Moreau's envelope as the smooth loss; continuation in its width as usual for interior paths

The envelope of width d replaces each kink by a parabola of that width. Its slopes lie within those of the loss, so that
b_i = -C_i slope is feasible for the dual of the loss itself, and the gap that ends the method is the true one.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.quantile import Quantile
from mercer.solvers.drive import Limits, OnChunk, drive
from mercer.solvers.solution import Status
from mercer.solvers.weights import coordinate_descent
from mercer.solvers.weights.newton import PrimalNewtonRun, thinned
from mercer.solvers.weights.problem import LinearProblem, LinearSolution, balanced, bounds
from mercer.solvers.weights.row_products import Rows, rows_of

_WIDEST = 2.0
_NARROWER = 8.0
_WIDER = 2.0
_START_TOL = 3e-2
_NARROWEST = 1e-12
_SHARE_OF_TOL = 0.2


Kinked = Hinge | EpsilonInsensitive | Quantile


@final
@dataclass(frozen=True)
class Smoothed(Loss):
    """min over u of loss(y, u) + (f - u)^2 / (2 width): the Moreau envelope of a loss with kinks.

    >>> Smoothed(Hinge(), 0.5).value(np.array([1.0, 1.0, 1.0]), np.array([1.0, 0.75, 0.0]))
    array([0.    , 0.0625, 0.75  ])
    """

    loss: Kinked
    width: float

    smooth = True

    @property
    def classifies(self) -> bool:  # type: ignore[override]
        return self.loss.classifies

    def ends(self) -> tuple[float, float]:
        """The least and the largest slope, in the direction of `_error`."""
        match self.loss:
            case Hinge():
                return -1.0, 0.0
            case EpsilonInsensitive():
                return -1.0, 1.0
            case Quantile(tau):
                return -tau, 1.0 - tau

    def _error(self, y: Float64, f: Float64) -> Float64:
        """How far f is beyond the kink, on its one side and on the other."""
        match self.loss:
            case Hinge():
                return np.asarray(y * f - 1.0)
            case EpsilonInsensitive(epsilon):
                error = f - y
                return np.asarray(error - np.clip(error, -epsilon, epsilon))
            case Quantile():
                return np.asarray(f - y)

    def value(self, y: Float64, f: Float64) -> Float64:
        error = self._error(y, f)
        share = np.clip(error / self.width, *self.ends())
        return np.asarray(share * (error - 0.5 * self.width * share))

    def slope(self, y: Float64, f: Float64) -> Float64:
        share = np.clip(self._error(y, f) / self.width, *self.ends())
        return np.asarray(y * share if isinstance(self.loss, Hinge) else share)

    def curvature(self, y: Float64, f: Float64) -> Float64:
        error = self._error(y, f)
        low, high = self.ends()
        curved = (error > low * self.width) & (error < high * self.width)
        if isinstance(self.loss, EpsilonInsensitive) and self.loss.epsilon > 0:
            curved &= error != 0.0  # within the tube there is no slope at all
        return np.where(curved, 1.0 / self.width, 0.0)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        return np.asarray(self.loss.conjugate(y, a) + 0.5 * self.width * a * a)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(Hinge(), 1.0)
        yield cls(EpsilonInsensitive(0.1), 0.5)
        yield cls(Quantile(0.3), 0.5)


class SmoothedRun(PrimalNewtonRun):
    """Newton's method on parabolas in place of kinks, with value, slope and curvature of a row at one go."""

    def __init__(self, problem: LinearProblem, rows: Rows, start: Float64 | None, tol: float) -> None:
        smoothed = problem.loss
        assert isinstance(smoothed, Smoothed)
        epsilon = smoothed.loss.epsilon if isinstance(smoothed.loss, EpsilonInsensitive) else 0.0
        self._shape = isinstance(smoothed.loss, Hinge), epsilon, *smoothed.ends(), smoothed.width
        super().__init__(problem, rows, start, tol)

    def _judge(self, y: Float64, C: Float64, f: Float64, slope: Float64, curvature: Float64) -> float:
        return float(_parabolas(*self._shape, y, C, f, slope, curvature))

    def _pull(self, f: Float64, change: Float64, size: float) -> float:
        return float(_pull(*self._shape, self._problem.y, self._problem.C, f, change, size))


@jit
def _error(hinge: bool, epsilon: float, y: float, f: float) -> float:
    """How far f is beyond the kink, on its one side and on the other."""
    if hinge:
        return y * f - 1.0
    error = f - y
    return error - min(max(error, -epsilon), epsilon)


@jit
def _parabolas(
    hinge: bool,
    epsilon: float,
    low: float,
    high: float,
    width: float,
    y: Array,
    C: Array,
    f: Array,
    slope: Array,
    curvature: Array,
) -> float:
    total = 0.0
    for i in range(f.shape[0]):
        error = _error(hinge, epsilon, y[i], f[i])
        share = min(max(error / width, low), high)
        total += C[i] * share * (error - 0.5 * width * share)
        slope[i] = C[i] * share * (y[i] if hinge else 1.0)
        curved = low < share < high and (epsilon == 0.0 or error != 0.0)  # within a tube there is no slope at all
        curvature[i] = C[i] / width if curved else 0.0
    return total


@jit
def _pull(
    hinge: bool,
    epsilon: float,
    low: float,
    high: float,
    width: float,
    y: Array,
    C: Array,
    f: Array,
    change: Array,
    size: float,
) -> float:
    total = 0.0
    for i in range(f.shape[0]):
        share = min(max(_error(hinge, epsilon, y[i], f[i] + size * change[i]) / width, low), high)
        total += C[i] * share * (y[i] if hinge else 1.0) * change[i]
    return total


def solve(
    problem: LinearProblem, *, tol: float = 1e-4, limits: Limits | None = None, on_chunk: OnChunk | None = None
) -> LinearSolution:
    """Minimise until the duality gap is at most `tol` of the objective, or as far as the limits allow."""
    began = time.monotonic()
    limits = limits or Limits()
    theta, width = _start(problem, limits, began)
    solution = _Path(problem, tol, limits, on_chunk, began).follow(theta, width)[0]
    if solution.status is not Status.STALLED:
        return solution
    # Penalties of very different size leave parabolas too narrow for float64: one coefficient at a time still works.
    return coordinate_descent.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)


def _start(problem: LinearProblem, limits: Limits, began: float) -> tuple[Float64 | None, float]:
    """Where to begin, and how wide: from the rough solution on a few of many rows, or from nothing."""
    few = thinned(problem)
    if few is None:
        return None, _WIDEST * _scale(problem)
    theta, width = _start(few, limits, began)
    _, theta, width = _Path(few, _START_TOL, limits, None, began).follow(theta, width)
    return theta, _WIDER * width


def _scale(problem: LinearProblem) -> float:
    """How far the zero function is beyond the kinks: parabolas as wide as that hold every row at first."""
    return 1.0 if problem.loss.classifies else float(np.abs(problem.y).max()) or 1.0


@final
class _Path:
    """Ever narrower parabolas, each minimised from where the last one ended."""

    def __init__(
        self, problem: LinearProblem, tol: float, limits: Limits, on_chunk: OnChunk | None, began: float
    ) -> None:
        self._problem, self._tol, self._limits, self._on_chunk, self._began = problem, tol, limits, on_chunk, began
        self._rows = rows_of(problem.rows)
        self._iterations = 0

    def follow(self, theta: Float64 | None, width: float) -> tuple[LinearSolution, Float64, float]:
        """The solution, where it ended, and at which width."""
        narrowest = _NARROWEST * _scale(self._problem)
        while True:
            solution, theta = self._minimise(theta, width)
            gap = solution.stats.gap
            limited = solution.status in (Status.OUT_OF_ITERATIONS, Status.OUT_OF_TIME)
            if gap <= self._tol:
                return dataclasses.replace(solution, status=Status.CONVERGED), theta, width
            if limited or width <= narrowest or solution.status is Status.STALLED:
                status = solution.status if limited else Status.STALLED
                return dataclasses.replace(solution, status=status), theta, width
            width = max(width / _NARROWER, narrowest)

    def _minimise(self, theta: Float64 | None, width: float) -> tuple[LinearSolution, Float64]:
        problem, inner = self._problem, _SHARE_OF_TOL * self._tol
        loss = problem.loss
        assert isinstance(loss, Kinked)
        run = SmoothedRun(dataclasses.replace(problem, loss=Smoothed(loss, width)), self._rows, theta, inner)
        most = self._limits.max_iter
        left = self._limits if most < 0 else dataclasses.replace(self._limits, max_iter=most - self._iterations)
        found = drive(run, inner, left, self._on_chunk, self._began)
        self._iterations += found.stats.iterations
        w, b = run.theta[: problem.n_features], found.coefficients
        if math.isinf(problem.freedom):
            b = balanced(b)
        primal, dual = bounds(problem, w, run.c, found.outputs, b, self._rows.combination(b))
        gap = (primal - dual) / max(abs(primal), np.finfo(float).tiny)
        stats = dataclasses.replace(found.stats, iterations=self._iterations, gap=gap)
        return LinearSolution(w, run.c, b, primal, dual, found.status, stats), run.theta
