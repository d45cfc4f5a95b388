"""A weight of three is three objects: for every number that a learner reports, not for its predictions alone."""

import dataclasses
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

import mercer
from mercer import kernels

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(48, 3))
TWO = np.where(X[:, 0] + 0.7 * RANDOM.normal(size=48) > 0, "b", "a")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 1] + 0.5 * RANDOM.normal(size=48), [-0.4, 0.4])]
NUMBERS = np.sin(X[:, 0]) + 0.3 * RANDOM.normal(size=48)
WEIGHTS = RANDOM.integers(1, 5, size=48)
COPIES = np.repeat(np.arange(48), WEIGHTS)
RBF = kernels.RBF(gamma=0.4)
INDEFINITE = kernels.Sigmoid(gamma=0.8, coef0=-1.0)
"""Its matrix is repaired by its eigenvalues, which copies of objects change, and weights do not."""

MODELS = {
    "SVC": (mercer.SVC(kernel=RBF, tol=1e-8), TWO),
    "SVC linear": (mercer.SVC(kernel="linear", C=3.0, tol=1e-8), TWO),
    "SVC of three classes": (mercer.SVC(kernel=RBF, C=2.0, tol=1e-8), THREE),
    "SVC class weights": (mercer.SVC(kernel=RBF, class_weight={"a": 2.0, "b": 0.5}, tol=1e-8), TWO),
    "SVR": (mercer.SVR(kernel=RBF, C=2.0, tol=1e-8), NUMBERS),
    "OneClassSVM": (mercer.OneClassSVM(kernel=RBF, nu=0.3, tol=1e-8), None),
    "OneClassSVM ball": (mercer.OneClassSVM(kernel="linear", region="ball", nu=0.3, tol=1e-8), None),
    "KernelRidge": (mercer.KernelRidge(kernel=RBF, alpha=0.3), NUMBERS),
    "KernelRidgeClassifier": (mercer.KernelRidgeClassifier(kernel=RBF, alpha=0.3), THREE),
    "KernelLogisticRegression": (mercer.KernelLogisticRegression(kernel=RBF, C=2.0, tol=1e-9), THREE),
    "KernelMachineClassifier": (mercer.KernelMachineClassifier(kernel=RBF, C=2.0, tol=1e-9), TWO),
    "KernelMachineRegressor": (mercer.KernelMachineRegressor(kernel=RBF, C=2.0, tol=1e-9), NUMBERS),
    "KernelQuantileRegressor": (mercer.KernelQuantileRegressor(kernel=RBF, C=2.0, tol=1e-8), NUMBERS),
    "LinearSVC": (mercer.LinearSVC(C=2.0, tol=1e-9), THREE),
    "LinearSVR": (mercer.LinearSVR(C=2.0, tol=1e-9), NUMBERS),
}
NAMES = ("primal", "dual")


