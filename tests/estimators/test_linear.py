"""LinearSVC and LinearSVR: agreement with scikit-learn's and with the kernel machines, certificates, and the border."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, SVR, LinearSVC, LinearSVR, OneClassSVM
from mercer._stored import Stored
from mercer.errors import DataWarning, InputError, ModelFileError, ParameterError


@parametrize_with_checks(
    [
        LinearSVC(tol=1e-12),
        LinearSVC(loss="hinge"),
        LinearSVR(),
        LinearSVR(loss="squared_epsilon_insensitive", tol=1e-12),
    ]
)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


def standardised(load, n=None):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X)[:n], y[:n]


CANCER = standardised(load_breast_cancer)
IRIS = standardised(load_iris)
DIABETES = standardised(load_diabetes)


@pytest.mark.parametrize("data", [CANCER, IRIS], ids=["two classes", "three classes"])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("intercept", [{"fit_intercept": False}, {"intercept_scaling": 1.0}], ids=str)
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}], ids=str)
def test_classifier_agrees_with_scikit_learn(data, loss, intercept, class_weight):
    X, y = data
    common = {"loss": loss, "C": 0.3, "class_weight": class_weight, **intercept}
    ours = LinearSVC(tol=1e-8, max_iter=-1, **common).fit(X, y)
    theirs = svm.LinearSVC(tol=1e-10, max_iter=1_000_000, random_state=0, **common).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.allclose(ours.coef_, theirs.coef_, atol=2e-3 if loss == "hinge" else 1e-4)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=2e-3 if loss == "hinge" else 1e-4)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_hinge_gives_the_support_vector_machine(fit_intercept):
    X, y = CANCER
    weights = np.random.default_rng(0).uniform(0, 2, len(y)).round(1)
    options = {"fit_intercept": fit_intercept, "intercept_scaling": None}
    ours = LinearSVC(loss="hinge", C=0.3, tol=1e-7, max_iter=-1, **options).fit(X, y, weights)
    if not fit_intercept:
        theirs = svm.LinearSVC(loss="hinge", C=0.3, fit_intercept=False, tol=1e-9, max_iter=10**6)
    else:
        theirs = SVC(kernel="linear", C=0.3, tol=1e-6)
    theirs.fit(X, y, weights)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [{"fit_intercept": False}, {"intercept_scaling": 20.0}], ids=str)
def test_regressor_agrees_with_scikit_learn(loss, intercept):
    X, y = DIABETES
    common = {"loss": loss, "C": 0.5, "epsilon": 10.0, **intercept}
    ours = LinearSVR(tol=1e-8, max_iter=-1, **common).fit(X, y)
    theirs = svm.LinearSVR(tol=1e-8, max_iter=1_000_000, random_state=0, **common).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == (1,)
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=1e-3, atol=1e-2)


def test_regressor_without_penalty_on_its_intercept_is_the_kernel_machine():
    X, y = DIABETES
    ours = LinearSVR(C=0.5, epsilon=10.0, tol=1e-7, max_iter=-1, intercept_scaling=None).fit(X, y)
    theirs = svm.SVR(kernel="linear", C=0.5, epsilon=10.0, tol=1e-6).fit(X, y)
    assert np.allclose(ours.predict(X), theirs.predict(X), atol=0.05)


def test_an_intercept_that_is_not_penalised_does_not_pull_towards_zero():
    X, y = DIABETES
    shifted = LinearSVR(loss="squared_epsilon_insensitive", tol=1e-10, intercept_scaling=None).fit(X, y + 1e4)
    plain = LinearSVR(loss="squared_epsilon_insensitive", tol=1e-10, intercept_scaling=None).fit(X, y)
    assert np.allclose(shifted.coef_, plain.coef_, atol=1e-4)
    assert shifted.intercept_[0] - plain.intercept_[0] == pytest.approx(1e4, rel=1e-8)


MODELS = [
    LinearSVC(),
    LinearSVC(dual=True),
    LinearSVC(loss="hinge", tol=1e-3, C=0.1),
    LinearSVC(loss="hinge", tol=1e-3, fit_intercept=False, C=0.1),
    LinearSVC(intercept_scaling=2.0, class_weight="balanced"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("data", [CANCER, IRIS], ids=["two classes", "three classes"])
def test_certificates_close_and_are_confirmed(model, data):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    weights[::7] = 0.0
    model = clone(model).fit(X, y, weights)
    # The primal objective, from public attributes and the definition.
    codes = np.searchsorted(model.classes_, y)
    factors = np.ones(3)
    if model.class_weight:  # balanced, by the weights of objects
        factors = weights.sum() / (len(model.classes_) * np.bincount(codes, weights))
    primal = 0.0
    for k, (w, c) in enumerate(zip(model.coef_, model.intercept_, strict=True)):
        own = codes == (1 if len(model.coef_) == 1 else k)
        factor = factors[codes] if len(model.coef_) == 1 else np.where(own, factors[k], 1.0)
        slack = np.maximum(0, 1 - np.where(own, 1, -1) * (X @ w + c))
        primal += model.C * (factor * weights) @ (slack if model.loss == "hinge" else slack**2) + 0.5 * w @ w
        primal += 0.5 * (c / model.intercept_scaling) ** 2 if model.intercept_scaling else 0.0
    for proof in (model.certificate_, model.verify(X, y, weights)):
        assert proof.primal == pytest.approx(primal, rel=1e-9)
        assert -1e-12 <= proof.relative_gap <= 1.5 * model.tol
        assert len(proof.parts) == (0 if len(model.coef_) == 1 else 3)
    exact = clone(model).set_params(tol=1e-8, max_iter=-1).fit(X, y, weights)
    assert exact.certificate_.primal <= model.certificate_.primal * (1 + 1e-7)
    assert model.certificate_.dual <= exact.certificate_.primal * (1 + 1e-12)
    for part, w, best in zip(model.certificate_.parts or [model.certificate_], model.coef_, exact.coef_, strict=True):
        assert np.linalg.norm(w - best) <= part.kkt_violation + 1e-2


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_certificates_of_regressors(loss):
    X, y = DIABETES
    model = LinearSVR(loss=loss, epsilon=5.0, tol=1e-3).fit(X, y)
    for proof in (model.certificate_, model.verify(X, y)):
        assert -1e-12 <= proof.relative_gap <= 1.5e-3
    assert model.verify(X, y).primal == pytest.approx(model.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("model", [*MODELS, LinearSVR(C=0.01, tol=1e-3)], ids=str)
def test_sparse_rows_are_dense_rows(model):
    X, y = make_classification(200, 8, n_informative=5, n_classes=3, random_state=0)
    X[np.abs(X) < 0.5] = 0.0
    dense, sparse = clone(model).fit(X, y), clone(model).fit(sp.csr_array(X), y)
    assert np.allclose(dense.coef_, sparse.coef_, atol=1e-8)
    assert np.allclose(dense.predict(X), sparse.predict(sp.csc_array(X)))
    single = clone(model).fit(X.astype(np.float32), y)
    assert np.allclose(dense.coef_, single.coef_, atol=2e-2)
    wide = sp.hstack([sp.csr_array(X), sp.csr_array((200, 2000))]).tocsr()  # other routes, the same optimum
    for dual in ("auto", True, *((False,) if model.loss == "squared_hinge" else ())):
        routed = clone(model).set_params(dual=dual).fit(wide, y)
        assert routed.certificate_.primal == pytest.approx(dense.certificate_.primal, rel=3 * model.tol)


def test_weights_are_repetitions():
    X, y = IRIS
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = LinearSVC(tol=1e-10).fit(X, y, counts)
    repeated = LinearSVC(tol=1e-10).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_reproducible():
    X, y = CANCER
    fits = [
        LinearSVC(loss="hinge", dual=True, tol=1e-2, random_state=seed).fit(X, y).coef_ for seed in (None, None, 0, 1)
    ]
    assert np.array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[2], fits[3])


@pytest.mark.parametrize("names", [None, ["no", "yes", "maybe"]], ids=str)
@pytest.mark.parametrize(
    "model", [LinearSVC(C=2.0), LinearSVC(loss="hinge", C=0.1, tol=1e-3), LinearSVR(C=0.1, tol=1e-3)], ids=str
)
def test_model_files_and_pickles_give_the_model_back(model, names, tmp_path):
    X, y = IRIS
    if names and isinstance(model, LinearSVC):
        y = np.array(names)[y]
    model = clone(model).fit(X, y)
    mercer.save(model, tmp_path / "model")
    for again in (mercer.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model)
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.predict(X), model.predict(X))
        assert np.array_equal(again.coef_, model.coef_)
        assert again.certificate_ == model.certificate_
        assert again.n_iter_ == model.n_iter_
        assert again.verify(X, y).primal == pytest.approx(model.certificate_.primal)


def test_damaged_model_files_are_refused():
    X, y = IRIS
    stored = LinearSVC().fit(X, y)._to_stored()
    for name, value in (
        ("coef_", stored.arrays["coef_"][:2]),
        ("coef_", np.full((3, 4), np.nan)),
        ("intercept_", np.zeros(2)),
        ("classes_", np.zeros(1)),
        ("certificate_", np.zeros((1, 7))),
    ):
        with pytest.raises(ModelFileError):
            LinearSVC._from_stored(Stored(stored.params, stored.values, {**stored.arrays, name: value}))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(C=0), "'C' parameter of LinearSVC"),
        (LinearSVC(C=np.inf), "'C' parameter of LinearSVC"),
        (LinearSVC(tol=0), "'tol' parameter"),
        (LinearSVC(loss="hing"), "Did you mean 'hinge'"),
        (LinearSVC(penalty="l3"), "'penalty' parameter"),
        (
            LinearSVC(penalty="l1", loss="hinge"),
            "Unsupported set of arguments.*penalty='l1', loss='hinge', dual='auto'",
        ),
        (LinearSVC(penalty="l1", dual=True), "Unsupported set of arguments.*dual=True"),
        (LinearSVC(multi_class="crammer"), "'multi_class' parameter"),
        (LinearSVC(multi_class="crammer_singer", intercept_scaling=None), "'intercept_scaling' parameter"),
        (LinearSVC(loss="hinge", dual=False), "not smooth"),
        (LinearSVC(dual="yes"), "True, False or 'auto'"),
        (LinearSVC(intercept_scaling=0.0), "'intercept_scaling' parameter"),
        (LinearSVC(max_iter=1.5), "'max_iter' parameter"),
        (LinearSVC(time_limit=0), "'time_limit' parameter"),
        (LinearSVC(fit_intercept=1), "'fit_intercept' parameter"),
        (LinearSVR(epsilon=-1.0), "'epsilon' parameter of LinearSVR"),
        (LinearSVR(loss="hinge"), "'loss' parameter of LinearSVR"),
        (LinearSVR(dual=False), "not smooth"),
    ],
    ids=str,
)
def test_bad_parameters(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(*IRIS)
    assert not hasattr(model, "coef_")


def test_bad_data():
    X, y = IRIS
    with pytest.raises(InputError, match="use LinearSVR"):
        LinearSVC().fit(X, np.linspace(0, 1, len(X)))
    with pytest.raises(InputError, match="1 class"):
        LinearSVC().fit(X, np.zeros(len(X)))
    with pytest.raises(InputError, match="Rescale the features"):
        LinearSVC().fit(X * 1e200, y)
    with pytest.raises(InputError, match="Rescale the features"):
        LinearSVR().fit(X * 1e200, y)
    with pytest.raises(InputError, match="class_weight must be greater than zero"):
        LinearSVC(class_weight={0: 0.0}).fit(X, y)
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        LinearSVC().fit(broken, y)
    with pytest.raises(NotFittedError):
        LinearSVR().predict(X)
    with pytest.raises(ValueError, match="features"):
        LinearSVC().fit(X, y).predict(X[:, :2])


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = IRIS
    model = LinearSVC().fit(X, y)
    before = model.coef_
    with pytest.raises(InputError):
        model.fit(X * 1e200, y)
    assert model.coef_ is before


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"time_limit": 1e-9}], ids=str)
def test_unfinished_training_says_so_and_what_to_do(loss, limit):
    for X, y in (CANCER, IRIS):
        with pytest.warns(ConvergenceWarning, match=r"duality gap is .* of the objective.*(max_iter|time_limit)"):
            model = LinearSVC(loss=loss, tol=1e-9, C=100.0, **limit).fit(X, y)
        assert model.certificate_.dual < model.certificate_.primal
        assert np.isfinite(model.coef_).all()


def test_pipelines_searches_and_tables():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    table = pandas.DataFrame(X, columns=list("abcd"))
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.1, 1.0]}, cv=3)
    assert search.fit(table, y).best_score_ > 0.9
    assert LinearSVC().fit(table, y).feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize("data", [CANCER, IRIS], ids=["two classes", "three classes"])
@pytest.mark.parametrize("extra", [{"penalty": "l1", "dual": False}, {"multi_class": "crammer_singer"}], ids=str)
def test_other_objectives_agree_with_scikit_learn(data, extra):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    ours = LinearSVC(C=0.1, tol=1e-7, max_iter=-1, class_weight="balanced", **extra).fit(X, y, weights)
    theirs = svm.LinearSVC(C=0.1, tol=1e-9, max_iter=10**6, class_weight="balanced", **extra).fit(X, y, weights)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    proof, again = ours.certificate_, ours.verify(X, y, weights)
    assert proof.relative_gap <= 1e-7
    assert again.primal == pytest.approx(proof.primal, rel=1e-6)
    if "penalty" in extra:
        assert (ours.coef_ == 0).sum() == (theirs.coef_ == 0).sum() > 0


def test_defaults_are_those_of_scikit_learn():
    for ours, theirs in ((LinearSVC(), svm.LinearSVC()), (LinearSVR(), svm.LinearSVR())):
        mine = ours.get_params()
        assert all(mine[name] == value for name, value in theirs.get_params().items())


def test_negative_weights_leave_objects_out_with_a_warning():
    X, y = CANCER
    weights = np.where(np.arange(len(y)) % 3 == 1, -1.0, 1.0)
    for model in (LinearSVC(), LinearSVR(), SVC(), SVR(), OneClassSVM()):
        with pytest.warns(DataWarning, match="the first that of object 1"):
            found = clone(model).fit(X, y, sample_weight=weights)
        assert np.allclose(found.predict(X), clone(model).fit(X, y, sample_weight=np.maximum(weights, 0.0)).predict(X))
