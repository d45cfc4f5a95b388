"""Every solver of ours on a problem that suits it, with the optimum found by general-purpose optimisers."""

import dataclasses
import functools
import math
from unittest import mock

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import minimize

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.multinomial import Multinomial
from mercer.losses.quantile import Quantile
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers import eigen, kmeans
from mercer.solvers.box.large import WorkingSetRun
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO, DenseRun, feasible
from mercer.solvers.box.step_rules import rule_for
from mercer.solvers.drive import Solver
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge import direct, normal_equations
from mercer.solvers.smooth import newton as function_space
from mercer.solvers.solution import Status
from mercer.solvers.weights import (
    coordinate_descent,
    joint_descent,
    joint_newton,
    newton,
    newton_cg,
    nu_newton,
    smoothed,
)
from mercer.solvers.weights.problem import OneVsRestProblem
from mercer.testing.minimisers import Answer, Minimiser
from mercer.testing.solvers import box_minimiser, stored_gram
from mercer.training.certificate import certify
from tests.solvers.weights import linear_problems, test_nu_newton

SUBJECTS = {}


def subject(name):
    """Made when it is first asked for: oracles take a while."""

    def register(make):
        SUBJECTS[name] = functools.cache(make)
        return make

    return register


@functools.cache
def small(loss, scale=0.0):
    """A problem, and its least objective."""
    problem = linear_problems.problem(loss, scale, n=40)
    return problem, linear_problems.optimum(problem)


def twice(problem):
    """Every row twice, with half its penalty."""
    stack = sp.vstack if sp.issparse(problem.rows) else np.vstack
    rows = stack([problem.rows, problem.rows])
    return dataclasses.replace(problem, rows=rows, y=np.tile(problem.y, 2), C=np.tile(problem.C, 2) / 2)


# ------------------------------------------------------------------------------------------------------- the boxes


class InSets(Solver):
    """By working sets, which small problems do without."""

    def init(self, gram, problem, *, start, tol):
        start = feasible(problem) if start is None else start
        return WorkingSetRun(gram, problem, start, tol, rule_for(problem), 8, 24)


class Exactly(Solver):
    """By the loops that compare in float64, which others come to when single precision no longer suffices."""

    def init(self, gram, problem, *, start, tol):
        rule = rule_for(problem)
        rule.steps = rule.exact_steps
        return DenseRun(gram, problem, feasible(problem) if start is None else start.copy(), tol, rule)


def hinge_box(solver, loss, intercept):
    problem, least = small(loss, math.inf if intercept else 0.0)
    box = BoxProblem.of(LossProblem(loss, problem.y, problem.C, intercept=intercept))
    return with_threads(box_minimiser(solver, problem.rows @ problem.rows.T, box, -least), solver, intercept)


def nu_box(solver):
    X, box = test_nu_newton.CASES[0][1:]
    return box_minimiser(solver, X @ X.T, box, test_nu_newton.optimum(X, box))


