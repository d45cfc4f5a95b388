"""Hard margins, machines without intercept, and the three ways in which lectures scale C."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_blobs, make_circles, make_moons

from mercer import SVC, kernels
from mercer.errors import InseparableError

LINE = np.array([-3.0, -2.0, -0.5, 0.5, 2.0, 3.0])[:, None]
INSIDE = np.array([0, 0, 1, 1, 0, 0])


def test_a_hard_margin_is_the_widest():
    X, y = make_blobs(60, centers=[[-3, -3], [3, 3]], random_state=0)
    model = SVC(kernel="linear", C=np.inf, tol=1e-8).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    best = minimize(
        lambda v: 0.5 * v[:2] @ v[:2],
        np.array([1.0, 1.0, 0.0]),
        jac=lambda v: np.append(v[:2], 0.0),
        constraints={
            "type": "ineq",
            "fun": lambda v: signs * (X @ v[:2] + v[2]) - 1,
            "jac": lambda v: signs[:, None] * np.c_[X, np.ones(60)],
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    ).x
    assert np.allclose(model.coef_[0], best[:2], atol=1e-5)
    assert model.certificate_.margin == pytest.approx(1 / np.linalg.norm(best[:2]), rel=1e-5)
    assert (signs * model.decision_function(X)).min() == pytest.approx(1, abs=1e-6)
    assert model.certificate_.relative_gap < 1e-5
    assert np.allclose(SVC(kernel="linear", C=1e6, tol=1e-8).fit(X, y).coef_, model.coef_, atol=1e-4)


def test_a_lift_makes_the_line_separable():
    """x is not, (x, x^2) is: the middle against both ends."""
    with pytest.raises(InseparableError, match="convex hulls of the two classes meet"):
        SVC(kernel="linear", C=np.inf).fit(LINE, INSIDE)
    lifted = np.c_[LINE, LINE**2]
    assert SVC(kernel="linear", C=np.inf).fit(lifted, INSIDE).score(lifted, INSIDE) == 1.0


def test_a_lift_makes_rings_separable():
    """(x1, x2) is not, (x1, x2, x1^2 + x2^2) is."""
    X, y = make_circles(60, factor=0.4, noise=0.02, random_state=0)
    with pytest.raises(InseparableError) as caught:
        SVC(kernel="linear", C=np.inf).fit(X, y)
    proof = caught.value
    # The proof, checked by hand: two mixtures, one of each class, that are the same point.
    assert proof.positive.sum() == pytest.approx(1)
    assert proof.negative.sum() == pytest.approx(1)
    assert np.linalg.norm(proof.positive @ X - proof.negative @ X) <= proof.tolerance + 1e-12
    lifted = np.c_[X, (X**2).sum(axis=1)]
    assert SVC(kernel="linear", C=np.inf).fit(lifted, y).score(lifted, y) == 1.0


def test_without_intercept_the_proof_is_a_combination_that_vanishes():
    X, y = np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([0, 1])  # one side of the origin, both classes
    with pytest.raises(InseparableError) as caught:
        SVC(kernel="linear", C=np.inf, fit_intercept=False).fit(X, y)
    weights = caught.value.positive + caught.value.negative
    signs = np.where(caught.value.positive > 0, 1.0, -1.0)
    assert weights.sum() == pytest.approx(1)
    assert np.linalg.norm((weights * signs) @ X) <= caught.value.tolerance + 1e-12
    assert SVC(kernel="linear", C=np.inf).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_every_free_support_vector_gives_the_same_intercept(C):
    X, y = make_moons(100, noise=0.25, random_state=0)
    model = SVC(C=C, gamma=1.0, tol=1e-6).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    outputs = model.decision_function(X) - model.intercept_[0]
    free = model.support_[np.abs(model.dual_coef_[0]) < C]
    assert len(free) > 2
    assert np.allclose(signs[free] - outputs[free], model.intercept_[0], atol=2e-6)


def test_no_intercept_is_a_box_problem_of_its_own():
    X, y = make_moons(100, noise=0.25, random_state=0)
    model = SVC(C=2.0, gamma=1.0, fit_intercept=False, tol=1e-6).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    K = kernels.RBF(gamma=1.0).fit(X)(X)
    Q = K * np.outer(signs, signs)
    slow = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.zeros(100),
        jac=lambda a: Q @ a - 1,
        bounds=[(0, 2.0)] * 100,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    assert model.intercept_[0] == 0.0
    assert -model.certificate_.dual == pytest.approx(slow.fun, rel=1e-6)
    assert model.verify(X, y).kkt_violation < 1.1e-6


def primal(w, b, X, signs, square, slack):
    return square * w @ w + slack * np.maximum(0, 1 - signs * (X @ w + b)).sum()


def test_three_scalings_of_one_machine():
    """|w|^2 + C0 sum, 1/2 |w|^2 + C sum and 1/2 |w|^2 + C/N sum are one objective at C0 = 2 C and C_mean = N C."""
    X, y = make_moons(80, noise=0.3, random_state=0)
    signs, C = np.where(y == 1, 1.0, -1.0), 0.7
    ours = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    mean = SVC(kernel="linear", C=80 * C, penalty_scaling="mean", tol=1e-8).fit(X, y)
    assert np.allclose(ours.coef_, mean.coef_, atol=1e-9)
    w, b = ours.coef_[0], ours.intercept_[0]
    first, second = primal(w, b, X, signs, 1.0, 2 * C), primal(w, b, X, signs, 0.5, C)
    assert first == pytest.approx(2 * second)
    assert second == pytest.approx(ours.certificate_.primal, rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(50):  # no nearby point is better, in any of them
        near = w + 1e-2 * rng.normal(size=2), b + 1e-2 * rng.normal()
        assert primal(*near, X, signs, 1.0, 2 * C) >= first - 1e-6
