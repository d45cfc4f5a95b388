"""Learners made of any loss: agreement with scikit-learn where it has the same, certificates, and refusals."""

from dataclasses import dataclass
from typing import final

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelRidge,
    NuSVC,
    kernels,
)
from mercer.errors import ParameterError
from mercer.losses.base import Loss
from mercer.losses.hinge import Hinge
from mercer.losses.huber import Huber
from mercer.losses.logistic import Logistic
from mercer.losses.perceptron import PerceptronLoss
from mercer.losses.quantile import Quantile
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.losses.squared import Squared
from mercer.losses.squared_hinge import SquaredHinge

IRIS = StandardScaler().fit_transform(load_iris().data), load_iris().target


@parametrize_with_checks(
    [
        KernelLogisticRegression(),
        KernelMachineClassifier(SquaredHinge(), tol=1e-10),  # the default leaves more than the 1e-7 of some checks
        KernelMachineRegressor(),
    ]
)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


@pytest.mark.parametrize("classes", [2, 3])
def test_linear_logistic_regression_is_scikit_learns(classes):
    X, y = IRIS
    X, y = X[y < classes], y[y < classes]
    ours = KernelLogisticRegression(kernel="linear", C=2.0, tol=1e-8).fit(X, y)
    theirs = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert np.allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize(
    "model",
    [
        KernelLogisticRegression(tol=1e-6),
        KernelMachineClassifier(SquaredHinge(), tol=1e-6),
        KernelMachineClassifier(SmoothHinge(), tol=1e-6, class_weight="balanced"),
        KernelMachineClassifier(Hinge()),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_certificates_close_and_are_confirmed(model, classes):
    X, y = IRIS
    X, y = X[y < classes], y[y < classes]
    weights = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model.fit(X, y, weights)
    for proof in (model.certificate_, model.verify(X, y, weights)):
        assert proof.kkt_violation <= 1.01 * model.tol
        if np.isfinite(proof.dual):  # a point just outside the domain of the conjugate has no dual value
            assert -1e-9 <= proof.relative_gap < 5e-3
    assert model.score(X, y) > 0.95


def test_the_hinge_gives_the_support_vector_machine():
    X, y = make_moons(100, noise=0.3, random_state=0)
    ours, svc = KernelMachineClassifier(Hinge(), gamma=1.0).fit(X, y), SVC(gamma=1.0).fit(X, y)
    assert np.allclose(ours.decision_function(X), svc.decision_function(X), atol=2e-3)


def test_regression_losses():
    rng = np.random.default_rng(0)
    X = np.linspace(0, 6, 120)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=120)
    squared = KernelMachineRegressor(Squared(), C=10.0, gamma=0.5, tol=1e-9, fit_intercept=False).fit(X, y)
    assert np.allclose(squared.predict(X), KernelRidge(0.1, kernel="rbf", gamma=0.5).fit(X, y).predict(X), atol=1e-6)
    spoilt = y.copy()
    spoilt[::10] += 30.0
    robust = KernelMachineRegressor(Huber(0.1), C=100.0, gamma=0.5).fit(X, spoilt)
    assert np.abs(robust.predict(X) - np.sin(X[:, 0])).mean() < 0.15
    high = KernelMachineRegressor(Quantile(0.9), C=10.0, gamma=0.5).fit(X, y)
    assert 0.8 < np.mean(y <= high.predict(X)) < 0.97
    assert high.verify(X, y).kkt_violation <= 1.01 * high.tol


def test_every_learner_takes_every_kind_of_object():
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
    kernel = kernels.normalise(kernels.Spectrum(2))
    for model in (KernelLogisticRegression(kernel=kernel), KernelMachineClassifier(SquaredHinge(), kernel=kernel)):
        assert model.fit(words, list("aabbab")).predict(["gatta"]).tolist() == ["a"]
        assert cross_val_score(model, words, [1, 1, 0, 0, 1, 0], cv=3).shape == (3,)
    assert KernelMachineRegressor(kernel=kernel).fit(words, [1.0, 1, -1, -1, 1, -1]).predict(["gatta"])[0] > 0


@final
@dataclass(frozen=True)
class Exponential(Loss):
    """A loss that a user wrote: exp(-y f)."""

    smooth = True
    classifies = True

    def value(self, y, f):
        return np.exp(-y * f)

    def slope(self, y, f):
        return -y * np.exp(-y * f)

    def curvature(self, y, f):
        return np.exp(-y * f)

    def conjugate(self, y, a):
        u = np.maximum(-y * a, 1e-300)
        return np.where(y * a <= 0, u * np.log(u) - u, np.inf)

    @classmethod
    def examples(cls):
        yield cls()


def test_a_loss_of_the_users_own():
    X, y = make_moons(80, noise=0.2, random_state=0)
    model = KernelMachineClassifier(Exponential(), gamma=1.0, tol=1e-6).fit(X, y)
    assert model.score(X, y) > 0.9
    assert abs(model.certificate_.relative_gap) < 1e-4


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelMachineClassifier(PerceptronLoss()), "smallest at w = 0"),
        (KernelMachineClassifier(Huber()), "use KernelMachineRegressor"),
        (KernelMachineRegressor(Logistic()), "use KernelMachineClassifier"),
        (KernelMachineClassifier("hing"), "Did you mean 'hinge'"),
        (KernelMachineClassifier(3), "the name of a loss or a loss object"),
        (
            KernelLogisticRegression(C=np.inf),
            "'C' parameter of KernelLogisticRegression.*no minimiser where the kernel",
        ),
        (KernelMachineClassifier(Hinge(), C=np.inf), r"use SVC\(C=inf\)"),
    ],
)
def test_refusals(model, message):
    X, y = make_moons(20, random_state=0)
    with pytest.raises(ParameterError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (SVR(), list("aabb"), "SVR predicts numbers.*such as 'a'.*use SVC"),
        (KernelRidge(), np.array(list("aabb")), "use KernelRidgeClassifier"),
        (KernelMachineRegressor(), list("aabb"), "use KernelMachineClassifier"),
        (SVR(), np.ones((4, 2)), "one number per object.*use KernelRidge"),
        (SVC(), np.eye(4, dtype=int), "one label per object.*use KernelRidgeClassifier"),
        (NuSVC(), [0.1, 0.2, 0.3, 0.4], "use NuSVR"),
    ],
)
def test_targets_of_the_wrong_kind_name_who_takes_them(model, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(np.arange(8.0).reshape(4, 2), y)


def test_numbers_as_labels_name_the_regressor():
    with pytest.raises(ValueError, match="use KernelMachineRegressor"):
        KernelLogisticRegression().fit(np.arange(20.0).reshape(10, 2), np.linspace(0, 1, 10))
