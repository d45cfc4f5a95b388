"""NuSVC and NuSVR against scikit-learn's, against the C-forms they are equal to, and against what nu promises."""

import numpy as np
import pytest
from sklearn import svm as sklearn_svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, SVR, NuSVC, NuSVR, kernels
from mercer.errors import ParameterError

WEIGHTS = "solutions agree to tol, not to 1e-7, and gamma='scale' is scikit-learn's, which knows no weights"
KNOWN = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    "check_class_weight_classifiers": "its class weights leave no nu feasible, which is said",
}


def expected(estimator):
    return KNOWN if isinstance(estimator, NuSVC) else dict(list(KNOWN.items())[:2])


@parametrize_with_checks([NuSVC(), NuSVR()], expected_failed_checks=expected)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


def standardised(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


CLASSES = [
    (load_iris, {"nu": 0.3}),
    (load_iris, {"nu": 0.87, "kernel": "poly", "coef0": 1.0}),
    (load_iris, {"nu": 0.05, "gamma": 0.5}),
    (load_wine, {"nu": 0.2, "kernel": "linear"}),
    (load_wine, {"nu": 0.5, "gamma": 0.1}),
    (load_breast_cancer, {"nu": 0.1}),
    (load_breast_cancer, {"nu": 0.7, "gamma": 0.01}),
]


@pytest.mark.parametrize(("load", "settings"), CLASSES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_classes_as_scikit_learn_has_them(load, settings):
    X, y = standardised(load)
    ours = NuSVC(decision_function_shape="ovo", tol=1e-7, **settings).fit(X, y)
    theirs = sklearn_svm.NuSVC(decision_function_shape="ovo", tol=1e-9, **settings).fit(X, y)
    values = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), values, atol=2e-5 * (1 + np.abs(values).max()))
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4 * (1 + np.abs(theirs.intercept_).max()))
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    for proof in (ours.certificate_, ours.verify(X, y)):
        assert proof.kkt_violation <= 1.01 * ours.tol
        assert -1e-9 <= proof.relative_gap < 1e-4


def test_weights_are_scikit_learns():
    X, y = standardised(load_breast_cancer)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    ours = NuSVC(nu=0.2, tol=1e-7).fit(X, y, weights)
    theirs = sklearn_svm.NuSVC(nu=0.2, tol=1e-9).fit(X, y, weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert ours.verify(X, y, weights).kkt_violation <= 1.01e-7


def test_the_c_form_with_the_penalty_found_is_the_same_machine():
    X, y = standardised(load_breast_cancer)
    model = NuSVC(nu=0.15, tol=1e-7).fit(X, y)
    same = SVC(C=float(model.penalties_[0]), tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
def test_what_nu_promises(nu):
    X, y = standardised(load_breast_cancer)
    model = NuSVC(nu=nu, tol=1e-5).fit(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    assert np.mean(margins < 1 - 1e-4) <= nu
    assert len(model.support_) / len(X) >= nu
    targets = X[:, 0] + np.sin(X[:, 1])
    tube = NuSVR(nu=nu, C=10.0, tol=1e-5).fit(X, targets)
    off = np.abs(targets - tube.predict(X))
    assert np.mean(off > tube.epsilon_ + 1e-4) <= nu
    assert len(tube.support_) / len(X) >= nu


@pytest.mark.parametrize("psd", ["warn", "ignore"])
def test_infeasible_nu_is_answered_before_any_kernel_value(psd):
    def never(left, right):
        raise AssertionError("a kernel value was computed")

    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], [2, 18])
    with pytest.raises(ParameterError, match=r"infeasible.*0 \(weight 2\) and 1 \(weight 18\).*at most 0\.2"):
        NuSVC(nu=0.5, kernel=never, psd=psd).fit(X, y)
    NuSVC(nu=0.2, gamma=1.0).fit(X, y)
    NuSVC(nu=0.9, gamma=1.0, class_weight="balanced").fit(X, y)
    with pytest.raises(ParameterError, match="'nu' parameter of NuSVC"):
        NuSVC(nu=0.0).fit(X, y)


def test_no_margin_is_said():
    X, y = np.zeros((10, 1)), np.arange(10) % 2
    with pytest.raises(ParameterError, match="no margin"), pytest.warns(mercer.errors.KernelWarning):
        NuSVC(nu=0.5, kernel="rbf", gamma=1.0).fit(X, y)


NUMBERS = [{"nu": 0.5}, {"nu": 0.1, "C": 10.0}, {"nu": 0.9, "kernel": "linear"}, {"nu": 1.0, "C": 0.1}]


@pytest.mark.parametrize("settings", NUMBERS, ids=str)
def test_numbers_as_scikit_learn_has_them(settings):
    X, y = standardised(load_diabetes)
    X, y = X[:300], (y[:300] - y.mean()) / y.std()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    ours = NuSVR(tol=1e-6, **settings).fit(X, y, weights)
    theirs = sklearn_svm.NuSVR(tol=1e-8, **settings).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    for proof in (ours.certificate_, ours.verify(X, y, weights)):
        assert proof.kkt_violation <= 1.01 * ours.tol
        assert -1e-9 <= proof.relative_gap < 1e-4


def test_the_tube_found_is_that_of_the_epsilon_form():
    X, y = standardised(load_diabetes)
    y = (y - y.mean()) / y.std()
    model = NuSVR(nu=0.4, C=2.0, tol=1e-6).fit(X, y)
    same = SVR(epsilon=model.epsilon_, C=2.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), atol=1e-4)


def test_strings_and_model_files(tmp_path):
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
    kernel = kernels.normalise(kernels.Spectrum(2))
    for model, y in ((NuSVC(nu=0.4, kernel=kernel), list("aabbab")), (NuSVR(kernel=kernel), [1.0, 2, 3, 4, 5, 6])):
        model.fit(words, y)
        mercer.save(model, tmp_path / "model.mercer")
        again = mercer.load(tmp_path / "model.mercer")
        assert np.array_equal(again.predict(words), model.predict(words))
        assert again.verify(words, y).kkt_violation <= 1.01e-3


def test_large_problems_in_single_precision():
    random = np.random.default_rng(0)
    X = random.normal(size=(2500, 5))
    y = (X[:, 0] * X[:, 1] + 0.3 * random.normal(size=2500) > 0).astype(int)
    model = NuSVC(nu=0.4).fit(X, y)
    assert model.certificate_.dtype == "float32"
    assert model.verify(X, y).kkt_violation <= 1.1 * model.tol
