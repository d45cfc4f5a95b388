"""The nu-forms and one class on the weights of features, against a general-purpose optimiser on their dual."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from mercer.gram.make import gram_of_rows
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits
from mercer.solvers.solution import Status
from mercer.solvers.weights import nu_newton


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.8) + [1.5, 0.0, 0.0]
    return X, np.where(X @ [0.3, 1.0, -1.0] + rng.normal(size=n) > 0.4, 1.0, -1.0), rng.uniform(0.3, 2.0, n)


def problems():
    X, y, C = data()
    up, down = np.where(y > 0, C, 0.0), np.where(y > 0, 0.0, -C)
    most = 2 * min(up.sum(), -down.sum())
    yield "classes", X, BoxProblem(np.zeros(40), down, up, 0.0, 0.5 * most)
    yield "all of a class", X, BoxProblem(np.zeros(40), down, up, 0.0, most)
    twice, target = np.vstack([X, X]), X @ [1.0, 2.0, 0.0] + np.sin(7 * X[:, 1]) + 3.0
    nothing = np.zeros(40)
    boxes = np.concatenate([nothing, -C]), np.concatenate([C, nothing])
    yield "tube", twice, BoxProblem(np.concatenate([-target, -target]), *boxes, 0.0, 0.4 * C.sum())
    yield "plane", X, BoxProblem(nothing, nothing, C, 0.3 * C.sum())
    yield "ball", X, BoxProblem(-0.5 * 0.3 * C.sum() * (X * X).sum(axis=1), nothing, C, 0.3 * C.sum())


CASES = list(problems())


def optimum(X, problem):
    """By SLSQP on the box of the dual, with one sum for each side."""
    sides = [np.ones(len(X))] if problem.absolute_sum is None else [problem.upper > 0, problem.upper <= 0]
    sums = [problem.total] if problem.absolute_sum is None else [problem.absolute_sum / 2, -problem.absolute_sum / 2]
    start = np.zeros(len(X))
    for side, held in zip(sides, sums, strict=True):
        bound = side * (problem.upper if held > 0 else -problem.lower)
        start += bound * held / bound.sum()
    found = minimize(
        lambda b: (0.5 * np.sum((b @ X) ** 2) + problem.linear @ b, X @ (b @ X) + problem.linear), start, jac=True,
        method="SLSQP", bounds=list(zip(problem.lower, problem.upper, strict=True)),
        constraints=[
            {"type": "eq", "fun": lambda b, s=side, h=held: s @ b - h, "jac": lambda b, s=side: s.astype(float)}
            for side, held in zip(sides, sums, strict=True)
        ],
        options={"ftol": 1e-14, "maxiter": 3000},
    )  # fmt: skip
    return found.fun


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize(("X", "problem"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_finds_the_optimum_and_its_levels(X, problem, form):
    gram = gram_of_rows(form(X))
    assert nu_newton.applies(gram, problem)
    found, levels = nu_newton.solve(gram, problem, tol=1e-6)
    b, best = found.coefficients, optimum(X, problem)
    assert found.status is Status.CONVERGED
    assert (b >= problem.lower - 1e-12).all()
    assert (b <= problem.upper + 1e-12).all()
    assert b.sum() == pytest.approx(problem.total, abs=1e-9)
    if problem.absolute_sum is not None:
        assert np.abs(b).sum() == pytest.approx(problem.absolute_sum, rel=1e-9)
    np.testing.assert_allclose(found.outputs, X @ (b @ X), atol=1e-9)
    dual = 0.5 * np.sum((b @ X) ** 2) + problem.linear @ b
    assert found.objective == pytest.approx(dual, rel=1e-12)
    assert best <= dual + 1e-6 * abs(best)
    assert dual <= best + 1e-6 * abs(best)
    # The levels make the primal, written down from its definition, as small as the dual is large.
    F, (first, last) = -(found.outputs + problem.linear), levels
    level = np.where(problem.upper > 0, first, last)
    held = [problem.total] if problem.absolute_sum is None else [problem.absolute_sum / 2, -problem.absolute_sum / 2]
    primal = 0.5 * np.sum((b @ X) ** 2) + sum(h * at for h, at in zip(held, levels, strict=False))
    primal += np.sum(problem.upper * np.maximum(F - level, 0) - problem.lower * np.maximum(level - F, 0))
    assert primal + dual == pytest.approx(0.0, abs=2e-6 * max(1.0, abs(dual)))
    exact = SMO().solve(gram_of_rows(X), problem, tol=1e-9)
    np.testing.assert_allclose(found.outputs, exact.outputs, atol=1e-3 * max(1.0, np.abs(exact.outputs).max()))


def test_what_it_is_not_for():
    X, _, C = data()
    plane = BoxProblem(np.zeros(40), np.zeros(40), C, 0.3 * C.sum())
    assert not nu_newton.applies(gram_of_rows(np.ones((40, nu_newton.MOST_FEATURES + 1))), plane)
    assert not nu_newton.applies(gram_of_rows(X), BoxProblem(np.zeros(40), -C, C, 0.0))
    assert not nu_newton.applies(gram_of_rows(X), BoxProblem(np.zeros(40), np.zeros(40), C, None))


def test_objects_all_alike_and_limits():
    _, _, C = data()
    plane = BoxProblem(np.zeros(40), np.zeros(40), C, 0.3 * C.sum())
    found, levels = nu_newton.solve(gram_of_rows(np.ones((40, 2))), plane, tol=1e-6)
    assert found.status is Status.CONVERGED
    assert levels[0] == pytest.approx(-2 * 0.3 * C.sum())
    X = CASES[2][1]
    early, _ = nu_newton.solve(gram_of_rows(X), CASES[2][2], tol=1e-9, limits=Limits(max_iter=2))
    assert early.status is Status.OUT_OF_ITERATIONS
    assert early.coefficients.sum() == pytest.approx(0.0, abs=1e-9)
    around = np.vstack([X, -X])  # nothing lies beyond the origin: w is zero, and so is the objective
    nowhere = BoxProblem(np.zeros(len(around)), np.zeros(len(around)), np.ones(len(around)), len(around) / 2)
    found, _ = nu_newton.solve(gram_of_rows(around), nowhere, tol=1e-6)
    assert found.objective == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("C", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("n", [2, 5])
def test_sums_are_kept_where_parabolas_become_narrower_than_rounding(n, C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y, bound, nothing = X @ [1.0, -2.0, 0.5] + 3.0, np.full(n, C), np.zeros(n)
    problem = BoxProblem(
        np.concatenate([-y, -y]), np.concatenate([nothing, -bound]), np.concatenate([bound, nothing]), 0.0, n * C / 2
    )
    b = nu_newton.solve(gram_of_rows(np.vstack([X, X])), problem, tol=1e-7)[0].coefficients
    assert b[:n].sum() == pytest.approx(n * C / 4, rel=1e-9)
    assert b[n:].sum() == pytest.approx(-n * C / 4, rel=1e-9)
    assert (problem.lower <= b).all()
    assert (b <= problem.upper).all()
