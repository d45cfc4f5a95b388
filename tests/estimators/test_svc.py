"""SVC as a scikit-learn estimator: the common checks, the ecosystem, and agreement with scikit-learn's own."""

import pickle
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import svm as sklearn_svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, kernels
from mercer.errors import InputError, KernelError, KernelWarning, MemoryBudgetError, ParameterError
from mercer.gram.matrix import Gram
from mercer.inputs.tables import Table

WORDS = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
SIDES = [1, 1, 0, 0, 1, 0]

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "at the default tol=1e-3 two optimal solutions agree to 1e-3, not to 1e-7, and gamma='scale' reads the "
        "unweighted variance; SVC(tol=1e-12, gamma=0.5) passes"
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


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, r"'C' parameter of SVC must be a float in \(0, inf\]. Got 0"),
        ({"C": -1.0}, "'C' parameter of SVC"),
        ({"C": float("nan")}, "'C' parameter of SVC"),
        ({"C": "1"}, "'C' parameter of SVC"),
        ({"gamma": 0.0}, "'gamma' parameter of SVC"),
        ({"gamma": float("inf")}, "'gamma' parameter of SVC"),
        ({"kernel": "rbff"}, "[Dd]id you mean 'rbf'"),
        ({"kernel": "rbf(gamma=1) +"}, "kernel"),
        ({"kernel": "rbf(gamma=1.0)", "gamma": 2.0}, "kernel__gamma"),
        ({"kernel": 3}, "a name, a kernel object, or a function"),
        ({"kernel": kernels.Linear(), "gamma": 2.0}, "kernel__gamma"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"max_iter": -5}, "'max_iter' parameter"),
        ({"penalty_scaling": "avg"}, "'sum', 'mean'"),
        ({"decision_function_shape": "ovx"}, "'ovo', 'ovr'"),
        ({"memory": "lots"}, "number of MiB"),
    ],
)
def test_bad_parameters(params, message):
    X, y = make_moons(20, random_state=0)
    with pytest.raises(ParameterError, match=message):
        SVC(**params).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 10, "1 class: all 10 samples have the label"),
        ([1, "a"] * 5, "Mix of label types"),
        (np.linspace(0, 1, 10), "use SVR"),
        ([0.0, np.nan] * 5, "NaN"),
        ([0, 1] * 4, "inconsistent numbers of samples"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(InputError if "NaN" not in message else ValueError, match=message):
        SVC().fit(np.arange(20.0).reshape(10, 2), y)


def test_bad_weights():
    X, y = make_moons(10, random_state=0)
    with pytest.raises(InputError, match="must not be negative; object 3"):
        SVC().fit(X, y, sample_weight=[1, 1, 1, -1, 1, 1, 1, 1, 1, 1])
    with pytest.raises(InputError, match="all samples have zero or negative weights"):
        SVC().fit(X, y, sample_weight=np.zeros(10))
    with pytest.raises(InputError, match="belong to the same class"):
        SVC().fit(X, y, sample_weight=y)


def test_wrong_shapes_at_prediction():
    X, y = make_moons(20, random_state=0)
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but SVC is expecting 2"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(NotFittedError):
        SVC().predict(X)
    with pytest.raises(InputError, match="got one str"):
        SVC(kernel=kernels.Spectrum(2)).fit(WORDS, SIDES).predict("gatta")
    K = X @ X.T
    with pytest.raises(ValueError, match="X has 5 features"):
        SVC(kernel="precomputed").fit(K, y).predict(K[:, :5])


def test_functions_that_are_no_kernels():
    X, y = make_moons(40, random_state=0)
    with pytest.raises(KernelError, match=r"shape \(40, 40\); it returned shape \(3, 3\)"):
        SVC(kernel=lambda A, B: np.ones((3, 3))).fit(X, y)
    with pytest.raises(KernelError, match="not symmetric"):
        SVC(kernel=lambda A, B: A[:, :1] @ B[:, 1:].T).fit(X, y)
    with pytest.raises(KernelError, match="returned nan"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)


def test_indefinite_matrices_are_found():
    rng = np.random.default_rng(0)
    X, y = make_moons(40, noise=0.2, random_state=0)
    K = kernels.RBF(gamma=1.0).fit(X)(X)
    wrong = K - 0.5 * np.eye(40)
    with pytest.warns(KernelWarning, match="smallest eigenvalue is about -0.5"):
        SVC(kernel="precomputed").fit(wrong, y)
    with pytest.raises(KernelError, match="not positive semi-definite"):
        SVC(kernel="precomputed", psd="error").fit(wrong, y)
    SVC(kernel="precomputed", psd="ignore").fit(wrong, y)
    SVC(kernel="precomputed", psd="error").fit(K, y)
    large = rng.normal(size=(900, 3))
    spoilt = large @ large.T
    spoilt[0, 1] = spoilt[1, 0] = 50.0
    with pytest.warns(KernelWarning, match="smallest eigenvalue is about -4"):
        SVC(kernel="precomputed", max_iter=10_000).fit(spoilt, rng.integers(0, 2, 900))


def test_data_from_which_nothing_can_be_learnt_is_warned_of():
    X, y = make_moons(40, noise=0.2, random_state=0)
    with pytest.warns(KernelWarning, match="column 1 is .*, of column 0"):
        SVC().fit(X * [1e-4, 1e4], y)
    for constant in (np.ones((40, 2)), X * 1e-300):
        with pytest.warns(KernelWarning, match="kernel is constant on these 40 objects"):
            SVC().fit(constant, y)
    with pytest.raises(InputError, match=r"overflow in kernel.*Rescale"):
        SVC().fit(X * 1e300, y)


@pytest.mark.parametrize(
    "change", [np.asfortranarray, np.float16, np.float32, lambda X: X[:, ::-1], lambda X: X.astype(object)]
)
def test_layouts_and_types_make_no_difference(change):
    X, y = make_moons(60, noise=0.2, random_state=0)
    X = X.astype(np.float16).astype(np.float64)
    model = SVC(gamma=1.0).fit(change(X), y)
    assert np.allclose(model.decision_function(change(X)), SVC(gamma=1.0).fit(X, y).decision_function(X), atol=2e-3)


def test_memory_maps_are_read_and_never_written(tmp_path):
    X, y = make_moons(60, noise=0.2, random_state=0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    before = (tmp_path / "X.npy").read_bytes()
    assert np.array_equal(SVC().fit(mapped, y).decision_function(mapped), SVC().fit(X, y).decision_function(X))
    assert (tmp_path / "X.npy").read_bytes() == before


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            np.ma.masked_array(np.ones((4, 2)), mask=[[0, 0], [0, 1], [0, 0], [0, 0]]),
            InputError,
            "row 1, column 1 is mask",
        ),
        ([[1.0, np.nan], [0.0, 1.0]] * 2, InputError, "NaN.*2 entries not finite, the first at row 0, column 1"),
        (np.full((4, 2), np.inf), InputError, "infinity"),
        (np.ones((4, 2)) * 1j, InputError, "Complex"),
        (np.zeros((4, 0)), InputError, "0 feature"),
        (np.zeros((0, 2)), InputError, "0 sample"),
        (np.zeros(4), InputError, "Reshape"),
        (np.zeros((4, 2, 2)), InputError, "3D array"),
        ([["a", "b"]] * 4, InputError, "kernel on strings"),
    ],
)
def test_bad_objects(X, error, message):
    with pytest.raises(error, match=message):
        SVC().fit(X, [0, 1, 0, 1][: len(X)])