def with_threads(made, solver, intercept):
    """With a larger problem, of which the matrix is computed by tiles."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, 1.0, -1.0)
    box = BoxProblem.of(LossProblem(Hinge(), y, np.ones(2100), intercept=intercept))

    def large(*, tol, limits):
        found = solver.solve(gram_of(kernels.RBF().fit(X), X), box, tol=max(tol, 1e-1), limits=limits)
        return Answer(found.coefficients, found.objective, found.status, found.stats.iterations)

    return dataclasses.replace(made, large=large if isinstance(solver, SMO) else None)


for solver in (SMO(), InSets(), Exactly()):
    kind = type(solver).__name__
    subject(f"pairs-{kind}")(functools.partial(hinge_box, solver, Hinge(), True))
    subject(f"singles-{kind}")(functools.partial(hinge_box, solver, Hinge(), False))
    subject(f"kinked-pairs-{kind}")(functools.partial(hinge_box, solver, EpsilonInsensitive(0.2), True))
    subject(f"kinked-singles-{kind}")(functools.partial(hinge_box, solver, EpsilonInsensitive(0.2), False))
    subject(f"nu-{kind}")(functools.partial(nu_box, solver))


@subject("hard-margin")
def hard_margin():
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 15)
    X = rng.normal(size=(30, 2)) + 3.0 * y[:, None]
    infinite = np.full(30, np.inf)
    box = BoxProblem(-y, np.where(y > 0, 0.0, -infinite), np.where(y > 0, infinite, 0.0))
    margin = minimize(  # the primal: the shortest w that keeps every object on its side
        lambda w: 0.5 * w[:2] @ w[:2], np.ones(3), method="SLSQP", options={"ftol": 1e-15, "maxiter": 1000},
        constraints={"type": "ineq", "fun": lambda w: y * (X @ w[:2] + w[2]) - 1.0},
    ).fun  # fmt: skip
    made = box_minimiser(SMO(), X @ X.T, box, -margin)
    return dataclasses.replace(made, violation=None, doubled=None)


# ------------------------------------------------------------------------------------------------- weights of features


def primal_answer(found):
    point = (found.w, found.intercept, found.dual)
    stats = found.stats
    return Answer(point, found.primal, found.status, stats.iterations, stats.gap, found.lower_bound)


def by_primal(solver, loss, scale, *, sparse=False):
    """What goes down is the objective itself."""
    problem, least = small(loss, scale)
    if sparse:
        problem = dataclasses.replace(problem, rows=sp.csr_array(problem.rows))
    made = _by_primal(solver, problem, least)
    return dataclasses.replace(made, doubled=_by_primal(solver, twice(problem), least), large=many_rows(solver, loss))


def _by_primal(solver, problem, least):
    def solve(*, tol, limits, on_chunk=None, start=None):
        assert start is None
        return primal_answer(solver.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk))

    return Minimiser(
        solve,
        lambda point: linear_problems.objective(problem, *point[:2]),
        lambda point: dual_infeasibility(problem, point[2]),
        allowed=lambda tol: tol * least,
        least=least,
        at_start=linear_problems.objective(problem, np.zeros(problem.n_features), 0.0),
        given=(problem.rows, problem.y, problem.C),
    )


def many_rows(solver, loss):
    """A problem of several blocks of rows, which threads share."""
    problem = linear_problems.problem(loss, 1.0, n=9000, d=3)

    def large(*, tol, limits):
        return primal_answer(solver.solve(problem, tol=tol, limits=limits))

    return large


def dual_infeasibility(problem, b):
    """How far coefficients are outside the domain of the conjugate, or from the sum that a free intercept asks for."""
    conjugates = problem.loss.conjugate(problem.y, -b / problem.C)
    if not np.isfinite(conjugates).all():
        return math.inf
    return abs(float(b.sum())) / max(1.0, np.abs(b).sum()) if problem.free_intercept else 0.0


def by_dual(solver, loss, scale):
    """What goes down is minus the dual objective: no such value is below minus the primal one."""
    problem, least = small(loss, scale)
    problem = dataclasses.replace(problem, rows=sp.csr_array(problem.rows))
    made = _by_dual(solver, problem, least)
    return dataclasses.replace(made, doubled=_by_dual(solver, twice(problem), least), large=many_rows(solver, loss))


def _by_dual(solver, problem, least):
    def solve(*, tol, limits, on_chunk=None, start=None):
        assert start is None
        found = solver.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk)
        return dual_answer((found.dual, found.w, found.intercept), [found])

    return Minimiser(
        solve,
        lambda point: minus_dual(problem, point[0]),
        lambda point: dual_infeasibility(problem, point[0]),
        allowed=lambda tol: tol * least,
        least=-least,
        at_start=minus_dual(problem, np.zeros(len(problem.C))),
        given=(problem.rows.data, problem.y, problem.C),
    )


def minus_dual(problem, b):
    image = problem.rows.T @ b
    value = 0.5 * image @ image + problem.C @ problem.loss.conjugate(problem.y, -b / problem.C)
    scale = problem.intercept_scale
    return value + (0.5 * (scale * b.sum()) ** 2 if 0 < scale < math.inf else 0.0)


def dual_answer(point, found):
    statuses = [part.status for part in found]
    status = next((status for status in statuses if status is not Status.CONVERGED), Status.CONVERGED)
    return Answer(
        point,
        -sum(part.lower_bound for part in found),
        status,
        max(part.stats.iterations for part in found),
        max(part.stats.gap for part in found),
        -sum(part.primal for part in found),
    )


for loss in (SquaredHinge(), Logistic(), Huber(0.5), SquaredEpsilonInsensitive(0.3)):
    subject(f"newton-{loss}")(functools.partial(by_primal, newton, loss, math.inf))
    subject(f"newton-cg-{loss}")(functools.partial(by_primal, newton_cg, loss, 1.5, sparse=True))
for loss in (Hinge(), EpsilonInsensitive(0.2), Quantile(0.2)):
    subject(f"smoothed-{loss}")(functools.partial(by_primal, smoothed, loss, math.inf))
for loss in (Hinge(), SquaredHinge(), EpsilonInsensitive(0.2), Huber(0.5)):
    subject(f"descent-{loss}")(functools.partial(by_dual, coordinate_descent, loss, 1.5))
subject("descent-free-intercept")(functools.partial(by_dual, coordinate_descent, Hinge(), math.inf))


@subject("joint-descent")
def classes_together():
    rng = np.random.default_rng(1)
    X = sp.csr_array(rng.normal(size=(60, 4)))
    problem = OneVsRestProblem(X, Hinge(), rng.integers(0, 3, 60), rng.uniform(0.5, 2, 60), np.ones(3), 1.0)
    singles = [problem.single(k) for k in range(3)]
    least = sum(linear_problems.optimum(single) for single in singles)

    def solve(*, tol, limits, on_chunk=None, start=None):
        found = joint_descent.solve(problem, tol=tol, limits=limits, on_chunk=on_chunk, seed=0)
        return dual_answer(np.array([part.dual for part in found]), found)

    return Minimiser(
        solve,
        lambda point: sum(minus_dual(single, b) for single, b in zip(singles, point, strict=True)),
        lambda point: max(dual_infeasibility(single, b) for single, b in zip(singles, point, strict=True)),
        allowed=lambda tol: tol * least,
        least=-least,
        at_start=0.0,
        given=(X.data, problem.codes, problem.C),
    )


# ------------------------------------------------------------------------------------- coefficients of smooth machines


def by_coefficients(run, rows, problem, least):
    """A way to b and c that minimise 1/2 b'Kb + sum_i C_i loss(y_i, (Kb)_i + c)."""
    K = rows @ rows.T

    def solve(*, tol, limits, on_chunk=None, start=None):
        found = run(tol=tol, limits=limits, on_chunk=on_chunk)
        b, stats = found.coefficients, found.stats
        proof = certify(problem, b, found.outputs, found.intercept, iterations=0, dtype="")
        balanced = not problem.intercept or np.abs(b.sum(axis=0)).max() <= 1e-9 * np.abs(b).sum()
        bound = proof.dual if balanced else -math.inf
        return Answer((b, found.intercept), found.objective, found.status, stats.iterations, stats.gap, bound)

    def objective(point):
        b, c = point
        return 0.5 * np.sum(b * (K @ b)) + problem.C @ problem.loss.value(problem.y, K @ b + c)

    zeros = np.zeros(len(rows)) if problem.outputs == 1 else np.zeros((len(rows), problem.outputs))
    return Minimiser(
        solve,
        objective,
        lambda point: 0.0 if np.isfinite(point[0]).all() else math.inf,
        allowed=lambda tol: tol * problem.C.sum() * max(1.0, np.abs(K).max()),
        least=least,
        at_start=objective((zeros, 0.0)),
        given=(rows, problem.y, problem.C),
    )


