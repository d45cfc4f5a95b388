"""Small machines in one compiled call: the optimum by other means, and the same numbers as the steps in Python."""

import numpy as np
import pytest

from mercer.gram import cost
from mercer.losses.hinge import Hinge
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.drive import Limits, Stopped
from mercer.solvers.solution import Status
from mercer.solvers.weights import choice, newton, small, smoothed
from mercer.solvers.weights.problem import OneVsRestProblem, unit_dual
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, KINKED, SMOOTH, check, optimum, problem

QUADRATIC = [loss for loss in SMOOTH if unit_dual(loss) is not None]


def solved(p, tol=1e-6, limits=None):
    return small.solve(
        p.rows, p.loss, p.y[None], p.C[None], p.intercept_scale, tol=tol, limits=limits or Limits()
    )  # fmt: skip


@pytest.mark.parametrize("loss", [*QUADRATIC, *KINKED], ids=repr)
@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("sparse", [False, True])
def test_finds_the_optimum(loss, intercept_scale, sparse):
    p = problem(loss, intercept_scale, sparse=sparse)
    (found,) = solved(p, tol=1e-7)
    check(p, found, optimum(p), rel=2e-7)


@pytest.mark.parametrize("loss", [*QUADRATIC, *KINKED], ids=repr)
@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("shape", [(60, 4), (300, 10), (40, 70)])
def test_takes_the_steps_that_python_takes(loss, intercept_scale, shape):
    p = problem(loss, intercept_scale, n=shape[0], d=shape[1], seed=3)
    (found,) = solved(p, tol=1e-4)
    expected = (newton if loss.smooth else smoothed).solve(p, tol=1e-4)
    assert expected.status is Status.CONVERGED
    assert found.stats.iterations == expected.stats.iterations
    assert found.w == pytest.approx(expected.w, rel=1e-6, abs=1e-8)
    assert found.intercept == pytest.approx(expected.intercept, rel=1e-6, abs=1e-8)
    assert found.primal == pytest.approx(expected.primal, rel=1e-9)
    assert found.lower_bound == pytest.approx(expected.lower_bound, rel=1e-7)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_machines_side_by_side_are_those_alone(loss, monkeypatch):
    p = problem(loss, 1.0, n=90)
    codes, factors = np.arange(90) % 5, np.linspace(0.5, 2.0, 5)
    several = OneVsRestProblem(p.rows, loss, codes, p.C, factors, 1.0)
    alone = [choice.solve(several.single(k)) for k in range(5)]
    for at_once in (cost.AT_ONCE, 1.0):  # all in one call, or a call each in threads
        monkeypatch.setattr(cost, "AT_ONCE", at_once)
        found = choice.solve_classes(several)
        assert [one.w.tolist() for one in found] == [one.w.tolist() for one in alone]
        assert [one.dual.tolist() for one in found] == [one.dual.tolist() for one in alone]


def test_what_is_not_solved_is_trained_by_others():
    p = problem(Hinge(), 1.0)
    assert solved(p, limits=Limits(max_iter=2)) is None
    found = choice.solve(p, limits=Limits(max_iter=2))
    assert found.status is Status.OUT_OF_ITERATIONS
    assert found.stats.iterations == 2


def test_numbers_beyond_any_product_do_not_pass_for_a_solution():
    p = problem(SquaredHinge(), 1.0)
    p.rows[:] *= 1e200
    assert solved(p) is None


def test_can_be_stopped():
    limits = Limits()
    limits.stop.set()
    with pytest.raises(Stopped):
        solved(problem(Hinge()), limits=limits)


def test_large_problems_and_other_losses_do_not_suit():
    rows = np.zeros((60, 4))
    assert choice.by_loops(rows, Hinge())
    assert not choice.by_loops(rows, Hinge(), dual=True)
    assert not choice.by_loops(np.zeros((100_000, 50)), Hinge())
    assert not choice.by_loops(np.zeros((1_000, 500)), Hinge())
    losses = [loss for loss in SMOOTH if unit_dual(loss) is None]
    assert losses
    assert not any(choice.by_loops(rows, loss) for loss in losses)
