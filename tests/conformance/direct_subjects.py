"""Ridge regression, eigenvectors and clusters."""

import dataclasses
import functools
import math
from unittest import mock

import numpy as np
import scipy.linalg

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.solvers import eigen, kmeans
from mercer.solvers.ridge import direct, normal_equations
from mercer.solvers.solution import Status
from mercer.testing.minimisers import Answer, Minimiser
from tests.conformance.subjects import subject


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
