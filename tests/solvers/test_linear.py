"""Solvers of linear machines against general-purpose optimisers, which share nothing with them."""

import itertools
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from mercer.errors import ParameterError
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.quantile import Quantile
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.losses.squared import Squared
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.drive import Limits, Stopped
from mercer.solvers.solution import Status
from mercer.solvers.weights import choice, coordinate_descent, joint_descent, newton, newton_cg, row_products, smoothed
from mercer.solvers.weights.dual_form import dual_form
from mercer.solvers.weights.problem import LinearProblem, balanced

SMOOTH = [SquaredHinge(), Logistic(), SmoothHinge(), Squared(), SquaredEpsilonInsensitive(0.3), Huber(0.5)]
KINKED = [Hinge(), EpsilonInsensitive(0.2), EpsilonInsensitive(0.0), Quantile(0.2), Quantile(0.7)]
DUAL = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.2), SquaredEpsilonInsensitive(0.2), Squared(), Quantile(0.2)]
FREEDOMS = [0.0, 1.5, np.inf]


def problem(loss, freedom=0.0, n=60, d=4, seed=0, sparse=False, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)).astype(dtype)
    X[3] = 0.0  # a row that sees the intercept alone
    y = X @ np.arange(1, d + 1) - 0.7 + rng.normal(size=n)
    y = np.where(y > 0, 1.0, -1.0) if loss.classifies else y.astype(np.float64)
    return LinearProblem(sp.csr_array(X) if sparse else X, loss, y, rng.uniform(0.1, 3, n), freedom)


def objective(p, w, c):
    """From the definition."""
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows
    penalty = 0.5 * w @ w + (0.5 * (c / p.freedom) ** 2 if 0 < p.freedom < np.inf else 0.0)
    return penalty + p.C @ p.loss.value(p.y, X.astype(float) @ w + c)


