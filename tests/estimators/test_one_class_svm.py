"""OneClassSVM against scikit-learn's, the enclosing ball, and what nu promises."""

import math

import numpy as np
import pytest
from sklearn import svm as sklearn_svm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import OneClassSVM, kernels
from mercer.errors import ParameterError
from mercer.gram.make import gram_of
from mercer.theory.ball import enclosing_ball

X = StandardScaler().fit_transform(load_iris().data)
WEIGHTS = "solutions agree to tol, not to 1e-7, and gamma='scale' is scikit-learn's, which knows no weights"
KNOWN = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), WEIGHTS
)


@parametrize_with_checks([OneClassSVM(), OneClassSVM(region="ball")], expected_failed_checks=lambda _: KNOWN)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


@pytest.mark.parametrize(
    "settings", [{}, {"nu": 0.1}, {"nu": 0.05, "kernel": "poly", "coef0": 1.0}, {"nu": 0.9, "gamma": 2.0}], ids=str
)
def test_as_scikit_learn_has_it(settings):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    for given in (None, weights):
        ours = OneClassSVM(tol=1e-6, **settings).fit(X, sample_weight=given)
        theirs = sklearn_svm.OneClassSVM(tol=1e-7, **settings).fit(X, sample_weight=given)
        scale = 1 + np.abs(theirs.score_samples(X)).max()
        np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-5 * scale)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5 * scale)
        assert ours.offset_ == pytest.approx(float(theirs.offset_[0]), abs=1e-5 * scale)
        assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0] == 1
        for proof in (ours.certificate_, ours.verify(X, given)):
            assert proof.kkt_violation <= 1.01 * ours.tol
            assert abs(proof.relative_gap) < 1e-5
    assert set(ours.fit_predict(X)) <= {-1, 1}
    assert (ours.predict(X) == ours.fit_predict(X)).all()


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("region", ["plane", "ball"])
def test_what_nu_promises(nu, region):
    model = OneClassSVM(nu=nu, gamma=0.5, region=region, tol=1e-6).fit(X)
    assert np.mean(model.decision_function(X) < -1e-5) <= nu
    assert len(model.support_) / len(X) >= nu


@pytest.mark.parametrize("kernel", [kernels.RBF(gamma=0.3), kernels.normalise(kernels.Polynomial(degree=2))], ids=str)
def test_ball_and_plane_are_one_where_lengths_are(kernel):
    plane, ball = (OneClassSVM(nu=0.2, kernel=kernel, region=region, tol=1e-8).fit(X) for region in ("plane", "ball"))
    new = np.random.default_rng(0).normal(size=(40, 4))
    np.testing.assert_allclose(plane.decision_function(new), ball.decision_function(new), atol=1e-6)
    with pytest.raises(AttributeError, match="region='ball'"):
        _ = plane.radius_


@pytest.mark.parametrize("kernel", [kernels.RBF(gamma=0.3), kernels.Linear(), kernels.Polynomial(degree=2)], ids=str)
def test_small_nu_gives_the_smallest_ball(kernel):
    model = OneClassSVM(nu=0.5 / len(X), kernel=kernel, region="ball", tol=1e-9).fit(X)
    ball = enclosing_ball(gram_of(kernel.fit(X), X))
    assert model.radius_ == pytest.approx(ball.radius, rel=1e-5)
    assert model.verify(X).kkt_violation <= 1.01e-9


def test_the_ball_is_a_ball():
    """Where features are known, the decision function is r^2 - |x - c|^2, but for half of nu n."""
    model = OneClassSVM(nu=0.1, kernel="linear", region="ball", tol=1e-8).fit(X)
    mass = 0.1 * len(X)
    centre = (model.dual_coef_ @ model.support_vectors_)[0] / mass
    wanted = 0.5 * mass * (model.radius_**2 - ((X - centre) ** 2).sum(axis=1))
    np.testing.assert_allclose(model.decision_function(X), wanted, atol=1e-6)

    # and no other centre does better
    def cost(c, squared):
        return squared + np.maximum(((X - c) ** 2).sum(axis=1) - squared, 0).sum() / mass

    best = cost(centre, model.radius_**2)
    for seed in range(20):
        other = centre + 0.05 * np.random.default_rng(seed).normal(size=4)
        far = np.sort(((X - other) ** 2).sum(axis=1))
        assert min(cost(other, squared) for squared in far) >= best - 1e-9


def test_strings_and_model_files(tmp_path):
    words = ["gattaca", "gattac", "attaca", "gataca", "gattaga"]
    for region in ("plane", "ball"):
        model = OneClassSVM(nu=0.3, kernel=kernels.Spectrum(2), region=region).fit(words)
        mercer.save(model, tmp_path / "model.mercer")
        again = mercer.load(tmp_path / "model.mercer")
        assert np.array_equal(again.decision_function(words), model.decision_function(words))
        assert again.verify(words).kkt_violation <= 1.01e-3
        if region == "ball":
            assert math.isclose(again.radius_, model.radius_)


@pytest.mark.parametrize(("settings", "message"), [({"nu": 0.0}, "'nu'"), ({"region": "cube"}, "'region'")])
def test_bad_parameters(settings, message):
    with pytest.raises(ParameterError, match=message):
        OneClassSVM(**settings).fit(X)


def test_the_status_tells_whether_it_converged():
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert OneClassSVM(nu=0.3).fit(X).fit_status_ == 0
    with pytest.warns(ConvergenceWarning):
        assert OneClassSVM(nu=0.3, max_iter=1).fit(X).fit_status_ == 1
