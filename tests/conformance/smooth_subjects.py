"""Newton's methods for smooth losses, on a Gram matrix and for several classes at once."""

import dataclasses
import functools
import math

import numpy as np
from scipy.optimize import minimize

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.multinomial import Multinomial
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.problem import LossProblem
from mercer.solvers.smooth import newton as function_space
from mercer.solvers.weights import (
    joint_newton,
)
from mercer.testing.minimisers import Answer, Minimiser
from mercer.testing.solvers import stored_gram
from mercer.training.certificate import certify
from tests.conformance.subjects import small, subject, twice


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