def optimum(p):
    """The least objective: by BFGS where it is smooth, else by SLSQP on the dual's box with its constraint."""
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows
    X = X.astype(float)
    d = X.shape[1]
    if p.loss.smooth:

        def primal(theta):
            w, c = theta[:d], theta[d] * (p.freedom > 0)
            slope = p.C * p.loss.slope(p.y, X @ w + c)
            pull = 0.0 if p.freedom == 0 else slope.sum() + c / p.freedom**2
            return objective(p, w, c), np.append(w + X.T @ slope, pull)

        return minimize(primal, np.zeros(d + 1), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    dual = p.loss.dual(p.y, p.C)  # one variable for the positive part of each coefficient, one for the negative
    linear = np.concatenate([dual.linear + dual.kink, dual.linear - dual.kink])
    lower = np.concatenate([np.maximum(dual.lower, 0.0), np.minimum(dual.lower, 0.0)])
    upper = np.concatenate([np.maximum(dual.upper, 0.0), np.minimum(dual.upper, 0.0)])
    Z = np.vstack([X, X])
    if 0 < p.freedom < np.inf:
        Z = np.column_stack([Z, np.full(len(Z), p.freedom)])
    constraints = [{"type": "eq", "fun": np.sum, "jac": np.ones_like}] if p.freedom == np.inf else []
    found = minimize(
        lambda b: (0.5 * np.sum((b @ Z) ** 2) + linear @ b, Z @ (b @ Z) + linear),
        np.zeros(len(Z)), jac=True, method="SLSQP", bounds=list(zip(lower, upper, strict=True)),
        constraints=constraints, options={"ftol": 1e-13, "maxiter": 2000},
    )  # fmt: skip
    return -found.fun


def check(p, solution, best, rel):
    """The bounds are those of the definition, lie around the optimum, and are as close as asked."""
    X = p.rows.toarray() if sp.issparse(p.rows) else p.rows
    b = solution.dual
    image = b @ X
    dual = -0.5 * image @ image - p.C @ p.loss.conjugate(p.y, -b / p.C)
    if 0 < p.freedom < np.inf:
        dual -= 0.5 * (p.freedom * b.sum()) ** 2
    elif p.freedom == np.inf:
        assert abs(b.sum()) < 1e-9
    else:
        assert solution.intercept == 0
    assert solution.status is Status.CONVERGED
    assert solution.primal == pytest.approx(objective(p, solution.w, solution.intercept), rel=1e-10)
    assert solution.lower_bound == pytest.approx(dual, rel=1e-9)
    assert solution.lower_bound <= best * (1 + 1e-7)
    assert best <= solution.primal * (1 + 1e-7)
    assert solution.primal <= best * (1 + rel)


@pytest.mark.parametrize("solver", [newton, newton_cg], ids=["newton", "cg"])
@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_primal_solvers_find_the_optimum(loss, freedom, solver):
    for sparse in (False, True):
        p = problem(loss, freedom, sparse=sparse)
        check(p, solver.solve(p, tol=1e-10), optimum(p), 1e-7)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("loss", KINKED, ids=str)
def test_smoothing_finds_the_optimum(loss, freedom):
    for sparse in (False, True):
        p = problem(loss, freedom, sparse=sparse)
        check(p, smoothed.solve(p, tol=1e-7), optimum(p), 2e-7)


@pytest.mark.parametrize("loss", list(smoothed.Smoothed.examples()), ids=str)
def test_smoothed_losses_are_what_they_say(loss):
    f, y = np.linspace(-3, 3, 601), np.ones(601)
    u = np.linspace(-5, 5, 20_001)
    envelope = [(loss.loss.value(np.ones_like(u), u) + (x - u) ** 2 / (2 * loss.width)).min() for x in f]
    assert np.allclose(loss.value(y, f), envelope, atol=1e-6)
    step = 1e-6
    assert np.allclose(loss.slope(y, f), (loss.value(y, f + step) - loss.value(y, f - step)) / (2 * step), atol=1e-5)
    slope = loss.slope(y, f)
    assert np.allclose(loss.conjugate(y, slope), slope * f - loss.value(y, f))
    inner = f + 0.0123
    numeric = (loss.slope(y, inner + step) - loss.slope(y, inner - step)) / (2 * step)
    assert np.allclose(loss.curvature(y, inner), numeric, atol=1e-5)


@pytest.mark.parametrize("loss", list(smoothed.Smoothed.examples()), ids=str)
def test_rows_are_judged_by_their_smoothed_loss(loss):
    p = problem(loss)
    run = smoothed.SmoothedRun(p, row_products.rows_of(p.rows), None, 1e-3)
    f, change = np.random.default_rng(0).normal(scale=2.0, size=(2, len(p.y)))
    slope, curvature = np.empty((2, len(f)))
    assert np.isclose(run._judge(p.y, p.C, f, slope, curvature), p.C @ loss.value(p.y, f))
    assert np.allclose(slope, p.C * loss.slope(p.y, f))
    assert np.allclose(curvature, p.C * loss.curvature(p.y, f))
    assert np.isclose(run._pull(f, change, 0.3), (p.C * loss.slope(p.y, f + 0.3 * change)) @ change)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("loss", DUAL, ids=str)
def test_dual_descent_finds_the_optimum(loss, freedom):
    for sparse in (False, True):
        p = problem(loss, freedom, sparse=sparse)
        check(p, coordinate_descent.solve(p, tol=1e-6), optimum(p), 2e-6)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_classes_together_are_classes_alone(loss, freedom, tol):
    rng = np.random.default_rng(1)
    X = sp.csr_array(rng.normal(size=(150, 6)) * (rng.random((150, 6)) < 0.6))
    codes, C, factors = rng.integers(0, 11, 150), rng.uniform(0.5, 2, 150), rng.uniform(0.5, 2, 11)
    solutions = choice.solve_classes(X, loss, codes, C, factors, freedom, dual=True, tol=tol)
    assert len(solutions) == 11
    for k, solution in enumerate(solutions):
        own = codes == k
        p = LinearProblem(X, loss, np.where(own, 1.0, -1.0), np.where(own, factors[k] * C, C), freedom)
        check(p, solution, coordinate_descent.solve(p, tol=1e-8).primal, 1.01 * tol)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
def test_classes_do_not_depend_on_threads(loss, monkeypatch):
    rng = np.random.default_rng(1)
    X = sp.csr_array(rng.normal(size=(2200, 6)) * (rng.random((2200, 6)) < 0.6))
    codes, found = rng.integers(0, 11, 2200), []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        found.append(choice.solve_classes(X, loss, codes, np.ones(2200), np.ones(11), 0.0, dual=True, tol=1e-3))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one.w, other.w)
        assert np.array_equal(one.dual, other.dual)


@pytest.mark.parametrize("classes", [3, 8, 9, 12, 13, 20, 21])
def test_every_class_is_in_one_group(classes):
    groups = choice._groups(classes)
    assert np.array_equal(np.concatenate(groups), np.arange(classes))
    assert all(len(group) <= joint_descent.WIDTH for group in groups)


@pytest.mark.parametrize("n", [1, 15, 2047, 2048, 5003])
def test_shuffled_rows_are_all_there(n):
    found = row_products.shuffled(np.arange(n) + 7, np.random.default_rng(0))
    assert np.array_equal(np.sort(found), np.arange(n) + 7)
    assert n == 1 or not np.array_equal(found, np.arange(n) + 7)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=str)
