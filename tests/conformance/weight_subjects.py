"""Solvers for the weights of features, each on a problem that suits it."""

import dataclasses
import functools
import math

import numpy as np
import scipy.sparse as sp

from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.quantile import Quantile
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.box.smo import SMO
from mercer.solvers.solution import Status
from mercer.solvers.weights import (
    coordinate_descent,
    joint_descent,
    newton,
    newton_cg,
    nu_newton,
    smoothed,
)
from mercer.solvers.weights.problem import OneVsRestProblem
from mercer.testing.minimisers import Answer, Minimiser
from mercer.testing.solvers import box_minimiser
from tests.conformance.subjects import small, subject, twice
from tests.solvers.weights import linear_problems, test_nu_newton


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
