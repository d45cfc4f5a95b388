"""The teaching classifiers as scikit-learn estimators."""

import time

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, GradientKernelMachine, KernelPerceptron, PrimalPerceptron, SubgradientSVM, _registry, kernels
from mercer.errors import ParameterError

MODELS = [
    KernelPerceptron(epochs=20),
    PrimalPerceptron(epochs=20),
    SubgradientSVM(steps=100),
    SubgradientSVM(method="stochastic", random_state=0),
    GradientKernelMachine(steps=100),
    GradientKernelMachine(objective="svm", steps=100),
]


@parametrize_with_checks(MODELS)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_learns_and_is_stored(model, classes, tmp_path):
    X, y = IRIS
    X, y = X[y < classes] - X.mean(axis=0), np.array(["a", "b", "c"])[y[y < classes]]
    model.fit(X, y)
    assert model.score(X, y) > (0.9 if classes == 2 else 0.6)
    assert len(model.traces_) == (1 if classes == 2 else 3)
    mercer.save(model, tmp_path / "model")
    back = mercer.load(tmp_path / "model")
    assert np.array_equal(back.decision_function(X), model.decision_function(X))
    assert np.array_equal(back.traces_[0].values, model.traces_[0].values)
    for name in ("counts_", "z_"):
        assert np.array_equal(getattr(back, name, 0), getattr(model, name, 0))


def test_on_strings():
    words, labels = ["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]
    for model in (KernelPerceptron(kernel=kernels.Spectrum(2)), GradientKernelMachine(kernel=kernels.Spectrum(2))):
        assert model.fit(words, labels).predict(["gatta", "gcgc"]).tolist() == [1, 0]


def test_averaging_and_margin_help():
    X, y = make_moons(200, noise=0.25, random_state=0)
    new, labels = make_moons(500, noise=0.25, random_state=1)
    plain = KernelPerceptron(gamma=1.0, epochs=10).fit(X, y)
    averaged = KernelPerceptron(gamma=1.0, epochs=10, averaged=True).fit(X, y)
    assert averaged.score(new, labels) >= plain.score(new, labels)
    wide = KernelPerceptron(gamma=50.0, epochs=1000, margin=1.0).fit(X, y)
    assert wide.converged_
    assert (np.where(y == 1, 1, -1) * wide.decision_function(X)).min() >= 1.0 - 1e-9


def test_shuffled_runs_repeat():
    X, y = make_moons(100, noise=0.3, random_state=0)
    one, two = (KernelPerceptron(shuffle=True, random_state=3, epochs=5).fit(X, y) for _ in range(2))
    assert np.array_equal(one.counts_, two.counts_)
    assert not np.array_equal(one.counts_, KernelPerceptron(epochs=5).fit(X, y).counts_)


def test_learning_rate_changes_no_prediction_of_the_perceptron():
    X, y = make_moons(60, noise=0.2, random_state=0)
    one, half = PrimalPerceptron(epochs=7).fit(X, y), PrimalPerceptron(epochs=7, learning_rate=0.5).fit(X, y)
    assert np.allclose(half.coef_, 0.5 * one.coef_)
    assert np.array_equal(one.predict(X), half.predict(X))


def test_printed_variants():
    X, y = make_moons(100, noise=0.2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        GradientKernelMachine(objective="svm", variant="printed", C=10.0, steps=2000).fit(X, y)
    soft = GradientKernelMachine(variant="printed", steps=200).fit(X, y)
    assert soft.trace_.last < soft.trace_.values[0]
    batch = SubgradientSVM(variant="printed").fit(X, y)
    assert batch.trace_.last > SubgradientSVM().fit(X, y).trace_.best


def test_constant_steps_are_z_minus_eta_times_the_gradient():
    X, y = make_moons(40, noise=0.2, random_state=0)
    signs, gamma, eta, C = np.where(y == 1, 1.0, -1.0), 0.7, 0.003, 2.0
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    z, b = np.zeros(40), 0.0
    for _ in range(5):
        slope = -C * signs / (1 + np.exp(signs * (K @ z + b) - 1))
        z, b = z - eta * (K @ z + K @ slope), b - eta * slope.sum()
    kernel = kernels.RBF(gamma)
    given = {"kernel": kernel, "objective": "svm", "C": C, "steps": 5}
    model = GradientKernelMachine(variant="constant", learning_rate=eta, **given).fit(X, y)
    assert np.allclose(model.z_[:, 0], z, rtol=1e-9)
    assert model.intercept_[0] == pytest.approx(b)


def test_every_variant_heeds_the_learning_rate():
    X, y = make_moons(40, noise=0.2, random_state=0)
    for objective in ("softmax", "svm"):
        for variant in ("corrected", "constant"):
            one, other = (
                GradientKernelMachine(objective=objective, variant=variant, learning_rate=rate, steps=2).fit(X, y)
                for rate in (1e-4, 2e-4)
            )
            assert not np.allclose(one.z_, other.z_)


def test_constant_subgradient_steps_descend_where_the_printed_ones_do_not():
    X, y = make_moons(100, noise=0.2, random_state=0)
    best = 2 * SVC(kernel="linear", C=0.5, tol=1e-7).fit(X, y).certificate_.primal
    constant = SubgradientSVM(variant="constant", learning_rate=0.001, steps=3000).fit(X, y).trace_.last
    assert best <= constant < 1.02 * best
    assert SubgradientSVM(variant="printed", learning_rate=0.001, steps=3000).fit(X, y).trace_.last > 1.02 * best


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelPerceptron(epochs=0), "'epochs' parameter of KernelPerceptron"),
        (KernelPerceptron(margin=-1.0), "'margin'"),
        (PrimalPerceptron(learning_rate=0), "'learning_rate'"),
        (SubgradientSVM(method="bath"), "Did you mean 'batch'"),
        (SubgradientSVM(variant="slide"), "'corrected', 'constant', 'printed'"),
        (SubgradientSVM(method="stochastic", variant="constant"), 'variant="constant" is for method="batch"'),
        (GradientKernelMachine(objective="svm", variant="printed", learning_rate=0.1), 'Use variant="constant"'),
        (SubgradientSVM(C=np.inf), "'C'"),
        (GradientKernelMachine(objective="hinge"), "'objective'"),
        (GradientKernelMachine(lam=-1), "'lam'"),
    ],
)
def test_refusals(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])


def test_traces_of_several_machines():
    model = PrimalPerceptron(epochs=3).fit(*IRIS)
    with pytest.raises(AttributeError, match="see traces_"):
        _ = model.trace_


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_time_limit_ends_training_with_a_warning(model):
    X, y = IRIS
    with pytest.warns(ConvergenceWarning, match="time limit"):
        clone(model).set_params(time_limit=1e-9).fit(X, y).predict(X)
    with pytest.raises(ParameterError, match="time_limit"):
        clone(model).set_params(time_limit=-1.0).fit(X, y)


@pytest.mark.parametrize("entry", _registry.ESTIMATORS.values(), ids=_registry.ESTIMATORS)
def test_a_fit_that_fails_leaves_nothing_behind(entry):
    model = entry.load()()
    if not (is_classifier(model) or is_regressor(model)):
        return  # it does not look at targets
    X = np.random.default_rng(0).normal(size=(10, 2))
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"."):
        model.fit(X, np.full(9, np.nan))
    assert vars(model) == before


def test_certificates_know_how_long_training_took():
    began = time.monotonic()
    model = KernelPerceptron(kernel="linear").fit([[-1.0], [1.0], [2.0]], [0, 1, 1])
    assert 0.0 <= model.certificate_.seconds <= time.monotonic() - began
