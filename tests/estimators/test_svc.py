"""SVC as a scikit-learn estimator: the common checks, the ecosystem, and agreement with scikit-learn's own."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import svm as sklearn_svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, kernels
from mercer.errors import ParameterError
from mercer.inputs.tables import Table

WORDS = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
SIDES = [1, 1, 0, 0, 1, 0]

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "at the default tol=1e-3 two optimal solutions agree to 1e-3, not to 1e-7, and gamma='scale' is "
        "scikit-learn's, which knows no weights; SVC(tol=1e-12, gamma=0.5) passes"
    ),
}
EXPECTED_FAILURES["check_sample_weight_equivalence_on_sparse_data"] = EXPECTED_FAILURES[
    "check_sample_weight_equivalence_on_dense_data"
]


def expected(estimator):
    return {} if estimator.tol < 1e-9 else EXPECTED_FAILURES


# Some checks pass an indefinite matrix as a precomputed kernel, which is answered by a warning.
@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
@parametrize_with_checks(
    [SVC(), SVC(kernel="precomputed"), SVC(tol=1e-12, gamma=0.5)],
    expected_failed_checks=expected,
)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


def standardised(X):
    return StandardScaler().fit_transform(X)


def problems():
    """Thirty problems: real and generated, two classes and more, every named kernel, weights, several C."""
    real = {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "cancer": load_breast_cancer(return_X_y=True),
        "digits": tuple(part[:600] for part in load_digits(return_X_y=True)),
    }
    for name, (X, y) in real.items():
        for settings_ in (
            {},
            {"kernel": "linear", "C": 0.5},
            {"kernel": "poly", "degree": 2, "coef0": 1.0},
            {"C": 10.0, "gamma": "auto"},
            {"class_weight": "balanced", "C": 0.1},
        ):
            yield f"{name}-{settings_}", standardised(X), y, settings_
    for seed, settings_ in enumerate(
        (
            {},
            {"C": 100.0, "gamma": 0.1},
            {"kernel": "linear"},
            {"kernel": "poly", "coef0": 0.5},
            {"class_weight": {0: 1.0, 1: 5.0}},
        )
    ):
        X, y = make_classification(300, 10, flip_y=0.1, random_state=seed)
        yield f"binary-{seed}", X, y, settings_
        X, y = make_classification(300, 10, n_informative=6, n_classes=4, random_state=seed)
        settings_ = {key: value for key, value in settings_.items() if key != "class_weight"}
        yield f"four-{seed}", X, y, settings_


@pytest.mark.parametrize(("X", "y", "settings_"), [pytest.param(*rest, id=name) for name, *rest in problems()])
def test_agrees_with_scikit_learn(X, y, settings_):
    ours = SVC(decision_function_shape="ovo", **settings_).fit(X, y)
    theirs = sklearn_svm.SVC(decision_function_shape="ovo", **settings_).fit(X, y)
    expected_values = theirs.decision_function(X)
    gap = np.abs(ours.decision_function(X) - expected_values)
    scale = 1 + np.abs(expected_values)
    assert (gap <= 2e-2 * scale).all(), gap.max()
    sure = np.abs(expected_values).reshape(len(X), -1).min(axis=1) > 2e-2
    assert (ours.predict(X) == theirs.predict(X))[sure].all()
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    assert np.abs(ours.n_support_ - theirs.n_support_).max() <= max(2, 0.03 * len(X))
    assert ours.certificate_.kkt_violation <= ours.tol
    # The dual objective of their coefficients, on our Gram matrix, is the same optimum.
    assert objective(ours, X, y) == pytest.approx(objective(theirs, X, y), rel=1e-3)


def objective(model, X, y):
    """The sum over pairs of the dual objective, from public attributes alone."""
    kernel = kernels.Precomputed() if model.kernel == "precomputed" else SVC(**named(model))._kernel()
    K = kernel.fit(X)(X)
    codes = np.searchsorted(model.classes_, y)[model.support_]
    coefficients = model._dual_coef_ if isinstance(model, SVC) else np.asarray(model._dual_coef_)
    total = 0.0
    for a in range(len(model.classes_)):
        for b in range(a + 1, len(model.classes_)):
            values = np.zeros(len(X))
            values[model.support_[codes == a]] = coefficients[b - 1, codes == a]
            values[model.support_[codes == b]] = coefficients[a, codes == b]
            total += np.abs(values).sum() - 0.5 * values @ K @ values
    return total


def named(model):
    return {name: getattr(model, name) for name in ("kernel", "gamma", "degree", "coef0")}


@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.01, 1.0, 50.0]), gamma=st.floats(0.01, 5.0))
@settings(max_examples=25)
def test_conditions_of_optimality_hold_for_random_weights(seed, C, gamma):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    y[:2] = 0, 1
    weights = rng.uniform(0.1, 3.0, 40)
    model = SVC(C=C, gamma=gamma, tol=1e-4).fit(X, y, sample_weight=weights)
    signs = np.where(y == 1, 1.0, -1.0)
    alpha = np.zeros(40)
    alpha[model.support_] = model.dual_coef_[0] * signs[model.support_]
    assert (alpha >= 0).all()
    assert (alpha <= C * weights + 1e-12).all()
    assert abs(alpha @ signs) < 1e-8 * C * 40
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))
    functional = signs * (K @ (alpha * signs) + model.intercept_[0])
    free = (alpha > 0) & (alpha < C * weights)
    assert (functional[alpha == 0] >= 1 - 2e-4).all()
    assert (functional[alpha == C * weights] <= 1 + 2e-4).all()
    assert np.allclose(functional[free], 1, atol=2e-4)


def test_certificate_is_confirmed_in_float64_from_the_expansion():
    X, y = make_classification(400, 8, flip_y=0.1, n_informative=5, n_classes=3, random_state=1)
    model = SVC(C=3.0).fit(X, y)
    proof, again = model.certificate_, model.verify(X, y)
    assert again.primal == pytest.approx(proof.primal, rel=1e-9)
    assert again.dual == pytest.approx(proof.dual, rel=1e-9)
    assert again.kkt_violation <= model.tol * 1.001
    assert 0 <= proof.relative_gap < 0.01
    assert len(proof.parts) == 3
    assert proof.margin == min(part.margin for part in proof.parts)


def test_a_value_of_nothing_goes_to_the_class_that_scikit_learn_gives():
    """On the boundary itself: two objects, and the point between them."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    for labels in (y, 1 - y):
        ours, theirs = SVC(kernel="linear").fit(X, labels), sklearn_svm.SVC(kernel="linear").fit(X, labels)
        assert ours.decision_function([[0.0]]).tolist() == theirs.decision_function([[0.0]]).tolist() == [0.0]
        assert ours.predict([[0.0]]).tolist() == theirs.predict([[0.0]]).tolist()


