"""The driver of Newton's methods, on a function of two variables."""

import math

import numpy as np
import pytest

from mercer.solvers.drive import Limits, drive
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients
from mercer.solvers.numerics.newton import NewtonRun, RoughSystem
from mercer.solvers.solution import Solution, Status


class Minimum(NewtonRun):
    """log(cosh(x)) + y^2, whose Newton steps overshoot from afar; a step takes three pieces."""

    def __init__(self, start, tol, preparations=0):
        super().__init__(tol, patience=5)
        self.x, self.preparations, self.pieces = np.array(start), preparations, 0
        self._judge()

    def _judge(self):
        self.gradient = np.array([math.tanh(self.x[0]), 2.0 * self.x[1]])
        self.gap = float(np.abs(self.gradient).max())

    def _begin(self):
        self.preparations -= 1
        self.pieces = 0
        return self.preparations < 0

    def _improve(self):
        self.pieces += 1
        return self.pieces == 3

    def _take(self):
        self.iterations += 1
        step = -self.gradient / [1.0 - self.gradient[0] ** 2 + 1e-12, 2.0]

        def value_at(size):
            x, y = self.x + size * step
            return float(np.logaddexp(x, -x) - math.log(2.0) + y * y)

        size = self._descend(value_at, value_at(0.0), float(self.gradient @ step))
        if size is None:
            return False
        self.x = self.x + size * step
        self._judge()
        return True

    def finish(self, status, stats):
        return Solution(self.x, self.x, 0.0, 0.0, status, stats)


def test_it_finds_the_minimum_from_afar():
    found = drive(Minimum([1.5, -2.0], 1e-9), 1e-9, Limits(), None, 0.0)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.coefficients, 0.0, atol=1e-9)


def test_at_the_minimum_there_is_nothing_to_do():
    run = Minimum([0.0, 0.0], 1e-9)
    run.step(10)
    assert run.done
    assert run.iterations == 0


def test_a_step_can_be_interrupted_between_its_pieces():
    run = Minimum([1.0, 1.0], 1e-9, preparations=2)
    start = run.x
    for _ in range(2 + 2):  # two preparations, each of which gives the driver a chance, and two pieces
        run.step(1)
        assert run.x is start
    assert run.pieces == 2
    run.step(1)
    assert run.x is not start
    assert run.iterations == 1


def test_what_only_rounding_could_improve_stalls():
    found = drive(Minimum([1.0, 1.0], -1.0), -1.0, Limits(), None, 0.0)
    assert found.status is Status.STALLED
    np.testing.assert_allclose(found.coefficients, 0.0, atol=1e-7)


@pytest.mark.parametrize("finest", [0.0, 0.9])
def test_systems_are_solved_as_exactly_as_the_gradient_is_small(finest):
    A = np.diag(np.linspace(1.0, 50.0, 20))
    far = RoughSystem(ConjugateGradients(lambda v: A @ v, lambda r: r, np.ones(20)), 0.0, finest)
    near = RoughSystem(ConjugateGradients(lambda v: A @ v, lambda r: r, 1e-4 * np.ones(20)), far.first_length, finest)
    for system in (far, near):
        while not system.improve():
            pass
    left = [np.linalg.norm(1.0 - A @ far.direction), np.linalg.norm(1.0 - A @ near.direction / 1e-4)]
    wanted = [0.3, 0.01] if finest == 0.0 else [0.9, 0.9]
    assert (np.array(left) <= np.sqrt(20) * np.array(wanted)).all()
    assert (far.products < near.products) == (finest == 0.0)
