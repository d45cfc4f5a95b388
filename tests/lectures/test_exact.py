"""Certificates of the algorithms of the slides, against the exact machines."""

import math
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer import (
    SVC,
    GradientKernelMachine,
    KernelMachineClassifier,
    KernelPerceptron,
    PrimalPerceptron,
    SubgradientSVM,
    kernels,
)

X, Y = load_iris(return_X_y=True)
EASY, HARD = (Y > 0).astype(int), (Y > 1).astype(int)


def test_batch_subgradient():
    model = SubgradientSVM(C=3.0, steps=200).fit(X, HARD)
    w, b, signs = model.coef_[0], model.intercept_[0], np.where(HARD > 0, 1.0, -1.0)
    exact = 2.0 * SVC(kernel="linear", C=1.5, tol=1e-8).fit(X, HARD).certificate_.primal
    proof = model.certificate_
    assert proof.primal == pytest.approx(w @ w + 3.0 * np.maximum(0, 1 - signs * (X @ w + b)).sum(), rel=1e-12)
    assert proof.primal == pytest.approx(model.trace_.best, rel=1e-12), "in units of the slide"
    assert proof.dual == pytest.approx(exact, rel=1e-5)
    assert proof.dual <= exact
    assert proof.margin == pytest.approx(1.0 / np.linalg.norm(w))
    assert proof.iterations == 200
    assert proof.relative_gap > 0.01


def test_stochastic_subgradient():
    model = SubgradientSVM(method="stochastic", C=2.0, random_state=0).fit(X, HARD)
    exact = SVC(kernel="linear", C=2.0 / len(X), fit_intercept=False, tol=1e-8).fit(X, HARD)
    w, signs = model.coef_[0], np.where(HARD > 0, 1.0, -1.0)
    proof = model.certificate_
    assert proof.primal == pytest.approx(0.5 * w @ w + 2.0 * np.maximum(0, 1 - signs * (X @ w)).mean(), rel=1e-12)
    assert proof.dual == pytest.approx(exact.certificate_.dual, rel=1e-5)
    assert proof.dual <= proof.primal
    best = exact.coef_[0]
    far = np.abs(X @ (w - best)).max()
    assert far <= proof.kkt_violation < 1.0, "decision values are no further from the optimum's"


@pytest.mark.parametrize("objective", ["softmax", "svm"])
def test_gradient_descent(objective):
    model = GradientKernelMachine(objective=objective, lam=0.5, C=2.0, steps=60, gamma=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, HARD)
    loss, C, factor = ("logistic", 2.0, 0.5) if objective == "softmax" else ("smooth_hinge", 2.0, 1.0)
    exact = KernelMachineClassifier(loss, C=C, gamma=0.3, tol=1e-8).fit(X, HARD).certificate_
    proof = model.certificate_
    assert proof.primal == pytest.approx(model.trace_.last, rel=1e-9)
    assert proof.dual == pytest.approx(factor * exact.dual, rel=1e-5)
    assert proof.dual <= factor * exact.primal * (1 + 1e-12)
    assert proof.primal >= factor * exact.primal * (1 - 1e-9)


def test_without_a_penalty_losses_are_bounded_by_zero():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proof = GradientKernelMachine(lam=0.0, steps=20).fit(X, EASY).certificate_
    assert proof.dual == 0.0 < proof.primal
    assert math.isinf(proof.kkt_violation)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("learner", [PrimalPerceptron, KernelPerceptron])
def test_a_perceptron_is_measured_against_the_largest_margin(learner, intercept):
    kernel = {} if learner is PrimalPerceptron else {"kernel": kernels.RBF(gamma=0.3)}
    model = learner(fit_intercept=intercept, epochs=1000, **kernel).fit(X, EASY)
    exact = SVC(C=math.inf, fit_intercept=intercept, kernel=kernel.get("kernel", "linear")).fit(X, EASY).certificate_
    proof, signs = model.certificate_, np.where(EASY > 0, 1.0, -1.0)
    if learner is PrimalPerceptron:
        length = np.linalg.norm(model.coef_[0])
    else:
        K, b = model.kernel_(X), np.zeros(len(X))
        b[model.support_] = model.dual_coef_[0]
        length = math.sqrt(b @ K @ b)
    assert proof.margin == pytest.approx((signs * model.decision_function(X)).min() / length, rel=1e-9)
    assert proof.margin <= exact.margin * (1 + 1e-3)
    assert proof.dual == pytest.approx(exact.dual, rel=1e-3)
    assert proof.primal >= proof.dual
    assert proof.primal == pytest.approx(0.5 / proof.margin**2)


def test_classes_that_nothing_separates():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PrimalPerceptron(epochs=5).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    proof = model.certificate_
    assert math.isinf(proof.primal)
    assert math.isinf(proof.dual)
    assert math.isinf(proof.gap)
    assert str(proof).startswith("No hyperplane separates the classes")


def test_a_printed_descent_that_diverged_says_so():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proof = GradientKernelMachine(objective="svm", variant="printed").fit(X, HARD).certificate_
    assert str(proof).startswith("Far from the optimum")
    assert "nan" not in str(proof)
    assert proof.dual < 100.0 < proof.primal


@pytest.mark.parametrize(
    "model",
    [SubgradientSVM(), PrimalPerceptron(), KernelPerceptron(), GradientKernelMachine(objective="svm", steps=20)],
    ids=str,
)
def test_one_against_the_rest_and_files(model, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y)
    proof = model.certificate_
    assert len(proof.parts) == 3
    assert "3 machines" in str(proof) or math.isinf(proof.primal)
    mercer.save(model, tmp_path / "model.mercer")
    assert mercer.load(tmp_path / "model.mercer").certificate_ == proof