def test_many_features_keep_their_places(loss):
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 6000), density=0.01, rng=rng, format="csr")
    codes = rng.integers(0, 3, 80)
    solutions = choice.solve_classes(X, loss, codes, np.ones(80), np.ones(3), 0.0, tol=1e-5)
    for k, solution in enumerate(solutions):
        p = LinearProblem(X, loss, np.where(codes == k, 1.0, -1.0), np.ones(80))
        check(p, solution, coordinate_descent.solve(p, tol=1e-8).primal, 1e-4)


def test_newton_with_squared_hinges_ends_after_finitely_many_steps():
    p = problem(SquaredHinge(), n=400, d=10)
    solution = newton.solve(p, tol=1e-25)
    assert solution.stats.iterations < 12
    assert solution.status is Status.CONVERGED


def test_a_start_on_a_few_rows_and_corrected_matrices_lead_to_the_same_place():
    for sparse in (False, True):
        p = problem(SquaredHinge(), np.inf, n=20_000, sparse=sparse)
        exact = newton.solve(p, tol=1e-20)
        assert np.allclose(exact.w, newton_cg.solve(p, tol=1e-14).w, atol=1e-6)
        run = newton.PrimalNewtonRun(p, row_products.rows_of(p.rows), exact.w[[0, 0, 0, 0, 0]], 1e-20)
        for _ in range(4):
            run.step(1)
        X = p.rows.toarray() if sparse else p.rows
        expected = X.T @ (run._curvature[:, None] * X)
        assert np.allclose(np.tril(run._normals.sum(axis=0)), np.tril(expected), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_products_with_rows_are_those_of_numpy_whatever_the_threads(dtype, sparse, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(17_000, 5)) * (rng.random((17_000, 5)) < 0.5)).astype(dtype)
    matrix, w, r = sp.csr_array(X) if sparse else X, rng.normal(size=5), rng.normal(size=17_000)
    r[::3] = 0.0
    exact = X.astype(float)
    several = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        view = row_products.rows_of(matrix)
        assert len(view.blocks) > 1
        normal = np.zeros((5, 5))
        for block in view.blocks:
            view.add_normal(block, r[block], normal)
        several.append([view.all_outputs(w), view.combination(r), view.squares(r), np.tril(normal)])
    expected = [exact @ w, r @ exact, r @ exact**2, np.tril(exact.T @ (r[:, None] * exact))]
    for one, three, numpys in zip(*several, expected, strict=True):
        assert np.array_equal(one, three)
        assert np.allclose(one, numpys, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", DUAL, ids=str)
def test_dual_forms_are_conjugates(loss):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 50) if loss.classifies else rng.normal(size=50)
    C = rng.uniform(0.5, 2, 50)
    form = dual_form(loss, y, C)
    b = np.clip(rng.normal(size=50), form.lower, form.upper)
    value = 0.5 * form.ridge * b * b - form.y * b + form.epsilon * np.abs(b)
    assert np.allclose(value, C * loss.conjugate(y, -b / C))


def test_balanced_coefficients_sum_to_zero_within_their_bounds():
    for b in (np.array([1.0, 2.0, -1.0]), np.array([-3.0, 1.0, 0.0]), np.zeros(3), np.array([1.0, 0.0])):
        even = balanced(b)
        assert abs(even.sum()) < 1e-15
        assert (even * b >= 0).all()
        assert (np.abs(even) <= np.abs(b)).all()


def test_seeds_change_the_way_and_not_the_result():
    p = problem(Hinge(), n=200)
    first, again, other = (coordinate_descent.solve(p, tol=1e-7, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(first.w, again.w)
    assert not np.array_equal(first.w, other.w)
    assert np.allclose(first.w, other.w, atol=1e-3)


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
    arguments = (sp.csr_array(p.rows), Hinge(), codes, p.C, np.ones(3), 0.0)
    for limits, status in (
        (Limits(max_iter=1), Status.OUT_OF_ITERATIONS),
        (Limits(max_iter=joint_descent._MOST_EPOCHS + 1), Status.OUT_OF_ITERATIONS),
        (Limits(time_limit=0.0), Status.OUT_OF_TIME),
    ):
        for solution in choice.solve_classes(*arguments, tol=1e-12, limits=limits):
            assert solution.status is status
            assert solution.lower_bound < solution.primal


def test_the_route_follows_loss_and_features():
    with pytest.raises(ParameterError, match="not smooth"):
        choice.solve(problem(Hinge()), dual=False)
    with pytest.raises(ParameterError, match="no form for coordinate descent"):
        choice.solve(problem(Logistic()), dual=True)
    assert choice._by_smoothing(Hinge(), 3)
    assert not choice._by_smoothing(Hinge(), 5000)
    assert choice._in_dual(Hinge(), 5000, None)
    assert choice._in_dual(SquaredHinge(), 5000, None)
    assert not choice._in_dual(SquaredHinge(), 100, None)
    assert not choice._in_dual(Logistic(), 5000, None)