def test_mean_scaling_divides_the_penalty_by_the_number_of_objects():
    X, y = make_moons(80, noise=0.3, random_state=0)
    mean = SVC(C=80.0, penalty_scaling="mean").fit(X, y)
    assert np.array_equal(mean.decision_function(X), SVC(C=1.0).fit(X, y).decision_function(X))


def test_strings_lists_of_any_kind_and_cross_validation():
    model = SVC(kernel=kernels.Spectrum(p=2), C=10.0)
    assert model.fit(WORDS, SIDES).score(WORDS, SIDES) == 1.0
    assert cross_val_score(model, WORDS, SIDES, cv=3).shape == (3,)
    assert cross_val_score(model, np.array(WORDS), SIDES, cv=3).shape == (3,)
    overlap = kernels.FromFunction(lambda a, b: len(a & b), objects="items")
    sets = [{1, 2}, {1, 3}, {7, 8}, {8, 9}]
    assert SVC(kernel=overlap).fit(sets, [0, 0, 1, 1]).predict([{1}, {8}]).tolist() == [0, 1]


def table_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    sequence = ["".join(rng.choice(list("ACGT"), 12)) + ("GATTA" if label else "CCGCC") for label in y]
    return {"sequence": sequence, "a": rng.normal(size=60) + y, "b": rng.normal(size=60)}, y


MIXED = kernels.on("sequence", kernels.normalise(kernels.Spectrum(3))) + kernels.on(["a", "b"], kernels.RBF(gamma=0.5))


