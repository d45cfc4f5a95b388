"""Solvers of box problems, each on a problem that suits it."""

import dataclasses
import functools
import math

import numpy as np
from scipy.optimize import minimize

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.solvers.box.large import WorkingSetRun
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO, DenseRun, feasible
from mercer.solvers.box.step_rules import rule_for
from mercer.solvers.drive import Solver
from mercer.solvers.problem import LossProblem
from mercer.testing.minimisers import Answer
from mercer.testing.solvers import box_minimiser
from tests.conformance.subjects import small, subject
from tests.solvers.weights import test_nu_newton


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
