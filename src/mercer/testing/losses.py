"""The conformance suite of losses: every formula of a loss, checked numerically against its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._types import Float64
from mercer.losses.base import Loss, VectorLoss
from mercer.testing.checks import Check, Suite, fingerprint, require, require_close, require_unchanged, run_all
from mercer.testing.records import RecordSuite

_STEP = 1e-5
"""The step of finite differences: a longer one adds error from curvature, a shorter one from rounding."""
_KINK = 1e-2
"""One-sided slopes that differ by more than this, over a step of 1e-5, lie on two sides of a kink."""
_CLASSES, _OBJECTS = 3, 60
"""Numbers of outputs and objects for losses of several decision values: enough for a Hessian that is not diagonal, and
for small, middling and large values of each class. More would only take longer.
"""


@dataclass(frozen=True, eq=False)
class _LossSuite(Suite):
    """What all losses promise; `y` and `f` are targets and decision values to try them on."""

    loss: Any
    y: Float64
    f: Float64
    chords: Sequence[tuple[Float64, Float64, Float64]]
    """Targets, with two decision values for each."""
    other_slopes: Callable[[Float64], Sequence[Float64]]
    """From slopes to other arguments of the conjugate."""
    also: Callable[[Float64, Float64], Any]
    """What the loss computes from targets and decision values besides its four methods."""

    @cached_property
    def value(self) -> Float64:
        return np.asarray(self.loss.value(self.y, self.f))

    def _require(self, condition: npt.NDArray[np.bool_], what: str) -> None:
        """Fail unless a condition holds everywhere, and say where it does not."""
        if not condition.all():
            where = tuple(np.argwhere(~condition)[0])
            raise AssertionError(f"{what}, first at y={self.y[where]:g}, f={self.f[where]}")

    def values(self) -> None:
        """One finite value per target, in float64, never negative."""
        require(self.value.shape == self.y.shape, f"values of shape {self.value.shape}, not {self.y.shape}")
        require(self.value.dtype == np.float64, f"values of dtype {self.value.dtype}")
        require(np.isfinite(self.value).all(), "values that are not finite")
        require((self.value >= 0).all(), "a loss below zero")

    def convexity(self) -> None:
        """The value at the midpoint is at most the mean of the values."""
        for y, one, other in self.chords:
            ends = (self.loss.value(y, one) + self.loss.value(y, other)) / 2
            middle = self.loss.value(y, (one + other) / 2)
            require((middle <= ends + 1e-12).all(), "the value at the midpoint lies above the chord: not convex")

    def fenchel_young(self) -> None:
        """l(f) + conjugate(a) >= a'f, with equality at a = slope(f)."""

        def gap(a: Float64) -> Float64:
            product = (a * self.f).reshape(*self.y.shape, -1).sum(axis=-1)
            return np.asarray(self.value + self.loss.conjugate(self.y, a) - product)

        slope = self.loss.slope(self.y, self.f)
        self._require(np.abs(gap(slope)) <= 1e-8, "no equality in Fenchel-Young at the slope")
        for other in self.other_slopes(slope):
            self._require(gap(other) >= -1e-9, "Fenchel-Young fails")

    def purity(self) -> None:
        """No method writes to its arguments, or gives another answer the second time."""
        y, f = self.y.copy(), self.f.copy()
        before = fingerprint([y, f])
        loss = self.loss
        for method in (loss.value, loss.slope, loss.curvature, loss.conjugate, self.also):
            first, again = method(y, f), method(y, f)
            require_unchanged(before, [y, f], method.__name__)
            require(np.array_equal(first, again), f"{method.__name__} answers differently the second time")


