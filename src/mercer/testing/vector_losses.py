"""The conformance suite of losses of several decision values: gradients and Hessians by finite differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.losses.base import VectorLoss
from mercer.testing.checks import fingerprint, named, require, require_unchanged

_CLASSES = 3
_OBJECTS = 60
_STEP = 1e-5


@final
@dataclass(frozen=True, eq=False)
class VectorSubject:
    """A loss, class codes, and decision values of several sizes: one row per object."""

    loss: VectorLoss

    @cached_property
    def y(self) -> Float64:
        return np.arange(_OBJECTS, dtype=np.float64) % _CLASSES

    @cached_property
    def f(self) -> Float64:
        random = np.random.default_rng(0)
        sizes = np.repeat([0.1, 1.0, 4.0], _OBJECTS // 3)[:, None]
        return np.asarray(sizes * random.normal(size=(_OBJECTS, _CLASSES)))

    @cached_property
    def value(self) -> Float64:
        return self.loss.value(self.y, self.f)

    def moved(self, output: int, step: float) -> Float64:
        """The decision values with one output changed."""
        moved = self.f.copy()
        moved[:, output] += step
        return moved


def values(subject: VectorSubject) -> None:
    """One finite value per object, in float64, never negative."""
    require(subject.value.shape == (_OBJECTS,), f"values of shape {subject.value.shape} for {_OBJECTS} objects")
    require(subject.value.dtype == np.float64, f"values of dtype {subject.value.dtype}")
    require(np.isfinite(subject.value).all() and (subject.value >= 0).all(), "values not finite, or below zero")


def slopes(subject: VectorSubject) -> None:
    """`slope` is the gradient in f."""
    got = subject.loss.slope(subject.y, subject.f)
    for output in range(_CLASSES):
        ahead, behind = (subject.loss.value(subject.y, subject.moved(output, step)) for step in (_STEP, -_STEP))
        _require_near(
            got[:, output], (ahead - behind) / (2 * _STEP), f"slope in output {output}, against finite differences,"
        )


def curvatures(subject: VectorSubject) -> None:
    """`curvature` is the diagonal of the Hessian, and the root S gives all of it: S S' = Hessian."""
    root = subject.loss.curvature_root(subject.y, subject.f)
    hessian, by_halves, transposed, plain = (
        np.stack([take(np.tile(unit, (_OBJECTS, 1))) for unit in np.eye(_CLASSES)], axis=2)
        for take in (root.bent, lambda v: root.applied(root.transposed(v)), root.transposed, root.applied)
    )
    _require_near(hessian, by_halves, "bent, against applied after transposed,")
    _require_near(root.total(), hessian.sum(axis=0), "the total of the root")
    _require_near(transposed, np.swapaxes(plain, 1, 2), "transposed, against applied,")
    _require_near(root.applied(root.within(subject.f)), root.applied(subject.f), "applied to what is within")
    diagonal = subject.loss.curvature(subject.y, subject.f)
    _require_near(root.diagonal(), diagonal, "the diagonal of the root")
    for output in range(_CLASSES):
        ahead, behind = (subject.loss.slope(subject.y, subject.moved(output, step)) for step in (_STEP, -_STEP))
        wanted = (ahead - behind) / (2 * _STEP)
        _require_near(
            diagonal[:, output], wanted[:, output], f"curvature in output {output}, against finite differences,"
        )
        _require_near(
            hessian[:, :, output],
            wanted,
            f"column {output} of the Hessian from curvature_root, against finite differences,",
        )


def convexity(subject: VectorSubject) -> None:
    """The value half way is at most half way between the values."""
    for other in (subject.f[::-1], np.roll(subject.f, 1, axis=1), -3.0 * subject.f):
        ends = (subject.value + subject.loss.value(subject.y, other)) / 2
        middle = subject.loss.value(subject.y, (subject.f + other) / 2)
        require((middle <= ends + 1e-12).all(), "the value half way lies above the chord: not convex")


def fenchel_young(subject: VectorSubject) -> None:
    """l(f) + conjugate(a) >= a'f, with equality at a = slope(f); infinite off the domain."""
    slope = subject.loss.slope(subject.y, subject.f)
    here = subject.value + subject.loss.conjugate(subject.y, slope) - (slope * subject.f).sum(axis=1)
    require((np.abs(here) <= 1e-8).all(), f"no equality in Fenchel-Young at the slope: off by {np.abs(here).max():g}")
    for shift in (3, 6, 9):  # slopes of other objects of the same class
        other = np.roll(slope, shift, axis=0)
        gap = subject.value + subject.loss.conjugate(subject.y, other) - (other * subject.f).sum(axis=1)
        require((gap >= -1e-9).all(), f"Fenchel-Young fails by {gap.min():g}")
    for outside in (slope + 5.0, slope * 100.0):
        bounded = np.isfinite(subject.loss.conjugate(subject.y, outside))
        grows = _growth(subject, outside) > 1.0
        require(not (bounded & grows).any(), "conjugate is finite where a'f - l(f) grows without end")


def purity(subject: VectorSubject) -> None:
    """No method writes to its arguments, or answers differently the second time."""
    y, f = subject.y.copy(), subject.f.copy()
    before = fingerprint([y, f])
    loss = subject.loss

    def hessian(y: Float64, f: Float64) -> Float64:
        return loss.curvature_root(y, f).bent(np.ones_like(f) + f)

    for method in (loss.value, loss.slope, loss.curvature, hessian, loss.conjugate):
        first, again = method(y, f), method(y, f)
        require_unchanged(before, [y, f], method.__name__)
        require(np.array_equal(first, again), f"{method.__name__} answers differently the second time")


vector_loss_checks = named("vector_loss", values, slopes, curvatures, convexity, fenchel_young, purity)


def _growth(subject: VectorSubject, a: Float64) -> Float64:
    """How much a'f - l(f) gains between f = 50 a and f = 100 a."""
    near, far = ((a * s * a).sum(axis=1) - subject.loss.value(subject.y, s * a) for s in (50.0, 100.0))
    return np.asarray(far - near)


def _require_near(got: Float64, wanted: Float64, what: str) -> None:
    off = np.abs(got - wanted)
    require((off <= 1e-6 * np.maximum(1.0, np.abs(wanted))).all(), f"{what} differs, by {off.max():g}")
