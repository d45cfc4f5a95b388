"""Several classes against the rest at once, which are to be what they are alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.losses.hinge import Hinge
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.weights import choice, coordinate_descent, joint_descent
from mercer.solvers.weights.problem import LinearProblem, OneVsRestProblem
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, check


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_classes_together_are_classes_alone(loss, intercept_scale, tol):
    rng = np.random.default_rng(1)
    X = sp.csr_array(rng.normal(size=(150, 6)) * (rng.random((150, 6)) < 0.6))
    codes, C, factors = rng.integers(0, 11, 150), rng.uniform(0.5, 2, 150), rng.uniform(0.5, 2, 11)
    solutions = choice.solve_classes(OneVsRestProblem(X, loss, codes, C, factors, intercept_scale), dual=True, tol=tol)
    assert len(solutions) == 11
    for k, solution in enumerate(solutions):
        own = codes == k
        p = LinearProblem(X, loss, np.where(own, 1.0, -1.0), np.where(own, factors[k] * C, C), intercept_scale)
        check(p, solution, coordinate_descent.solve(p, tol=1e-8).primal, 1.01 * tol)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
def test_classes_do_not_depend_on_threads(loss, monkeypatch):
    rng = np.random.default_rng(1)
    X = sp.csr_array(rng.normal(size=(2200, 6)) * (rng.random((2200, 6)) < 0.6))
    given, found = OneVsRestProblem(X, loss, rng.integers(0, 11, 2200), np.ones(2200), np.ones(11)), []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        found.append(choice.solve_classes(given, dual=True, tol=1e-3))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one.w, other.w)
        assert np.array_equal(one.dual, other.dual)


@pytest.mark.parametrize("classes", [3, 8, 9, 12, 13, 20, 21])
def test_every_class_is_in_one_group(classes):
    groups = joint_descent.groups_of(classes)
    assert np.array_equal(np.concatenate(groups), np.arange(classes))
    assert all(len(group) <= joint_descent.WIDTH for group in groups)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
def test_many_features_keep_their_places(loss):
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 6000), density=0.01, rng=rng, format="csr")
    codes = rng.integers(0, 3, 80)
    solutions = choice.solve_classes(OneVsRestProblem(X, loss, codes, np.ones(80), np.ones(3)), tol=1e-5)
    for k, solution in enumerate(solutions):
        p = LinearProblem(X, loss, np.where(codes == k, 1.0, -1.0), np.ones(80))
        check(p, solution, coordinate_descent.solve(p, tol=1e-8).primal, 1e-4)
