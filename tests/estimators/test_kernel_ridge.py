"""Kernel ridge regression and its exact cross-validation."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GaussianProcessRBF
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelRidge, KernelRidgeCV, kernels
from mercer.errors import InputError, KernelWarning, ParameterError
from mercer.solvers.ridge import direct


def regression(n=80, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X @ rng.normal(size=(3, outputs))) + 0.1 * rng.normal(size=(n, outputs)), rng.uniform(0.2, 2, n)


# Some checks pass an indefinite matrix as a precomputed kernel, which is answered by a warning.
@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
@parametrize_with_checks(
    [KernelRidge(), KernelRidge(kernel="precomputed"), KernelRidgeCV(), KernelRidgeCV(kernel="rbf")]
)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


@pytest.mark.parametrize("alpha", [0.1, [0.1, 2.0]])
def test_agrees_with_scikit_learn(alpha):
    X, y, weights = regression()
    ours = KernelRidge(alpha, kernel="rbf", gamma=0.5).fit(X, y, weights)
    theirs = SklearnKernelRidge(alpha=alpha, kernel="rbf", gamma=0.5).fit(X, y, weights)
    assert np.allclose(ours.predict(X), theirs.predict(X), atol=1e-10)
    assert np.allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-8)


def test_certificate_closes_and_is_confirmed():
    X, y, weights = regression()
    model = KernelRidge(0.5, kernel="rbf", fit_intercept=True).fit(X, y, weights)
    for proof in (model.certificate_, model.verify(X, y, weights)):
        assert abs(proof.duality_gap) < 1e-9 * proof.primal
        assert proof.kkt_violation < 1e-10


def test_an_intercept_makes_constants_free():
    X, y, _ = regression(outputs=1)
    shifted = KernelRidge(1.0, kernel="rbf", fit_intercept=True)
    low, high = shifted.fit(X, y[:, 0]).predict(X), shifted.fit(X, y[:, 0] + 100).predict(X)
    assert np.allclose(high - low, 100)


def test_deviation_is_that_of_the_gaussian_process():
    X, y, _ = regression(outputs=1)
    new = X[:10] + 0.3
    mean, deviation = KernelRidge(0.1, kernel="rbf", gamma=0.5).fit(X, y[:, 0]).predict(new, return_std=True)
    process = GaussianProcessRegressor(GaussianProcessRBF(1.0), alpha=0.1, optimizer=None).fit(X, y[:, 0])
    expected_mean, expected_deviation = process.predict(new, return_std=True)
    assert np.allclose(mean, expected_mean)
    assert np.allclose(deviation, expected_deviation)


@pytest.mark.parametrize("intercept", [False, True])
def test_left_out_residuals_equal_training_anew(intercept):
    X, y, weights = regression(40)
    K = kernels.RBF(gamma=0.5).fit(X)(X)
    path = direct.RidgePath.of(K, y, weights, intercept=intercept)
    folds = [np.arange(0, 12), np.arange(12, 40)]

    def anew(test):
        train = np.setdiff1d(np.arange(40), test)
        found = direct.solve(K[np.ix_(train, train)], y[train], np.full(2, 0.3), weights[train], intercept=intercept)
        return y[test] - (K[np.ix_(test, train)] @ found.coefficients + found.intercept)

    assert np.allclose(path.leave_one_out(0.3), np.vstack([anew(np.array([i])) for i in range(40)]))
    assert np.allclose(path.fold_residuals(0.3, folds), np.vstack([anew(fold) for fold in folds]))


@pytest.mark.parametrize("kernel", [kernels.RBF(gamma=0.5), kernels.RBF(gamma="scale")], ids=str)
def test_scores_equal_an_exhaustive_search(kernel):
    X, y, _ = regression(60)
    alphas = [1e-3, 1e-1, 10.0]
    ours = KernelRidgeCV(alphas, kernel=kernel, cv=KFold(5), scoring="r2").fit(X, y)
    predictions = np.empty((*y.shape, 3))
    for number, alpha in enumerate(alphas):
        for train, test in KFold(5).split(X):
            predictions[test, :, number] = KernelRidge(alpha, kernel=kernel).fit(X[train], y[train]).predict(X[test])
    again = KernelRidgeCV(alphas, kernel=kernel, cv=KFold(5), store_cv_results=True).fit(X, y)
    assert np.allclose(again.cv_predictions_, predictions)
    assert ours.alpha_ == again.alpha_


def test_leave_one_out_chooses_as_a_grid_search_does():
    X, y, _ = regression(40, outputs=1)
    alphas = np.logspace(-4, 3, 8)
    ours = KernelRidgeCV(alphas, kernel=kernels.RBF(gamma=0.5)).fit(X, y[:, 0])
    search = GridSearchCV(
        KernelRidge(kernel=kernels.RBF(gamma=0.5)),
        {"alpha": alphas},
        cv=LeaveOneOut(),
        scoring="neg_mean_squared_error",
    ).fit(X, y[:, 0])
    assert ours.alpha_ == search.best_params_["alpha"]
    assert np.allclose(ours.scores_, search.cv_results_["mean_test_score"])


def test_strings_have_numbers_too():
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
    model = KernelRidge(0.1, kernel=kernels.normalise(kernels.Spectrum(2))).fit(
        words, [1.0, 1.1, -1.0, -1.1, 0.9, -0.9]
    )
    assert model.predict(["gatta", "gcgc"]) @ [1, -1] > 1


def test_singular_systems_are_answered_in_words():
    X = np.ones((5, 2))
    with pytest.warns(KernelWarning, match="raise alpha"):
        model = KernelRidge(1e-30).fit(X, np.arange(5.0))
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (KernelRidge(-1.0), ParameterError, "'alpha' parameter of KernelRidge"),
        (KernelRidge([1.0, 2.0, 3.0]), ParameterError, "one per output"),
        (KernelRidgeCV([]), ParameterError, "one or more positive numbers"),
        (KernelRidgeCV(cv=[(np.arange(5), np.arange(5, 9))]), ParameterError, "tested exactly once"),
    ],
)
def test_bad_parameters(model, error, message):
    with pytest.raises(error, match=message):
        model.fit(np.arange(20.0).reshape(10, 2), np.arange(20.0).reshape(10, 2))


def test_lengths_must_agree():
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        KernelRidge().fit(np.zeros((4, 2)), np.zeros(3))


def test_explanations_are_told_by_support_objects_and_columns():
    X, y, _ = regression(outputs=1)
    model = KernelRidge(kernel=kernels.RBF(0.5)).fit(X, y[:, 0])
    for by in ("auto", "support"):
        for one, value in zip(model.explain(X[:3], by=by), model.predict(X[:3]), strict=True):
            assert one.contributions.sum() + np.sum(one.intercept) == pytest.approx(float(np.ravel(value)[0]), abs=1e-8)
