"""The conformance suite of losses: every formula of a loss against what it says it is, by numbers alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.losses.base import Loss, VectorLoss
from mercer.testing.checks import Check, fingerprint, named, require, require_unchanged, run_all
from mercer.testing.records import record_checks
from mercer.testing.vector_losses import VectorSubject, vector_loss_checks

Truth = npt.NDArray[np.bool_]
_STEP = 1e-5
_KINK = 1e-2
"""One-sided slopes that differ by more than this, over a step of 1e-5, are on two sides of a kink."""


@final
@dataclass(frozen=True, eq=False)
class _Subject:
    """A loss, and targets against decision values on a grid: one row per target."""

    loss: Loss

    @cached_property
    def y(self) -> Float64:
        targets = [-1.0, 1.0] if self.loss.classifies else [-2.0, 0.0, 0.7]
        return np.repeat(np.asarray(targets)[:, None], self.f.shape[1], axis=1)

    @cached_property
    def f(self) -> Float64:
        rows = 2 if self.loss.classifies else 3
        return np.tile(np.linspace(-4.0, 4.0, 161), (rows, 1))

    @cached_property
    def value(self) -> Float64:
        return self.loss.value(self.y, self.f)

    @cached_property
    def one_sided(self) -> tuple[Float64, Float64]:
        """Slopes by finite differences, from the left and from the right."""
        left = (self.value - self.loss.value(self.y, self.f - _STEP)) / _STEP
        right = (self.loss.value(self.y, self.f + _STEP) - self.value) / _STEP
        return left, right


def loss_checks(loss: Loss) -> Iterator[Check]:
    """Every property that a loss promises, as named checks."""
    yield from record_checks(loss)
    if isinstance(loss, VectorLoss):
        yield from vector_loss_checks(VectorSubject(loss))
    else:
        yield from _loss_checks(_Subject(loss))


def check_loss(loss: Loss) -> None:
    """Run every check of `loss_checks`; AssertionError lists those that fail.

    >>> from mercer.losses.hinge import Hinge
    >>> from mercer.testing import check_loss
    >>> check_loss(Hinge())
    """
    run_all(loss, loss_checks(loss))


def values(subject: _Subject) -> None:
    """Finite, elementwise, float64, and never negative."""
    require(subject.value.shape == subject.f.shape, f"values of shape {subject.value.shape} for {subject.f.shape}")
    require(subject.value.dtype == np.float64, f"values of dtype {subject.value.dtype}")
    require(np.isfinite(subject.value).all(), "values that are not finite")
    require((subject.value >= 0).all(), "a loss below zero")


def slopes(subject: _Subject) -> None:
    """`slope` lies between the slopes from the left and from the right, which agree where the loss is smooth."""
    left, right = subject.one_sided
    got = subject.loss.slope(subject.y, subject.f)
    scale = 1e-3 * np.maximum(1.0, np.abs(left) + np.abs(right))
    inside = (got >= np.minimum(left, right) - scale) & (got <= np.maximum(left, right) + scale)
    _require_everywhere(subject, inside, "slope differs from the finite difference")
    if subject.loss.smooth:
        _require_everywhere(subject, right - left <= _KINK, "smooth is claimed, but there is a kink")


def curvatures(subject: _Subject) -> None:
    """`curvature` is the difference of slopes, away from kinks, and never negative."""
    got = subject.loss.curvature(subject.y, subject.f)
    ahead = subject.loss.slope(subject.y, subject.f + _STEP)
    behind = subject.loss.slope(subject.y, subject.f - _STEP)
    wanted = (ahead - behind) / (2 * _STEP)
    kink = np.abs(ahead - behind) > _KINK
    bend = _bends(subject)
    right_here = np.abs(got - wanted) <= 1e-3 * np.maximum(1.0, np.abs(wanted))
    _require_everywhere(subject, right_here | kink | bend, "curvature differs from the finite difference of slopes")
    _require_everywhere(subject, got >= 0, "curvature is negative: the loss is not convex")


def _bends(subject: _Subject) -> Truth:
    """Where the curvature itself jumps (the square of a hinge does): there it is whatever the loss says."""
    before = subject.loss.curvature(subject.y, subject.f - 2 * _STEP)
    after = subject.loss.curvature(subject.y, subject.f + 2 * _STEP)
    return np.abs(before - after) > _KINK


def convexity(subject: _Subject) -> None:
    """The value half way is at most half way between the values."""
    f, y = subject.f, subject.y
    for gap in (1, 7, 40):
        ends = (subject.value[:, gap:] + subject.value[:, :-gap]) / 2
        middle = subject.loss.value(y[:, gap:], (f[:, gap:] + f[:, :-gap]) / 2)
        require((middle <= ends + 1e-12).all(), "the value half way lies above the chord: not convex")


def conjugates(subject: _Subject) -> None:
    """conjugate(a) = sup over f of a f - l(f): against the largest value on a grid, near and far."""
    for y in subject.y[:, 0]:
        for a in np.linspace(-2.5, 2.5, 41):
            got = float(subject.loss.conjugate(np.asarray([y]), np.asarray([a]))[0])
            near, far = (_supremum(subject.loss, y, a, reach) for reach in (60.0, 6000.0))
            where = f"of y={y:g} at {a:g}"
            if np.isfinite(got):
                require(far <= got + 1e-6, f"conjugate {where} is {got:g}, but the supremum is at least {far:g}")
                bounded = abs(far - near) <= 1e-3 or got - far <= 1e-3 * max(1.0, abs(got))
                reached = got - near <= 1e-2 * max(1.0, abs(got))
                require(reached or not bounded, f"conjugate {where} is {got:g}, but the supremum is {near:g}")
            else:
                require(got > 0 and far > near + 1.0, f"conjugate {where} is {got}, but the supremum is {near:g}")


def fenchel_young(subject: _Subject) -> None:
    """l(f) + conjugate(a) >= a f, with equality at a = slope(f)."""
    slope = subject.loss.slope(subject.y, subject.f)
    here = subject.value + subject.loss.conjugate(subject.y, slope) - slope * subject.f
    _require_everywhere(subject, np.abs(here) <= 1e-8, "no equality in Fenchel-Young at the slope")
    for a in np.linspace(-2.5, 2.5, 21):
        gap = subject.value + subject.loss.conjugate(subject.y, np.full_like(subject.f, a)) - a * subject.f
        _require_everywhere(subject, gap >= -1e-9, f"Fenchel-Young fails at {a:g}")


def duals(subject: _Subject) -> None:
    """The dual is the conjugate: its i-th term is C l*(-b / C) within the bounds, which is infinite beyond them."""
    for C in (0.5, 3.0):
        y = subject.y[:, 0]
        dual = subject.loss.dual(y, np.full(len(y), C))
        if dual is None:
            return
        for b in np.linspace(-2.5 * C, 2.5 * C, 41):
            wanted = C * subject.loss.conjugate(y, np.full(len(y), -b / C))
            price = 0.5 * dual.ridge * b * b + dual.linear * b + dual.kink * abs(b)
            inside = (b >= dual.lower - 1e-9) & (b <= dual.upper + 1e-9)
            got = np.where(inside, price, np.inf)
            for i in np.flatnonzero(~np.isclose(got, wanted, rtol=1e-9, atol=1e-9)):
                what = f"dual of y={y[i]:g}, C={C:g} gives {got[i]:g} at b={b:g}; the conjugate {wanted[i]:g}"
                raise AssertionError(what)


def purity(subject: _Subject) -> None:
    """No method writes to its arguments, or answers differently the second time."""
    y, f = subject.y.copy(), subject.f.copy()
    before = fingerprint([y, f])
    for method in (subject.loss.value, subject.loss.slope, subject.loss.curvature, subject.loss.conjugate):
        first, again = method(y, f), method(y, f)
        require_unchanged(before, [y, f], method.__name__)
        require(np.array_equal(first, again), f"{method.__name__} answers differently the second time")
    subject.loss.dual(y[:, 0], f[:, 0] + 10.0)
    require_unchanged(before, [y, f], "dual")


_loss_checks = named(
    "loss", values, slopes, curvatures, convexity, conjugates, fenchel_young, duals, purity
)  # fmt: skip


def _require_everywhere(subject: _Subject, condition: Truth, what: str) -> None:
    if not condition.all():
        row, column = np.argwhere(~condition)[0]
        raise AssertionError(f"{what}, first at y={subject.y[row, column]:g}, f={subject.f[row, column]:g}")


def _supremum(loss: Loss, y: float, a: float, reach: float) -> float:
    f = np.linspace(-reach, reach, 24001)
    with np.errstate(over="ignore"):
        return float((a * f - loss.value(np.full_like(f, y), f)).max())