def in_function_space(loss, intercept):
    given, least = small(loss, math.inf if intercept else 0.0)

    def made(given):
        problem = LossProblem(loss, given.y, given.C, intercept=intercept)
        run = functools.partial(function_space.solve, stored_gram(given.rows @ given.rows.T), problem)
        return by_coefficients(run, given.rows, problem, least)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0)

    def large(*, tol, limits):
        problem = LossProblem(loss, y, np.ones(1500), intercept=intercept)
        found = function_space.solve(gram_of(kernels.RBF().fit(X), X), problem, tol=tol, limits=limits)
        return Answer(found.coefficients, found.objective, found.status, found.stats.iterations)

    return dataclasses.replace(made(given), doubled=made(twice(given)), large=large)


for loss in (SquaredHinge(), Logistic(), Huber(0.5)):
    for intercept in (True, False):
        name = f"function-space-{loss}" + ("" if intercept else "-no-intercept")
        subject(name)(functools.partial(in_function_space, loss, intercept))


@functools.cache
def several_classes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    y = (X @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(60, 3))).argmax(axis=1).astype(float)
    C = rng.uniform(0.5, 2.0, 60)

    def primal(flat):
        theta = flat.reshape(5, 3)
        f = X @ theta[:4] + theta[4]
        slope = C[:, None] * Multinomial().slope(y, f)
        gradient = np.vstack([theta[:4] + X.T @ slope, slope.sum(axis=0)])
        return 0.5 * np.sum(theta[:4] ** 2) + C @ Multinomial().value(y, f), gradient.ravel()

    least = minimize(primal, np.zeros(15), jac=True, method="BFGS", options={"gtol": 1e-9}).fun
    return X, LossProblem(Multinomial(), y, C, outputs=3), least


