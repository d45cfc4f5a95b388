"""Parabolas in place of kinks, for every loss with a box as its dual."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

from mercer.losses.base import Loss
from mercer.losses.dual import Dual
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.quantile import Quantile
from mercer.solvers.weights import smoothed
from mercer.solvers.weights.terms import DualTerms
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, KINKED, check, optimum, problem


@dataclass(frozen=True)
class Straight(Loss):
    """A loss that nobody has written yet: straight pieces with these slopes below and above a tube."""

    low: float = -0.5
    high: float = 2.0
    kink: float = 0.3

    smooth = False
    classifies = False

    def value(self, y, f):
        return self.high * np.maximum(f - y - self.kink, 0.0) - self.low * np.maximum(y - f - self.kink, 0.0)

    def slope(self, y, f):
        return np.where(f - y > self.kink, self.high, np.where(f - y < -self.kink, self.low, 0.0))

    def curvature(self, y, f):
        return np.zeros_like(f)

    def conjugate(self, y, a):
        inside = (a >= self.low) & (a <= self.high)
        return np.where(inside, a * y + self.kink * np.abs(a), np.inf)

    def dual(self, y, C):
        return Dual.of(-y, lower=-self.high * C, upper=-self.low * C, kink=self.kink)

    @classmethod
    def examples(cls):
        yield cls()


BOXES = [Hinge(), EpsilonInsensitive(0.1), Quantile(0.3), Straight()]


def judged(loss, width, f):
    """Envelopes, slopes and curvatures by the compiled loop, one row each."""
    p = problem(loss, n=len(f))
    terms = DualTerms.of(dataclasses.replace(loss.dual(p.y, p.C), ridge=width / p.C))
    values, slope, curvature = np.empty((3, len(f)))
    for i in range(len(f)):
        row = slice(i, i + 1)
        values[i] = terms.judge(row, f[row], slope[row], curvature[row])
    return p, terms, values, slope, curvature


@pytest.mark.parametrize("loss", BOXES, ids=repr)
@pytest.mark.parametrize("width", [0.5, 1.0])
def test_rows_are_judged_by_the_envelope(loss, width):
    f = np.linspace(-3, 3, 121)
    p, terms, values, slope, curvature = judged(loss, width, f)
    grid, kinks = np.linspace(-4, 4, 20_001), np.array([-0.3, -0.1, 0.0, 0.1, 0.3])

    def envelope(y, x):
        u = np.concatenate([x + grid, y + kinks])  # a minimum at a kink lies between points of the grid
        return (loss.value(y, u) + (x - u) ** 2 / (2 * width)).min()

    expected = [envelope(y, x) for y, x in zip(p.y, f, strict=True)]
    assert np.allclose(values, p.C * expected, atol=1e-6)
    step = 1e-6
    above, below = judged(loss, width, f + step), judged(loss, width, f - step)
    assert np.allclose(slope, (above[2] - below[2]) / (2 * step), atol=1e-5)
    smooth = above[4] == below[4]
    assert np.allclose(curvature[smooth], ((above[3] - below[3]) / (2 * step))[smooth], atol=1e-4)
    change = np.random.default_rng(0).normal(size=len(f))
    assert np.isclose(terms.slope_along(f, change, 0.3), judged(loss, width, f + 0.3 * change)[3] @ change)


@pytest.mark.parametrize("loss", BOXES, ids=repr)
def test_slopes_are_feasible_for_the_dual(loss):
    p, _, _, slope, _ = judged(loss, 0.5, np.linspace(-3, 3, 60))
    dual = loss.dual(p.y, p.C)
    assert (-slope >= dual.lower).all()
    assert (-slope <= dual.upper).all()


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("loss", [*KINKED, Straight()], ids=repr)
def test_smoothing_finds_the_optimum(loss, intercept_scale):
    for sparse in (False, True):
        p = problem(loss, intercept_scale, sparse=sparse)
        check(p, smoothed.solve(p, tol=1e-7), optimum(p), 2e-7)
