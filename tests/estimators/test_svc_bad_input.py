"""SVC given what it cannot use, and told to stop: answers before work, and nothing half-set."""

import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from mercer import SVC, KernelRidge, kernels
from mercer.errors import DataWarning, InputError, KernelError, KernelWarning, MemoryBudgetError, ParameterError
from mercer.gram.make import gram_of

WORDS = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
SIDES = [1, 1, 0, 0, 1, 0]


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
        ({"C": float("inf"), "dual": False}, "'dual' parameter of SVC must be True or 'auto' with C=inf"),
    ],
)
def test_bad_parameters(params, message):
    X, y = make_moons(20, random_state=0)
    with pytest.raises(ParameterError, match=message):
        SVC(**params).fit(X, y)


@pytest.mark.parametrize("params", [{"C": float("inf")}, {"C": 1.0, "dual": False, "kernel": "linear"}])
def test_a_hard_margin_and_weights_of_features_are_each_allowed(params):
    X, y = make_moons(20, random_state=0)
    assert SVC(**params).fit(X, y).fit_status_ == 0


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
    with pytest.warns(DataWarning, match="1 of 10 weights are negative, the first that of object 3"):
        SVC().fit(X, y, sample_weight=[1, 1, 1, -1, 1, 1, 1, 1, 1, 1])
    with pytest.raises(InputError, match="must not be negative; object 3"):
        KernelRidge().fit(X, y, sample_weight=[1, 1, 1, -1, 1, 1, 1, 1, 1, 1])
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
    with pytest.raises(KernelError, match=r"shape \(8, 8\); it returned shape \(3, 3\)"):
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
        gram_of(kernels.Linear().fit(X), X, memory=1).dense()


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


@pytest.mark.parametrize("max_iter", [0, 1])
def test_few_steps_are_few(max_iter):
    X, y = make_moons(60, noise=0.2, random_state=0)
    with pytest.warns(ConvergenceWarning):
        assert SVC(max_iter=max_iter).fit(X, y).n_iter_.max() <= max_iter
