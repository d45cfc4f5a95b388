"""Which solver suits which problem, and that all of them keep their limits."""

import itertools
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels
from mercer.errors import ParameterError
from mercer.gram.block_rows import rows_of_features
from mercer.inputs.blocks import ArrayBlocks
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import Vectors
from mercer.losses.hinge import Hinge
from mercer.losses.logistic import Logistic
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.drive import Limits, Stopped
from mercer.solvers.solution import Status
from mercer.solvers.weights import choice, coordinate_descent, joint_descent, newton, newton_cg
from mercer.solvers.weights.problem import LinearProblem, OneVsRestProblem
from tests.solvers.weights.linear_problems import problem


def test_limits_end_every_solver():
    codes = np.random.default_rng(0).integers(0, 3, 60)
    for solver, loss in itertools.product((newton, newton_cg, coordinate_descent), (SquaredHinge(),)):
        p = problem(loss)
        assert solver.solve(p, tol=1e-12, limits=Limits(max_iter=1)).status is Status.OUT_OF_ITERATIONS
        assert solver.solve(p, tol=1e-12, limits=Limits(time_limit=0.0)).status is Status.OUT_OF_TIME
        stop = threading.Event()
        stop.set()
        with pytest.raises(Stopped):
            solver.solve(p, limits=Limits(stop=stop))
    classes = OneVsRestProblem(sp.csr_array(p.rows), Hinge(), codes, p.C, np.ones(3))
    for limits, status in (
        (Limits(max_iter=1), Status.OUT_OF_ITERATIONS),
        (Limits(max_iter=joint_descent._MOST_EPOCHS + 1), Status.OUT_OF_ITERATIONS),
        (Limits(time_limit=0.0), Status.OUT_OF_TIME),
    ):
        for solution in choice.solve_classes(classes, tol=1e-12, limits=limits):
            assert solution.status is status
            assert solution.lower_bound < solution.primal


def test_the_route_follows_loss_and_features():
    with pytest.raises(ParameterError, match="not smooth"):
        choice.solve(problem(Hinge()), dual=False)
    with pytest.raises(ParameterError, match="no form for coordinate descent"):
        choice.solve(problem(Logistic()), dual=True)
    assert choice.by_smoothing(Hinge(), 3)
    assert not choice.by_smoothing(Hinge(), 3, dual=True)
    assert not choice.by_smoothing(SquaredHinge(), 3)
    assert not choice.by_smoothing(Hinge(), 5000)
    assert choice.in_dual(Hinge(), 5000, None)
    assert choice.in_dual(SquaredHinge(), 5000, None)
    assert not choice.in_dual(SquaredHinge(), 100, None)
    assert not choice.in_dual(Logistic(), 5000, None)


def test_a_loss_without_a_unit_dual_is_refused_there():
    with pytest.raises(ParameterError, match=r"The dual of Logistic\(\) has no form for coordinate descent"):
        choice.in_dual(Logistic(), 3, dual=True)
    assert not choice.in_dual(Logistic(), 10**6)


@pytest.mark.parametrize(("most", "chosen"), [(4, "newton"), (3, "newton_cg")])
def test_few_features_are_solved_by_factorisation(most, chosen, monkeypatch):
    asked = []
    for module in (newton, newton_cg):
        name = module.__name__.rpartition(".")[2]
        monkeypatch.setattr(module, "solve", lambda *_, name=name, **__: asked.append(name))
    monkeypatch.setattr(choice, "MOST_FEATURES", most)
    monkeypatch.setattr(choice, "by_loops", lambda *_: False)
    choice.solve(problem(Logistic()), dual=False)
    assert asked == [chosen]


def test_rows_in_blocks_have_no_absolute_penalty():
    fitted = kernels.Nystrom(kernels.RBF(1.0), m=3).fit(np.eye(4))
    rows = rows_of_features(fitted, Streamed(ArrayBlocks(np.eye(4)), Vectors))
    with pytest.raises(ParameterError, match="an absolute penalty needs all of them at once"):
        choice.solve(LinearProblem(rows, SquaredHinge(), np.ones(4), np.ones(4), 0.0), sparse=True)