@final
@dataclass(frozen=True, eq=False)
class _ScalarLossSuite(_LossSuite):
    """What losses of one decision value promise."""

    prefix = "loss"

    def slopes(self) -> None:
        """`slope` lies between the slopes from the left and from the right, which agree where the loss is smooth."""
        left = (self.value - self.loss.value(self.y, self.f - _STEP)) / _STEP
        right = (self.loss.value(self.y, self.f + _STEP) - self.value) / _STEP
        got = self.loss.slope(self.y, self.f)
        scale = 1e-3 * np.maximum(1.0, np.abs(left) + np.abs(right))
        inside = (got >= np.minimum(left, right) - scale) & (got <= np.maximum(left, right) + scale)
        self._require(inside, "slope differs from the finite difference")
        if self.loss.smooth:
            self._require(right - left <= _KINK, "smooth is claimed, but there is a kink")

    def curvatures(self) -> None:
        """`curvature` is the difference of slopes, away from kinks, and never negative."""
        got = self.loss.curvature(self.y, self.f)
        ahead = self.loss.slope(self.y, self.f + _STEP)
        behind = self.loss.slope(self.y, self.f - _STEP)
        wanted = (ahead - behind) / (2 * _STEP)
        kink = np.abs(ahead - behind) > _KINK
        # Where the curvature itself jumps (the square of a hinge does), it is whatever the loss says.
        before = self.loss.curvature(self.y, self.f - 2 * _STEP)
        after = self.loss.curvature(self.y, self.f + 2 * _STEP)
        jump = np.abs(before - after) > _KINK
        right_here = np.abs(got - wanted) <= 1e-3 * np.maximum(1.0, np.abs(wanted))
        self._require(right_here | kink | jump, "curvature differs from the finite difference of slopes")
        self._require(got >= 0, "curvature is negative: the loss is not convex")

    def conjugates(self) -> None:
        """conjugate(a) = sup over f of a f - l(f): checked against the largest value on a grid, near and far."""
        for y in self.y[:, 0]:
            for a in np.linspace(-2.5, 2.5, 41):
                got = float(self.loss.conjugate(np.asarray([y]), np.asarray([a]))[0])
                near, far = (_supremum(self.loss, y, a, reach) for reach in (60.0, 6000.0))
                where = f"of y={y:g} at {a:g}"
                if np.isfinite(got):
                    require(far <= got + 1e-6, f"conjugate {where} is {got:g}, but the supremum is at least {far:g}")
                    bounded = abs(far - near) <= 1e-3 or got - far <= 1e-3 * max(1.0, abs(got))
                    reached = got - near <= 1e-2 * max(1.0, abs(got))
                    require(reached or not bounded, f"conjugate {where} is {got:g}, but the supremum is {near:g}")
                else:
                    require(got > 0 and far > near + 1.0, f"conjugate {where} is {got}, but the supremum is {near:g}")

    def duals(self) -> None:
        """The dual is the conjugate: its i-th term is C l*(-b / C) within the bounds, which is infinite beyond them."""
        for C in (0.5, 3.0):
            y = self.y[:, 0]
            dual = self.loss.dual(y, np.full(len(y), C))
            if dual is None:
                return
            for b in np.linspace(-2.5 * C, 2.5 * C, 41):
                wanted = C * self.loss.conjugate(y, np.full(len(y), -b / C))
                price = 0.5 * dual.ridge * b * b + dual.linear * b + dual.kink * abs(b)
                inside = (b >= dual.lower - 1e-9) & (b <= dual.upper + 1e-9)
                got = np.where(inside, price, np.inf)
                for i in np.flatnonzero(~np.isclose(got, wanted, rtol=1e-9, atol=1e-9)):
                    what = f"dual of y={y[i]:g}, C={C:g} gives {got[i]:g} at b={b:g}; the conjugate {wanted[i]:g}"
                    raise AssertionError(what)


