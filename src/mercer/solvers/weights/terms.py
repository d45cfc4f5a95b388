"""The contribution of rows to the objective of a linear machine: the sum of their losses, with slopes and curvatures.

A loss with a quadratic dual is evaluated from that dual in one compiled loop; others by their own functions. A
wider ridge in the dual is a smoother loss: Moreau's envelope, with a parabola in place of each kink.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.losses.dual import Dual
from mercer.solvers.weights.problem import LinearProblem


class Terms(ABC):
    """Weighted losses of all rows, as functions of their outputs f."""

    @abstractmethod
    def judge(self, block: slice, f: Float64, slope: Float64, curvature: Float64) -> float:
        """The sum of the weighted losses of some rows; writes their weighted slopes and curvatures into the arrays."""

    @abstractmethod
    def part(self, block: slice) -> Terms:
        """Those of some rows."""

    @abstractmethod
    def slope_along(self, f: Float64, change: Float64, size: float) -> float:
        """The derivative of the sum over all rows in the size of a step that changes f by size * change."""


def terms_of(problem: LinearProblem) -> Terms:
    """The terms of a problem whose loss is smooth."""
    return LossTerms(problem.loss, problem.y, problem.C) if problem.dual is None else DualTerms.of(problem.dual)


@final
class LossTerms(Terms):
    """By the functions of the loss."""

    def __init__(self, loss: Loss, y: Float64, C: Float64) -> None:
        self._loss, self._y, self._C = loss, y, C

    def part(self, block: slice) -> LossTerms:
        return LossTerms(self._loss, self._y[block], self._C[block])

    def judge(self, block: slice, f: Float64, slope: Float64, curvature: Float64) -> float:
        y, C = self._y[block], self._C[block]
        np.multiply(C, self._loss.slope(y, f), out=slope)
        np.multiply(C, self._loss.curvature(y, f), out=curvature)
        return float(C @ self._loss.value(y, f))

    def slope_along(self, f: Float64, change: Float64, size: float) -> float:
        return float((self._C * self._loss.slope(self._y, f + size * change)) @ change)


@final
class DualTerms(Terms):
    """By the dual, whose ridges are positive: one over them is the curvature of each parabola."""

    def __init__(self, *pieces: Float64) -> None:
        self._pieces = pieces

    @classmethod
    def of(cls, dual: Dual) -> DualTerms:
        return cls(dual.linear, dual.kink, dual.lower, dual.upper, 1.0 / dual.ridge)

    def part(self, block: slice) -> DualTerms:
        return DualTerms(*(piece[block] for piece in self._pieces))

    def judge(self, block: slice, f: Float64, slope: Float64, curvature: Float64) -> float:
        linear, kink, lower, upper, steepness = (part[block] for part in self._pieces)
        return float(_judge(linear, kink, lower, upper, steepness, f, slope, curvature))

    def slope_along(self, f: Float64, change: Float64, size: float) -> float:
        linear, kink, lower, upper, steepness = self._pieces
        return float(_slope_along(linear, kink, lower, upper, steepness, f, change, size))


@jit
def _beyond(error: float, kink: float) -> float:
    """The part of an error that lies beyond the tube."""
    return error - min(max(error, -kink), kink)


@jit
def _judge(
    linear: Array, kink: Array, lower: Array, upper: Array, steepness: Array, f: Array, slope: Array, curvature: Array
) -> float:
    total = 0.0
    for i in range(f.shape[0]):
        error = _beyond(f[i] + linear[i], kink[i])
        low, high = -upper[i], -lower[i]
        slope[i] = min(max(steepness[i] * error, low), high)
        total += slope[i] * (error - 0.5 * slope[i] / steepness[i])
        curved = low < slope[i] < high and (kink[i] == 0.0 or error != 0.0)  # within a tube there is no slope at all
        curvature[i] = steepness[i] if curved else 0.0
    return total


@jit
def _slope_along(
    linear: Array, kink: Array, lower: Array, upper: Array, steepness: Array, f: Array, change: Array, size: float
) -> float:
    total = 0.0
    for i in range(f.shape[0]):
        error = _beyond(f[i] + size * change[i] + linear[i], kink[i])
        total += min(max(steepness[i] * error, -upper[i]), -lower[i]) * change[i]
    return total
