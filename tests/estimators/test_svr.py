"""Support vector regression against scikit-learn's."""

import numpy as np
import pytest
from sklearn import svm as sklearn_svm
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVR, kernels
from mercer.errors import ParameterError

WEIGHTS = "solutions agree to tol, not to 1e-7, and gamma='scale' is scikit-learn's, which knows no weights"


def expected(estimator):
    names = "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"
    return dict.fromkeys(names, WEIGHTS)


@parametrize_with_checks([SVR()], expected_failed_checks=expected)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


@pytest.mark.parametrize(
    "settings", [{}, {"kernel": "linear"}, {"C": 20.0, "epsilon": 0.5}, {"kernel": "poly", "coef0": 1.0}], ids=str
)
def test_agrees_with_scikit_learn(settings):
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:250], (y[:250] - y.mean()) / y.std()
    weights = np.random.default_rng(0).uniform(0.5, 2, 250)
    ours, theirs = SVR(**settings).fit(X, y, weights), sklearn_svm.SVR(**settings).fit(X, y, weights)
    assert np.abs(ours.predict(X) - theirs.predict(X)).max() < 1e-2
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0] == 1
    assert abs(len(ours.support_) - len(theirs.support_)) <= 8
    if settings.get("kernel") == "linear":
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-2)
    for proof in (ours.certificate_, ours.verify(X, y, weights)):
        assert proof.kkt_violation <= 1.01 * ours.tol
        assert 0 <= proof.relative_gap < 5e-3


def test_strings_and_model_files(tmp_path):
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
    model = SVR(kernel=kernels.normalise(kernels.Spectrum(2)), C=10.0).fit(words, [1.0, 1.1, -1.0, -1.1, 0.9, -0.9])
    mercer.save(model, tmp_path / "model.mercer")
    assert np.array_equal(mercer.load(tmp_path / "model.mercer").predict(words), model.predict(words))


def test_bad_epsilon():
    with pytest.raises(ParameterError, match="'epsilon' parameter of SVR"):
        SVR(epsilon=-1.0).fit([[0.0], [1.0]], [0.0, 1.0])
