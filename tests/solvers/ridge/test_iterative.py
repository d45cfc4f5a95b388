"""Ridge regression by products ends where a factorisation does."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import KernelLogisticRegression, KernelRidge, _deadline, kernels
from mercer.errors import KernelError, TimeLimitError
from mercer.gram import cost
from mercer.gram.make import gram_of
from mercer.gram.packed import PackedGram, packed_bytes, packed_if_it_fits
from mercer.solvers.drive import Limits
from mercer.solvers.ridge import direct, iterative

N = 2200
ROOM = packed_bytes(N) / 2**20 + 1  # for the triangle, not for the matrix


def data(n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = np.column_stack([np.sin(2 * X[:, 0]), 1e3 * (X[:, 1] ** 2 + 5)]) + 0.1 * rng.normal(size=(n, 2))
    return X, y, rng.uniform(0.2, 3.0, size=n)


@pytest.mark.parametrize(("alpha", "intercept"), [(1.0, False), (2e-3, True)])  # the second is too small for 16 bits
def test_the_solution_is_that_of_a_factorisation(alpha, intercept):
    X, y, weights = data()
    fitted = kernels.RBF(gamma=0.3).fit(X)
    gram, alphas = gram_of(fitted, X, memory=ROOM), np.array([alpha, 3 * alpha])
    assert isinstance(packed_if_it_fits(gram), PackedGram)
    found = iterative.solve(gram, y, alphas, weights, intercept=intercept, limits=Limits())
    K = fitted(X)
    exact = direct.solve(K, y, alphas, weights, intercept=intercept)
    sizes = np.abs(y).max(axis=0)
    outputs = K @ exact.coefficients
    assert (np.abs(found.outputs - outputs) / sizes < 2e-5).all()
    np.testing.assert_allclose(found.outputs, K @ found.solution.coefficients, atol=1e-8 * sizes.max())
    assert (np.abs(found.solution.intercept - exact.intercept) / sizes < 2e-5).all()


def test_estimators_without_room_for_the_matrix_are_as_good_and_certified():
    X, y, weights = data()
    ample = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1).fit(X, y, weights)
    tight = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1, memory=ROOM).fit(X, y, weights)
    np.testing.assert_allclose(tight.predict(X[:50]), ample.predict(X[:50]), atol=1e-5 * np.abs(y).max())
    assert tight.certificate_.gap <= 1e-6 * tight.certificate_.primal
    assert tight.certificate_.primal == pytest.approx(ample.certificate_.primal, rel=1e-6)


def test_logistic_regression_packs_its_matrix_and_is_certified_for_the_kernel():
    X, y, _ = data()
    labels = (y[:, 0] > 0).astype(int)
    ample = KernelLogisticRegression(gamma=0.3, C=1.0).fit(X, labels)
    tight = KernelLogisticRegression(gamma=0.3, C=1.0, memory=ROOM).fit(X, labels)
    np.testing.assert_allclose(tight.decision_function(X), ample.decision_function(X), atol=1e-2)
    assert tight.verify(X, labels).kkt_violation <= 1.5e-4


def test_what_cannot_be_solved_is_said():
    n = 1200
    X, y, weights = data(n)
    room = packed_bytes(n) / 2**20 + 1
    X[: n // 2] = X[n // 2 :]  # every object twice, with other targets
    gram = gram_of(kernels.RBF(gamma=1e-4).fit(X), X, memory=room)
    found = iterative.solve(gram, y, np.full(2, 1e-15), weights, intercept=False, limits=Limits())
    assert found.residual > iterative.ENOUGH
    with pytest.raises(KernelError, match="Raise alpha"):
        KernelRidge(kernel="rbf", gamma=1e-4, alpha=1e-15, memory=room).fit(X, y, weights)


def test_many_objects_are_solved_by_products_and_factored_where_these_do_not_end(monkeypatch):
    X, y, _ = data()
    monkeypatch.setattr(cost, "ridge_products_pay", lambda *counts: False)
    few = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1).fit(X, y)
    monkeypatch.setattr(cost, "ridge_products_pay", lambda *counts: True)
    many = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1).fit(X, y)
    difference = np.abs(few.predict(X[:99]) - many.predict(X[:99])).max(axis=0)
    assert (difference <= 1e-5 * np.abs(y).max(axis=0)).all()
    assert difference.any()
    monkeypatch.setattr(iterative, "ENOUGH", 0.0)
    again = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), few.predict(X))


def test_time_that_is_over_is_said():
    X, y, weights = data()
    gram = gram_of(kernels.RBF(gamma=0.3).fit(X), X, memory=ROOM)
    with _deadline.limited(-1.0), pytest.raises(TimeLimitError):
        iterative.solve(gram, y, np.ones(2), weights, intercept=False, limits=Limits())
