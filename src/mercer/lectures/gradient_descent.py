"""Gradient descent on the expansion: on z and b, with f(x) = sum_i z_i k(x_i, x) + b.

Problem     minimise  E(z, b) = ridge/2 z'Kz + C sum_i loss(y_i, k_i.z + b),  k_i the i-th column of K
Softmax     ridge = lambda, C = 1, loss(y, f) = log(1 + exp(-y f)), the smooth perceptron
Smooth SVM  ridge = 1, loss(y, f) = log(1 + exp(1 - y f)), since max(0, a) is nearly log(1 + exp(a))
Slide       z <- z - eta (ridge K z + C K s),  b <- b - eta C sum_i s_i,  with s_i = dloss/df at k_i.z + b
Corrected   eta from the curvature met in the last step (Barzilai and Borwein, 1988), halved until the objective falls
            by a fraction of what the slope promises
Constant    one eta for all steps. For the smooth SVM none is printed, which is eta = 1, and diverges unless K is small
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.lectures.run import LectureRun
from mercer.losses.base import Loss

_ARMIJO = 1e-4
"""The fraction of the promised decrease that a step must achieve, the usual value: a larger one cuts good steps short,
a smaller one accepts steps that hardly descend."""
_SHORTEST = 2.0**-60
"""Steps below this, far beyond the 53 bits of a float, change nothing: descent has ended."""


@final
@dataclass(eq=False)
class GradientDescent(LectureRun):
    """At most `steps` steps, fewer if the gradient falls below `tol` times its length at the start."""

    gram: Gram
    y: Float64
    loss: Loss
    ridge: float
    C: float
    steps: int
    tol: float = 0.0
    rate: float = 2.0
    """The first step that is tried, or every step ..."""
    constant: bool = False
    """... if steps are constant."""

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.y)
        self._z, self._Kz, self._b = np.zeros(n), np.zeros(n), 0.0
        self._value = self._value_at(self._z, self._Kz, self._b)
        self.record(0, self._value)
        self._rate, self._first = self.rate, 0.0
        self._before: tuple[Float64, float] | None = None

    def point(self) -> tuple[Float64, float]:
        return self._z, self._b

    def one_step(self) -> None:
        slope = self.C * self.loss.slope(self.y, self._Kz + self._b)
        gradient, gradient_b = self.gram.matvec(self.ridge * self._z + slope), float(slope.sum())
        squared = float(gradient @ gradient) + gradient_b**2
        self._first = self._first or squared
        if squared <= self.tol * self.tol * self._first:
            self.done = True
            return
        Kg = self.gram.matvec(gradient)
        rate = self.rate if self.constant else self._tried(gradient, gradient_b)
        while True:
            z, Kz, b = self._z - rate * gradient, self._Kz - rate * Kg, self._b - rate * gradient_b
            value = self._value_at(z, Kz, b)
            if self.constant or value <= self._value - _ARMIJO * rate * squared:
                break
            rate *= 0.5
            if rate < _SHORTEST:
                self.done = True  # nothing left to gain in floating point
                return
        if not np.isfinite(value):
            self.done = self.diverged = True
            return
        self._z, self._Kz, self._b, self._value, self._rate = z, Kz, b, value, rate
        self._before = gradient, gradient_b
        self.iterations += 1
        self.record(self.iterations, value)
        self.done = self.iterations >= self.steps

    def _tried(self, gradient: Float64, gradient_b: float) -> float:
        """The inverse of the curvature along the last gradient, which the last step followed for `_rate`."""
        if self._before is None:
            return self._rate
        last, last_b = self._before
        across = float(last @ (last - gradient)) + last_b * (last_b - gradient_b)
        length = float(last @ last) + last_b**2
        return self._rate * length / across if across > 0.0 else 2.0 * self._rate

    def _value_at(self, z: Float64, Kz: Float64, b: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):  # constant steps may diverge beyond the largest float
            return float(0.5 * self.ridge * (z @ Kz) + self.C * self.loss.value(self.y, Kz + b).sum())
