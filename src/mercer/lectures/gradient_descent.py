"""Gradient descent on the expansion: on z and b, with f(x) = sum_i z_i k(x_i, x) + b.

Problem     minimise  E(z, b) = ridge/2 z'Kz + C sum_i loss(y_i, k_i.z + b),  k_i the i-th column of K
Softmax     ridge = lambda, C = 1, loss(y, f) = log(1 + exp(-y f)), the smooth perceptron
Smooth SVM  ridge = 1, loss(y, f) = log(1 + exp(1 - y f)), since max(0, a) is nearly log(1 + exp(a))
Slide       z <- z - eta (ridge K z + C K s),  b <- b - eta C sum_i s_i,  with s_i = dloss/df at k_i.z + b
Corrected   eta from the curvature met in the last step (Barzilai and Borwein, 1988), halved until the objective falls
            by a share of what the slope promises
Printed     a constant eta; for the smooth SVM none is printed, which is eta = 1, and diverges as soon as K is not small
"""

from __future__ import annotations

from typing import final

import numpy as np

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.lectures.run import LectureRun, TracedFit
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits, OnChunk

_ARMIJO = 1e-4
"""The share of the decrease that the slope promises which a step must achieve, as in the textbooks: larger values cut
good steps short, smaller ones accept steps that hardly descend."""
_SHORTEST = 2.0**-60
"""Steps shorter than this change nothing in floating point, so descent has ended."""


def gradient_descent(
    gram: Gram,
    y: Float64,
    loss: Loss,
    *,
    ridge: float,
    C: float,
    steps: int,
    tol: float = 0.0,
    constant_rate: float | None = None,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> TracedFit:
    """At most `steps` steps, fewer if the gradient falls below `tol` (relative to that at the start)."""
    return _Descent(gram, y, loss, ridge, C, steps, tol, constant_rate).result(limits, on_chunk)


@final
class _Descent(LectureRun):
    def __init__(
        self, gram: Gram, y: Float64, loss: Loss, ridge: float, C: float, steps: int, tol: float, rate: float | None
    ) -> None:
        super().__init__("objective")
        self._gram, self._y, self._loss, self._ridge, self._C = gram, y, loss, ridge, C
        self._steps, self._tol, self._constant = steps, tol, rate
        self.z, self._Kz, self.b = np.zeros(len(y)), np.zeros(len(y)), 0.0
        self._value = self._value_at(self.z, self._Kz, self.b)
        self.recorder.add(0, self._value)
        self._rate, self._first = 1.0, 0.0
        self._before: tuple[Float64, float] | None = None

    def point(self) -> tuple[Float64, Float64, float]:
        return self.z, self._Kz, self.b

    def step(self, iterations: int) -> None:
        for _ in range(iterations):
            self._one()
            if self.done:
                return

    def _one(self) -> None:
        slope = self._C * self._loss.slope(self._y, self._Kz + self.b)
        gradient, gradient_b = self._gram.matvec(self._ridge * self.z + slope), float(slope.sum())
        squared = float(gradient @ gradient) + gradient_b**2
        self._first = self._first or squared
        if squared <= self._tol * self._tol * self._first:
            self.done = True
            return
        Kg = self._gram.matvec(gradient)
        rate = self._constant or self._tried(gradient, gradient_b)
        while True:
            z, Kz, b = self.z - rate * gradient, self._Kz - rate * Kg, self.b - rate * gradient_b
            value = self._value_at(z, Kz, b)
            if self._constant is not None or value <= self._value - _ARMIJO * rate * squared:
                break
            rate *= 0.5
            if rate < _SHORTEST:
                self.done = True  # nothing left to gain in floating point
                return
        if not np.isfinite(value):
            self.done = self.diverged = True
            return
        self.z, self._Kz, self.b, self._value, self._rate = z, Kz, b, value, rate
        self._before = gradient, gradient_b
        self.iterations += 1
        self.recorder.add(self.iterations, value)
        self.done = self.iterations >= self._steps

    def _tried(self, gradient: Float64, gradient_b: float) -> float:
        """The inverse of the curvature met in the last step, which went `rate` along the last gradient."""
        if self._before is None:
            return 2.0 * self._rate
        last, last_b = self._before
        across = float(last @ (last - gradient)) + last_b * (last_b - gradient_b)
        length = float(last @ last) + last_b**2
        return self._rate * length / across if across > 0.0 else 2.0 * self._rate

    def _value_at(self, z: Float64, Kz: Float64, b: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):  # a constant step may outgrow all numbers
            return float(0.5 * self._ridge * (z @ Kz) + self._C * self._loss.value(self._y, Kz + b).sum())