@subject("joint-newton")
def several_on_weights():
    X, problem, least = several_classes()
    run = functools.partial(joint_newton.solve, X, problem)
    rows = np.random.default_rng(0).normal(size=(9000, 3))
    codes = np.arange(9000.0) % 3
    many = LossProblem(Multinomial(), codes, np.ones(9000), outputs=3)

    def large(*, tol, limits):
        found = joint_newton.solve(rows, many, tol=tol, limits=limits)
        return Answer(found.coefficients, found.objective, found.status, found.stats.iterations)

    made = by_coefficients(run, X, problem, least)
    # Weights are minimised, and coefficients follow: stopped early these say less than the objective of the weights.
    return dataclasses.replace(made, large=large, at_start=math.inf)


@subject("function-space-multinomial")
def several_in_function_space():
    X, problem, least = several_classes()
    return by_coefficients(functools.partial(function_space.solve, stored_gram(X @ X.T), problem), X, problem, least)


@subject("nu-newton")
def nu_on_weights():
    X, box = test_nu_newton.CASES[0][1:]
    least = test_nu_newton.optimum(X, box)
    made = box_minimiser(SMO(), X @ X.T, box, least)

    def solve(*, tol, limits, on_chunk=None, start=None):
        found, _ = nu_newton.solve(test_nu_newton.gram_of_rows(X), box, tol=tol, limits=limits, on_chunk=on_chunk)
        stats = found.stats
        size = max(abs(found.objective), 0.5 * float(found.coefficients @ found.outputs))
        bound = found.objective - stats.gap * size if np.isfinite(stats.gap) else -math.inf
        return Answer(found.coefficients, found.objective, found.status, stats.iterations, stats.gap, bound)

    allowed = lambda tol: 2.0 * tol * max(1.0, abs(least))  # noqa: E731
    return dataclasses.replace(made, solve=solve, allowed=allowed, warm_starts=False, doubled=None, at_start=math.inf)


# ----------------------------------------------------------------------------------------------------------- ridge


