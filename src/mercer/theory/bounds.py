"""Bounds on the error of a classifier on unseen objects.

Each consists of a formula and its assumptions. P is the number of training objects, R a radius, gamma a margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer.errors import InputError, ParameterError
from mercer.theory.capacity import vc_dimension as vc_dimension
from mercer.theory.margins import signs_of

_ANY_DATA = "Training and new objects are independent draws from the same distribution, which may be any."


@final
@dataclass(frozen=True)
class Bound:
    """A bound on an error rate: its value, formula and assumptions."""

    name: str
    value: float
    formula: str
    assumptions: str
    order_only: bool = False
    """Whether the constant is unknown; the value is then only an order of magnitude, not a bound."""

    @property
    def vacuous(self) -> bool:
        """Whether it is trivial, since any error rate is at most 1."""
        return not self.order_only and self.value >= 1.0

    def __str__(self) -> str:
        said = f"{self.name}: {self.value:.4g}"
        if self.order_only:
            said += " (an order: the constant is unknown)"
        elif self.vacuous:
            said += " (vacuous: an error rate is at most 1)"
        return f"{said}\n  {self.formula}\n  {self.assumptions}"


def empirical_error(y: Any, h: Any) -> float:
    """1/P sum_p max(-y_p h(x_p), 0), with h(x) the predicted label, -1 or +1: the fraction of training errors.

    >>> empirical_error([1, 1, -1, -1], [1, -1, -1, -1])
    0.25
    """
    labels, predicted = signs_of(y), signs_of(h)
    if labels.shape != predicted.shape or not len(labels):
        raise InputError(f"One prediction per label is needed: got {len(predicted)} and {len(labels)}.")
    return float(np.maximum(-labels * predicted, 0.0).mean())


def vc_bound(P: int, d: int, *, delta: float = 0.05, error: float = 0.0) -> Bound:
    """Vapnik and Chervonenkis: error + sqrt((d (log(2P/d) + 1) - log(delta/4)) / P), with probability 1 - delta.

    >>> print(round(vc_bound(10_000, 11).value, 4))
    0.099
    """
    owner = "vc_bound"
    P = _check.integer(owner, "P", P, low=1)
    d = _check.integer(owner, "d", d, low=0)
    delta = _check.real(owner, "delta", delta, low=0, low_open=True, high=1, high_open=True)
    error = _check.real(owner, "error", error, low=0, high=1)
    if d == 0 or d > 2 * P:
        raise ParameterError(
            f"The VC bound is stated for 0 < d <= 2P; got d = {d}, P = {P}. "
            + (
                "A class of dimension 0 contains a single function: count its errors."
                if d == 0
                else "Get more objects."
            )
        )
    capacity = (d * (math.log(2 * P / d) + 1) - math.log(delta / 4)) / P
    return Bound(
        "VC bound",
        error + math.sqrt(capacity),
        "E <= E_train + sqrt((d (log(2P/d) + 1) - log(delta/4)) / P)",
        f"{_ANY_DATA} Holds with probability {1 - delta:g} for all functions of a class of VC dimension d = {d} that "
        "was fixed before the data were seen.",
    )


def margin_bound(P: int, L: float, gamma: float) -> Bound:
    """The order (L / gamma)^2 / P of the error at margin gamma; L is the largest |x|. The constant is unknown.

    >>> margin_bound(1000, 2.0, 0.5).value
    0.016
    """
    owner = "margin_bound"
    P = _check.integer(owner, "P", P, low=1)
    L = _check.real(owner, "L", L, low=0, high_open=True)
    gamma = _check.real(owner, "gamma", gamma, low=0, low_open=True, remedy="Without a margin there is no such bound.")
    return Bound(
        "margin bound",
        (L / gamma) ** 2 / P,
        "error = O((L / gamma)^2 / P), L = max |phi(x)|, gamma = min y (w.phi(x) + b) / |w|",
        f"{_ANY_DATA} The training objects are separated with margin gamma.",
        order_only=True,
    )


def radius_margin_bound(P: int, R: float, norm: float, *, intercept: bool = True) -> Bound:
    """Vapnik: at most 4 R^2 |w|^2 / P of the objects are misclassified when left out, each in turn.

    For the hard margin, where 1 / |w| is the margin; also for the squared hinge, in the feature space of the kernel
    K + I / (2C), in which it is a hard margin. With an intercept, R is the radius of the smallest enclosing ball;
    without one, there is no factor 4, and R is the largest |phi(x)|.

    >>> radius_margin_bound(100, 1.0, 2.0).value
    0.16
    """
    owner = "radius_margin_bound"
    P = _check.integer(owner, "P", P, low=1)
    R = _check.real(owner, "R", R, low=0, high_open=True)
    norm = _check.real(owner, "norm", norm, low=0, high_open=True)
    factor = 4.0 if intercept else 1.0
    return Bound(
        "radius-margin bound",
        factor * R * R * norm * norm / P,
        ("4 " if intercept else "") + "R^2 |w|^2 / P bounds the leave-one-out error",
        f"{_ANY_DATA} Hard margin (or squared hinge, with K + I / (2C)) only. The leave-one-out error is, on average, "
        "the error of the machine trained on P - 1 objects.",
    )


def support_vector_bound(P: int, n_support: int) -> Bound:
    """At most n_support / P of the objects are misclassified when left out: leaving out any other changes nothing.

    >>> support_vector_bound(200, 14).value
    0.07
    """
    owner = "support_vector_bound"
    P = _check.integer(owner, "P", P, low=1)
    n_support = _check.integer(owner, "n_support", n_support, low=0, high=P)
    return Bound(
        "support vector bound",
        n_support / P,
        "n_support / P bounds the leave-one-out error",
        f"{_ANY_DATA} The optimum is unique, and a support object is one with a coefficient other than 0. The "
        "leave-one-out error is, on average, the error of the machine trained on P - 1 objects.",
    )


def rademacher_bound(y: Any, f: Any, trace: float, norm: float, *, delta: float = 0.05) -> Bound:
    """mean of min(1, hinge) + 2 B sqrt(trace K) / P + 3 sqrt(log(2 / delta) / (2 P)), with probability 1 - delta.

    B >= |w| bounds the functions f(x) = <w, phi(x)>, without intercept; `f` are the decision values on the training
    objects, `trace` is the sum of k(x, x) over them.

    >>> import numpy as np
    >>> print(round(rademacher_bound(np.ones(10_000), np.ones(10_000), 10_000.0, 2.0).value, 4))
    0.0807
    """
    owner = "rademacher_bound"
    labels, scores = signs_of(y), np.asarray(f, dtype=np.float64)
    if labels.shape != scores.shape or not len(labels):
        raise InputError(f"One decision value per label is needed: got {scores.shape} and {labels.shape}.")
    trace = _check.real(owner, "trace", trace, low=0, high_open=True)
    norm = _check.real(owner, "norm", norm, low=0, high_open=True)
    delta = _check.real(owner, "delta", delta, low=0, low_open=True, high=1, high_open=True)
    P = len(labels)
    loss = float(np.clip(1.0 - labels * scores, 0.0, 1.0).mean())
    complexity = 2.0 * norm * math.sqrt(trace) / P
    return Bound(
        "Rademacher bound",
        loss + complexity + 3.0 * math.sqrt(math.log(2.0 / delta) / (2.0 * P)),
        "E <= mean min(1, max(0, 1 - y f)) + 2 B sqrt(trace K) / P + 3 sqrt(log(2/delta) / (2P))",
        f"{_ANY_DATA} Holds with probability {1 - delta:g} for all f = <w, phi(x)> with |w| <= B, no intercept, B "
        "fixed before the data were seen.",
    )


def novikoff_bound(R: float, gamma: float) -> float:
    """At most (R / gamma)^2 mistakes are made by a perceptron on objects within R, separable with margin gamma.

    This is for hyperplanes through the origin; for a bias, give each object an additional feature 1.

    >>> novikoff_bound(2.0, 0.5)
    16.0
    """
    R = _check.real("novikoff_bound", "R", R, low=0, high_open=True)
    gamma = _check.real("novikoff_bound", "gamma", gamma, low=0, low_open=True)
    return (R / gamma) ** 2