@pytest.mark.parametrize("make", ["pandas", "polars", "mapping"])
def test_tables(make):
    rows, y = table_rows()
    if make == "mapping":
        X = Table(rows)
    else:
        X = pytest.importorskip(make, reason=f"{make} is not installed").DataFrame(rows)
    model = SVC(kernel=MIXED, C=5.0)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(model, {"kernel__1__kernel__gamma": [0.1, 1.0], "C": [1.0, 10.0]}, cv=3).fit(X, y)
    assert search.best_estimator_.kernel.terms[1].kernel.gamma in (0.1, 1.0)


def test_search_over_parameters_of_a_kernel_object():
    X, y = make_moons(60, noise=0.2, random_state=0)
    search = GridSearchCV(SVC(kernel=kernels.RBF(gamma=1.0)), {"kernel__gamma": [0.01, 1.0, 100.0]}, cv=3).fit(X, y)
    assert search.best_params_["kernel__gamma"] in (1.0, 100.0)
    original = kernels.RBF(gamma=1.0)
    model = SVC(kernel=original).set_params(kernel__gamma=2.0, C=3.0)
    assert (model.kernel.gamma, original.gamma, model.C) == (2.0, 1.0, 3.0)
    with pytest.raises(ParameterError, match="no parameter 'gama'"):
        model.set_params(kernel__gama=1.0)


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
def test_sigmoid_is_scikit_learns():
    X, y = make_moons(60, noise=0.2, random_state=0)
    ours = SVC(kernel="sigmoid", gamma=0.1, coef0=0.5).fit(X, y).decision_function(X)
    assert np.allclose(
        ours, sklearn_svm.SVC(kernel="sigmoid", gamma=0.1, coef0=0.5).fit(X, y).decision_function(X), atol=5e-3
    )


def test_kernels_as_text():
    X, y = make_moons(60, noise=0.2, random_state=0)
    text = SVC(kernel="rbf(gamma=2.0) + 0.5*linear()").fit(X, y)
    same = SVC(kernel=kernels.RBF(gamma=2.0) + 0.5 * kernels.Linear()).fit(X, y)
    assert np.array_equal(text.decision_function(X), same.decision_function(X))
    assert SVC(kernel="spectrum(p=2)").fit(WORDS, SIDES).score(WORDS, SIDES) == 1.0


def test_precomputed_is_sliced_both_ways_and_equals_the_kernel():
    X, y = make_moons(60, noise=0.2, random_state=0)
    K = kernels.RBF(gamma=1.0).fit(X)(X)
    direct = cross_val_score(SVC(gamma=1.0), X, y, cv=4)
    for kernel in ("precomputed", kernels.Precomputed()):
        assert np.array_equal(cross_val_score(SVC(kernel=kernel), K, y, cv=4), direct)
    assert make_pipeline(SVC(kernel="precomputed")).__sklearn_tags__().input_tags.pairwise


def test_sparse_equals_dense():
    X, y = make_classification(120, 12, random_state=0)
    X[np.abs(X) < 0.7] = 0
    for kernel in ("rbf", "linear", "poly"):
        dense = SVC(kernel=kernel, gamma=0.1).fit(X, y)
        sparse = SVC(kernel=kernel, gamma=0.1).fit(sp.csr_matrix(X), y)
        assert np.allclose(dense.decision_function(X), sparse.decision_function(sp.csr_array(X)), atol=5e-3)
        assert sp.issparse(sparse.dual_coef_)
    assert np.allclose(sparse.decision_function(X), dense.decision_function(X), atol=5e-3)


@pytest.mark.parametrize(
    "model", [SVC(), SVC(kernel=kernels.Spectrum(2)), SVC(kernel="precomputed"), SVC(kernel=MIXED)], ids=str
)
def test_pickle_and_clone(model):
    rows, y = table_rows()
    X = {
        "rbf": np.column_stack([rows["a"], rows["b"]]),
        "precomputed": np.column_stack([rows["a"], rows["b"]]) @ np.column_stack([rows["a"], rows["b"]]).T,
    }.get(model.kernel if isinstance(model.kernel, str) else "", rows["sequence"])
    if model.kernel is MIXED:
        X = Table(rows)
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.decision_function(X), fitted.decision_function(X))


def test_exclusive_or_needs_products_of_features():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    assert SVC(kernel="linear", C=1e3).fit(X, y).score(X, y) < 1.0
    assert SVC(kernel=kernels.Polynomial(degree=2), C=1e3).fit(X, y).score(X, y) == 1.0