def test_too_large_for_the_budget_is_refused_before_allocating():
    X = np.zeros((3000, 1))
    X[0] = 1.0
    with pytest.raises(MemoryBudgetError, match="3,000 x 3,000"):
        Gram.of(kernels.Linear().fit(X), X, memory=1).dense()


# ---------------------------------------------------------------------------------------------- limits and interruption


def hard_problem(n=1500):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 5)), rng.integers(0, 2, n)


def test_limits_warn_and_leave_a_usable_model():
    X, y = hard_problem(300)
    with pytest.warns(ConvergenceWarning, match="limit on iterations"):
        model = SVC(C=100.0, max_iter=10).fit(X, y)
    assert model.fit_status_ == 1
    assert model.certificate_.kkt_violation > model.tol
    assert np.isfinite(model.decision_function(X)).all()
    with pytest.warns(ConvergenceWarning, match="time limit"):
        SVC(C=1e6, gamma=10.0, tol=1e-9, time_limit=0.01).fit(*hard_problem())


def test_interrupt_leaves_the_estimator_unfitted():
    X, y = hard_problem()
    SVC(C=1.0, gamma=10.0).fit(X[:100], y[:100])  # compiled before the clock runs
    model = SVC(C=1e9, gamma=1e-3, tol=1e-12)

    def interrupt():
        import _thread

        time.sleep(0.5)
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not [name for name in vars(model) if name.endswith("_")]
