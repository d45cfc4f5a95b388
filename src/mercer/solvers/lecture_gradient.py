"""Gradient descent on the expansion: on z and b, with f(x) = sum_i z_i k(x_i, x) + b.

Problem     minimise  E(z, b) = ridge/2 z'Kz + C sum_i loss(y_i, k_i.z + b),  k_i the i-th column of K
Softmax     ridge = lambda, C = 1, loss(y, f) = log(1 + exp(-y f)), the smooth perceptron
Smooth SVM  ridge = 1, loss(y, f) = log(1 + exp(1 - y f)), since max(0, a) is nearly log(1 + exp(a))
Slide       z <- z - eta (ridge K z + C K s),  b <- b - eta C sum_i s_i,  with s_i = dloss/df at k_i.z + b
Corrected   eta by backtracking: twice the last one, halved until the objective falls by a share of what the slope
            promises
Printed     a constant eta; for the smooth SVM none is printed, which is eta = 1, and diverges as soon as K is not small
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer.gram.matrix import Gram
from mercer.losses.base import Loss
from mercer.solvers.trace import Float64, Recorder, Trace

_ARMIJO = 1e-4
_SHORTEST = 2.0**-60


@final
@dataclass(frozen=True, eq=False)
class Expanded:
    """Coefficients z, intercept b, and how they were reached."""

    coefficients: Float64
    intercept: float
    trace: Trace


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
) -> Expanded:
    """Descend for so many steps, or until the gradient is below `tol` (relative to that at the start)."""
    recorder = Recorder("objective")
    z, Kz, b = np.zeros(len(y)), np.zeros(len(y)), 0.0
    value = _value(loss, y, ridge, C, z, Kz, b)
    recorder.add(0, value)
    rate, first, diverged = 1.0, 0.0, False
    for step in range(1, steps + 1):
        slope = C * loss.slope(y, Kz + b)
        gradient = gram.matvec(ridge * z + slope)
        gradient_b = float(slope.sum())
        squared = float(gradient @ gradient) + gradient_b**2
        first = first or squared
        if squared <= tol * tol * first:
            break
        Kg = gram.matvec(gradient)
        if constant_rate is None:
            rate, new = _searched(loss, y, ridge, C, z, Kz, b, gradient, Kg, gradient_b, 2.0 * rate, value, squared)
            if rate < _SHORTEST:
                break  # nothing left to gain in floating point
        else:
            rate = constant_rate
            new = _value(loss, y, ridge, C, z - rate * gradient, Kz - rate * Kg, b - rate * gradient_b)
        if not np.isfinite(new):
            diverged = True
            break
        z, Kz, b, value = z - rate * gradient, Kz - rate * Kg, b - rate * gradient_b, new
        recorder.add(step, value)
    return Expanded(z, b, recorder.trace(diverged=diverged))


def _value(loss: Loss, y: Float64, ridge: float, C: float, z: Float64, Kz: Float64, b: float) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # a constant step may outgrow all numbers
        return float(0.5 * ridge * (z @ Kz) + C * loss.value(y, Kz + b).sum())


def _searched(
    loss: Loss, y: Float64, ridge: float, C: float, z: Float64, Kz: Float64, b: float,
    gradient: Float64, Kg: Float64, gradient_b: float, rate: float, value: float, squared: float,
) -> tuple[float, float]:  # fmt: skip
    """The first of rate, rate/2, rate/4 ... at which the objective falls enough, and its value there."""
    while rate >= _SHORTEST:
        new = _value(loss, y, ridge, C, z - rate * gradient, Kz - rate * Kg, b - rate * gradient_b)
        if new <= value - _ARMIJO * rate * squared:
            return rate, new
        rate *= 0.5
    return rate, value