def ridge(run, rows, weights, intercept):
    rng = np.random.default_rng(3)
    y, alpha = rng.normal(size=(60, 2)) + rows[:60] @ np.ones((rows.shape[1], 2)), np.array([0.7, 3.0])
    y = np.tile(y, (len(rows) // 60, 1))
    K = rows @ rows.T

    def objective(point):
        b, c = point
        residual = y - K @ b - c
        return float(np.sum(weights[:, None] * residual**2) + np.sum(alpha * np.sum(b * (K @ b), axis=0)))

    least = 0.0
    for column, penalty in zip(y.T, alpha, strict=True):  # least squares on rows with those of the penalty below them
        root = np.sqrt(weights)
        top = root[:, None] * (np.column_stack([rows, np.ones(len(rows))]) if intercept else rows)
        below = np.sqrt(penalty) * np.eye(rows.shape[1], top.shape[1])
        right = np.concatenate([root * column, np.zeros(rows.shape[1])])
        stacked = np.vstack([top, below])
        found = scipy.linalg.lstsq(stacked, right)[0]
        least += float(np.sum((stacked @ found - right) ** 2))

    def solve(*, tol, limits, on_chunk=None, start=None):
        found = run(y, alpha, weights, intercept=intercept, limits=limits)
        point = (found.coefficients, found.intercept)
        return Answer(point, objective(point), Status.CONVERGED, 0)

    return Minimiser(
        solve, objective, lambda point: 0.0 if np.isfinite(point[0]).all() else math.inf, allowed=lambda tol: 0.0,
        least=least, given=(rows, weights), iterative=False, reports=False,
    )  # fmt: skip


def iteratively(rows, *args, **options):
    """Normal equations by conjugate gradients, which others come to with thousands of features."""
    with mock.patch.object(normal_equations, "MOST_FEATURES", 0):
        return normal_equations.solve(rows, *args, **options)


def ridge_subject(solver, on_rows, intercept):
    rows = np.random.default_rng(4).normal(size=(60, 4))
    weights = np.random.default_rng(5).uniform(0.2, 2.0, 60)

    def made(rows, weights):
        return ridge(functools.partial(solver, rows if on_rows else rows @ rows.T), rows, weights, intercept)

    doubled = made(np.vstack([rows, rows]), np.tile(weights, 2) / 2)
    return dataclasses.replace(made(rows, weights), doubled=doubled)


for name, solver, on_rows in (
    ("direct", direct.solve, False),
    ("normal-equations", normal_equations.solve, True),
    ("iterative", iteratively, True),
):
    for intercept in (True, False):
        kind = f"ridge-{name}" + ("" if intercept else "-no-intercept")
        subject(kind)(functools.partial(ridge_subject, solver, on_rows, intercept))


# ------------------------------------------------------------------------------------------- eigenvectors and clusters


@subject("eigen")
def leading_eigenvectors():
    X = np.random.default_rng(0).normal(size=(80, 5))
    K = X @ X.T
    least = -float(np.linalg.eigvalsh(K)[-3:].sum())

    def solve(*, tol, limits, on_chunk=None, start=None):
        found = eigen.leading(lambda block: K @ block, 80, 3, tol=tol, limits=limits)
        size = max(np.abs(found.values).max(initial=0.0), 1e-300)
        status = Status.CONVERGED if found.converged else Status.STALLED
        bound = -float((found.values + found.residuals).sum()) if found.converged else -math.inf
        gap, blocks = found.residuals.max(initial=0.0) / size, found.products // 4
        return Answer(found.vectors, -float(found.values.sum()), status, blocks - 1, gap, bound)  # the first is free

    return Minimiser(
        solve,
        lambda vectors: -float(np.sum(vectors * (K @ vectors))),
        lambda vectors: float(np.abs(vectors.T @ vectors - np.eye(vectors.shape[1])).max()),
        allowed=lambda tol: 3 * tol * abs(least),
        least=least,
        at_start=0.0,
        given=(K,),
        reports=False,
    )


@subject("kmeans")
def clusters():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    X = np.repeat(centres, 20, axis=0) + rng.normal(size=(60, 2))
    gram = gram_of(kernels.Linear().fit(X), X)

    def inertia(labels):
        return sum(float(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum()) for k in np.unique(labels))

    def solve(*, tol, limits, on_chunk=None, start=None):
        found = kmeans.kernel_kmeans(gram, 3, limits=limits, rng=np.random.default_rng(1))
        status = Status.CONVERGED if found.converged else Status.STALLED
        return Answer(found.labels, found.inertia, status, found.iterations)

    return Minimiser(
        solve, inertia, lambda labels: 0.0 if set(labels) == {0, 1, 2} else math.inf, allowed=lambda tol: 0.0,
        least=inertia(np.repeat([0, 1, 2], 20)), given=(X,), reports=False, at_start=inertia(np.zeros(60)),
    )  # fmt: skip