@final
@dataclass(frozen=True, eq=False)
class _VectorLossSuite(_LossSuite):
    """What losses of several decision values promise."""

    prefix = "vector_loss"

    def _difference(self, function: Callable[[Float64, Float64], Float64], output: int) -> Float64:
        """The derivative of a function of (y, f) in one output, by finite differences."""
        step = _STEP * (np.arange(_CLASSES) == output)
        return (function(self.y, self.f + step) - function(self.y, self.f - step)) / (2 * _STEP)

    def slopes(self) -> None:
        """`slope` is the gradient in f."""
        got = self.loss.slope(self.y, self.f)
        for output in range(_CLASSES):
            wanted = self._difference(self.loss.value, output)
            _require_near(got[:, output], wanted, f"slope in output {output}, against finite differences")

    def curvatures(self) -> None:
        """`curvature` is the diagonal of the Hessian, and the root S gives all of it: S S' = Hessian."""
        root = self.loss.curvature_root(self.y, self.f)
        hessian, by_halves, transposed, plain = (
            np.stack([take(np.tile(unit, (_OBJECTS, 1))) for unit in np.eye(_CLASSES)], axis=2)
            for take in (root.hessian_times, lambda v: root.applied(root.transposed(v)), root.transposed, root.applied)
        )
        _require_near(hessian, by_halves, "hessian_times, against applied after transposed")
        _require_near(root.total(), hessian.sum(axis=0), "the total of the root")
        _require_near(transposed, np.swapaxes(plain, 1, 2), "transposed, against applied")
        _require_near(root.applied(root.within(self.f)), root.applied(self.f), "applied to what is within")
        diagonal = self.loss.curvature(self.y, self.f)
        _require_near(root.diagonal(), diagonal, "the diagonal of the root")
        for output in range(_CLASSES):
            wanted = self._difference(self.loss.slope, output)
            against = f"in output {output}, against finite differences"
            _require_near(diagonal[:, output], wanted[:, output], f"curvature {against}")
            _require_near(hessian[:, :, output], wanted, f"the Hessian from curvature_root {against}")

    def fenchel_young(self) -> None:
        """The same as for one decision value; and the conjugate is infinite off its domain."""
        super().fenchel_young()
        slope = self.loss.slope(self.y, self.f)
        for a in (slope + 5.0, slope * 100.0):
            near, far = ((a * s * a).sum(axis=1) - self.loss.value(self.y, s * a) for s in (50.0, 100.0))
            bounded = np.isfinite(self.loss.conjugate(self.y, a))
            require(not (bounded & (far > near + 1.0)).any(), "conjugate is finite where a'f - l(f) grows without end")


def _on_a_grid(loss: Loss) -> _ScalarLossSuite:
    """Targets against decision values on a grid: one row per target."""
    targets = [-1.0, 1.0] if loss.classifies else [-2.0, 0.0, 0.7]
    f = np.tile(np.linspace(-4.0, 4.0, 161), (len(targets), 1))
    y = np.repeat(np.asarray(targets)[:, None], f.shape[1], axis=1)

    def dual(y: Float64, f: Float64) -> Any:
        found = loss.dual(y[:, 0], f[:, 0] + 10.0)  # penalties must be positive
        return None if found is None else found.linear

    chords = [(y[:, gap:], f[:, gap:], f[:, :-gap]) for gap in (1, 7, 40)]
    slopes = [np.full_like(f, a) for a in np.linspace(-2.5, 2.5, 21)]
    return _ScalarLossSuite(loss, y, f, chords, lambda _: slopes, dual)


def _of_several_outputs(loss: VectorLoss) -> _VectorLossSuite:
    """Class codes, and decision values of several sizes: one row per object."""
    y = np.arange(_OBJECTS, dtype=np.float64) % _CLASSES
    sizes = np.repeat([0.1, 1.0, 4.0], _OBJECTS // 3)[:, None]
    f = np.asarray(sizes * np.random.default_rng(0).normal(size=(_OBJECTS, _CLASSES)))

    def hessian(y: Float64, f: Float64) -> Float64:
        return loss.curvature_root(y, f).hessian_times(np.ones_like(f) + f)

    chords = [(y, f, other) for other in (f[::-1], np.roll(f, 1, axis=1), -3.0 * f)]

    def other_slopes(slope: Float64) -> list[Float64]:  # those of other objects of the same class
        return [np.roll(slope, shift, axis=0) for shift in (3, 6, 9)]

    return _VectorLossSuite(loss, y, f, chords, other_slopes, hessian)


def loss_checks(loss: Loss) -> Iterator[Check]:
    """Every property that a loss promises, as named checks."""
    yield from RecordSuite(loss)
    yield from _of_several_outputs(loss) if isinstance(loss, VectorLoss) else _on_a_grid(loss)


def check_loss(loss: Loss) -> None:
    """Run every check of `loss_checks`; AssertionError lists those that fail.

    >>> from mercer.losses.hinge import Hinge
    >>> from mercer.testing import check_loss
    >>> check_loss(Hinge())
    """
    run_all(loss, loss_checks(loss))


def _supremum(loss: Loss, y: float, a: float, reach: float) -> float:
    f = np.linspace(-reach, reach, 24001)
    with np.errstate(over="ignore"):
        return float((a * f - loss.value(np.full_like(f, y), f)).max())


def _require_near(got: Float64, wanted: Float64, what: str) -> None:
    require_close(got, wanted, 1e-6 * np.maximum(1.0, np.abs(wanted)), what)
