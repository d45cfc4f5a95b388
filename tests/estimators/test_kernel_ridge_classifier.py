"""KernelRidgeClassifier against scikit-learn's RidgeClassifier: two classes, several, several labels, weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelRidgeClassifier, kernels

# These only ever skip: the array API is not claimed, and least squares give no probabilities.
SKIPPED = ("check_array_api_input", "check_classifiers_multilabel_output_format_predict_proba")


@parametrize_with_checks([KernelRidgeClassifier(), KernelRidgeClassifier(kernel="linear")])
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ in SKIPPED:
        return
    check(estimator)


def problems():
    X, y = load_iris(return_X_y=True)
    yield "two", X[y < 2], y[y < 2]
    yield "three", X, np.array(["a", "b", "c"])[y]
    yield "labels", *make_multilabel_classification(80, 6, n_classes=4, random_state=0)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=name) for name, X, y in problems()])
def test_the_linear_kernel_is_scikit_learns(X, y, fit_intercept, class_weight):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    options = {"alpha": 0.7, "fit_intercept": fit_intercept, "class_weight": class_weight}
    ours = KernelRidgeClassifier(kernel="linear", **options).fit(X, y, weights)
    theirs = RidgeClassifier(solver="cholesky", **options).fit(X, y, weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.array_equal(ours.classes_, theirs.classes_)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    for proof in (ours.certificate_, ours.verify(X, y, weights)):
        assert proof.kkt_violation < 1e-6
        assert abs(proof.relative_gap) < 1e-6


def test_sparse_tables_of_labels():
    X, y = make_multilabel_classification(40, 6, n_classes=3, random_state=0)
    dense, sparse = (KernelRidgeClassifier().fit(X, labels).predict(X) for labels in (y, sp.csr_matrix(y)))
    assert np.array_equal(dense, sparse)


def test_continuous_labels_name_the_regressor():
    with pytest.raises(ValueError, match="use KernelRidge"):
        KernelRidgeClassifier().fit(np.arange(20.0).reshape(10, 2), np.linspace(0, 1, 10))


@pytest.mark.parametrize(
    "y", [list("aabbab"), [[1, 0], [1, 1], [0, 1], [0, 0], [1, 0], [0, 1]]], ids=["one", "several"]
)
def test_strings_and_model_files(y, tmp_path):
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
    model = KernelRidgeClassifier(kernel=kernels.Spectrum(2)).fit(words, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict(words), model.predict(words))
    assert np.array_equal(again.decision_function(words), model.decision_function(words))
    assert again.verify(words, y).kkt_violation < 1e-6