def fitted(name):
    model, y = MODELS[name]
    weighted, repeated = clone(model), clone(model)
    targets = () if y is None else (y,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tolerances at the end of float64
        weighted.fit(X, *targets, sample_weight=WEIGHTS.astype(float))
        repeated.fit(X[COPIES], *(one[COPIES] for one in targets))
    return weighted, repeated, targets


def objective(proof):
    return np.array([getattr(proof, name) for name in NAMES])


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_repetitions(name):
    weighted, repeated, targets = fitted(name)
    outputs = "predict" if not hasattr(weighted, "decision_function") else "decision_function"
    left, right = getattr(weighted, outputs)(X), getattr(repeated, outputs)(X)
    np.testing.assert_allclose(left, right, atol=2e-4 * (1 + np.abs(right).max()))
    scale = 1 + abs(repeated.certificate_.primal)
    np.testing.assert_allclose(objective(weighted.certificate_), objective(repeated.certificate_), atol=1e-4 * scale)
    if hasattr(weighted, "score") and targets:
        score = weighted.score(X, *targets, sample_weight=WEIGHTS)
        assert score == pytest.approx(repeated.score(X[COPIES], *(one[COPIES] for one in targets)), abs=2e-3)


@pytest.mark.parametrize("name", [name for name, (model, _) in MODELS.items() if hasattr(model, "verify")])
def test_verifying_weighs_objects_as_training_did(name):
    weighted, repeated, targets = fitted(name)
    proof = weighted.certificate_
    again = weighted.verify(X, *targets, sample_weight=WEIGHTS.astype(float))
    scale = 1e-6 * (1 + abs(proof.primal))
    np.testing.assert_allclose(objective(again), objective(proof), atol=scale)
    copied = repeated.verify(X[COPIES], *(one[COPIES] for one in targets))
    np.testing.assert_allclose(objective(again), objective(copied), atol=1e-4 * (1 + abs(proof.primal)))
    without = weighted.verify(X, *targets)
    assert abs(without.primal - proof.primal) > 100 * scale  # weights are no detail


@pytest.mark.parametrize("repair", ["clip", "flip", "shift"])
@pytest.mark.parametrize(
    "model",
    [
        mercer.SVC(kernel=INDEFINITE, tol=1e-8),
        mercer.OneClassSVM(kernel=INDEFINITE, nu=0.4, tol=1e-8),
        mercer.OneClassSVM(kernel=INDEFINITE, region="ball", nu=0.4, tol=1e-8),
    ],
    ids=lambda model: f"{type(model).__name__} {getattr(model, 'region', '')}",
)
def test_machines_on_repaired_matrices_are_verified(model, repair):
    """The ball of a shifted matrix has longer vectors: its linear term is shifted as well."""
    targets = () if isinstance(model, mercer.OneClassSVM) else (TWO,)
    model, weights = clone(model).set_params(psd=repair), WEIGHTS.astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the matrix is indefinite
        model.fit(X, *targets, sample_weight=weights)
    proof, again = model.certificate_, model.verify(X, *targets, sample_weight=weights)
    np.testing.assert_allclose(objective(again), objective(proof), atol=1e-6 * (1 + abs(proof.primal)))


def test_the_score_of_a_path_counts_weights():
    """Leaving one object out, by training anew each time; errors are averaged by weight."""
    alphas = [0.03, 0.3, 3.0]
    weights = WEIGHTS.astype(float)
    model = mercer.KernelRidgeCV(alphas=alphas, kernel=RBF).fit(X, NUMBERS, sample_weight=weights)
    errors = np.empty((len(alphas), len(X)))
    for row, alpha in enumerate(alphas):
        for left in range(len(X)):
            rest = np.arange(len(X)) != left
            one = mercer.KernelRidge(alpha=alpha, kernel=RBF).fit(X[rest], NUMBERS[rest], sample_weight=weights[rest])
            errors[row, left] = (one.predict(X[left : left + 1])[0] - NUMBERS[left]) ** 2
    means = errors @ weights / weights.sum()
    assert model.alpha_ == alphas[int(means.argmin())]
    assert model.best_score_ == pytest.approx(-means.min(), rel=1e-6)
    assert abs(means.min() - errors.mean(axis=1).min()) > 1e-3 * means.min()


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
def test_the_score_of_a_path_in_folds_is_that_of_copies(scoring):
    folds = np.arange(len(X)) % 4
    options = {"alphas": [0.03, 0.3, 3.0], "kernel": RBF, "scoring": scoring}
    weighted = mercer.KernelRidgeCV(cv=PredefinedSplit(folds), **options)
    weighted.fit(X, NUMBERS, sample_weight=WEIGHTS.astype(float))
    repeated = mercer.KernelRidgeCV(cv=PredefinedSplit(folds[COPIES]), **options).fit(X[COPIES], NUMBERS[COPIES])
    plain = mercer.KernelRidgeCV(cv=PredefinedSplit(folds), **options).fit(X, NUMBERS)
    assert weighted.alpha_ == repeated.alpha_
    assert weighted.best_score_ == pytest.approx(repeated.best_score_, rel=1e-6)
    assert weighted.best_score_ != pytest.approx(plain.best_score_, rel=1e-2)


@dataclasses.dataclass
class Noisy:
    """Objects with flipped labels, which hardly count."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray


@pytest.fixture(scope="module")
def noisy():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 2))
    y = (X[:, 0] > 0).astype(int)
    flipped = random.random(600) < 0.35
    return Noisy(X, np.where(flipped, 1 - y, y), np.where(flipped, 1e-4, 1.0))


@pytest.mark.parametrize(
    "model",
    [
        mercer.SVC(kernel=kernels.RBF(gamma=0.5), probability=True, random_state=0),
        mercer.NuSVC(nu=0.1, kernel=kernels.RBF(gamma=0.5), probability=True, random_state=0),
        mercer.LinearSVC(probability=True, random_state=0),
        mercer.Cells(mercer.SVC(kernel=kernels.RBF(gamma=0.5)), size=200, probability=True, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_probabilities_are_learnt_with_weights(noisy, model):
    """Counted fully, a third of the labels would be wrong, and no probability far from one half."""
    model = clone(model).fit(noisy.X, noisy.y, sample_weight=noisy.weights)
    far = np.abs(noisy.X[:, 0]) > 0.5
    sure = model.predict_proba(noisy.X[far]).max(axis=1)
    assert np.median(sure) > 0.9
