"""Small machines of sparse rows in one compiled call: the optimum by other means, also of odd rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.losses.hinge import Hinge
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.drive import Limits, Stopped
from mercer.solvers.solution import Status
from mercer.solvers.weights import choice, newton, small, small_sparse
from mercer.solvers.weights.problem import LinearProblem, OneVsRestProblem, relative_gap, unit_dual
from tests.solvers.weights.linear_problems import INTERCEPT_SCALES, SMOOTH, check, optimum, problem

QUADRATIC = [loss for loss in SMOOTH if unit_dual(loss) is not None]


@pytest.fixture(autouse=True)
def always(monkeypatch):
    monkeypatch.setattr(small_sparse, "suits", lambda rows: sp.issparse(rows))


def solved(p, tol=1e-6, limits=None):
    return small.solve(p.rows, p.loss, p.y[None], p.C[None], p.intercept_scale, tol=tol, limits=limits or Limits())


@pytest.mark.parametrize("loss", QUADRATIC, ids=repr)
@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
def test_finds_the_optimum(loss, intercept_scale):
    p = problem(loss, intercept_scale, sparse=True)
    (found,) = solved(p, tol=1e-7)
    check(p, found, optimum(p), rel=2e-7)


@pytest.mark.parametrize("intercept_scale", INTERCEPT_SCALES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_sparse_features(intercept_scale, dtype):
    """As found by Newton's method with a factor; rows and columns without any entry among them."""
    random = np.random.default_rng(4)
    rows = sp.random_array((300, 200), density=0.04, format="csr", random_state=random, dtype=dtype)
    rows = sp.csr_array(sp.diags_array(np.r_[np.zeros(20), np.ones(280)].astype(dtype)) @ rows)
    rows.eliminate_zeros()
    y, C = np.where(random.random(300) < 0.2, 1.0, -1.0), random.choice([0.5, 1.0, 3.0], 300)
    p = LinearProblem(rows, SquaredHinge(), y, C, intercept_scale)
    (found,) = solved(p, tol=1e-8)
    expected = newton.solve(p, tol=1e-10, limits=Limits(), seed=0)
    assert relative_gap(found.primal, found.lower_bound) <= 1e-8
    assert found.primal == pytest.approx(expected.primal, rel=2e-8)
    assert found.w == pytest.approx(expected.w, abs=1e-3)


def test_a_weight_is_a_repeated_row():
    p = problem(SquaredHinge(), 1.0, sparse=True)
    times = 1 + np.arange(p.rows.shape[0]) % 3
    ids = np.repeat(np.arange(len(times)), times)
    weighted = LinearProblem(p.rows, p.loss, p.y, p.C * times, 1.0)
    repeated = LinearProblem(p.rows[ids], p.loss, p.y[ids], p.C[ids], 1.0)
    (one,), (other,) = solved(weighted, tol=1e-10), solved(repeated, tol=1e-10)
    assert one.primal == pytest.approx(other.primal, rel=1e-9)
    assert one.w == pytest.approx(other.w, rel=1e-4, abs=1e-6)


def test_classes_by_the_common_way(monkeypatch):
    p = problem(SquaredHinge(), 1.0, n=120, sparse=True)
    several = OneVsRestProblem(p.rows, p.loss, np.arange(120) % 4, p.C, np.ones(4), 1.0)
    together = choice.solve_classes(several, tol=1e-8)
    monkeypatch.setattr(small_sparse, "suits", lambda rows: False)
    for found, expected in zip(together, choice.solve_classes(several, tol=1e-8), strict=True):
        assert found.status is expected.status is Status.CONVERGED
        assert found.primal == pytest.approx(expected.primal, rel=2e-8)


def test_what_is_not_solved_is_trained_by_others():
    p = problem(SquaredHinge(), 1.0, sparse=True)
    assert solved(p, limits=Limits(max_iter=1)) is None
    p.rows.data[:] *= 1e200
    assert solved(p) is None


def test_kinks_are_not_for_it():
    p = problem(Hinge(), 1.0, sparse=True)
    (found,) = solved(p)
    check(p, found, optimum(p), rel=2e-6)


def test_can_be_stopped():
    limits = Limits()
    limits.stop.set()
    with pytest.raises(Stopped):
        solved(problem(SquaredHinge(), sparse=True), limits=limits)


def test_compiled_once_for_all_types_of_entries():
    """Compiling takes seconds, and every further type would take them again."""
    p = problem(SquaredHinge(), 1.0, sparse=True)
    (expected,) = solved(p)
    for index in (np.int32, np.int64):
        for dtype in (np.float32, np.float64):
            rows = p.rows.astype(dtype)
            rows.indptr, rows.indices = rows.indptr.astype(index), rows.indices.astype(index)
            (found,) = solved(LinearProblem(rows, p.loss, p.y, p.C, 1.0))
            assert found.primal == pytest.approx(expected.primal, rel=1e-6)
    assert len(small_sparse.solve_all.signatures) == 1
