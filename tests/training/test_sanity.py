"""Machines on data of odd scales, and machines whose training was not finished."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelQuantileRegressor,
    KernelRidge,
    NuSVR,
    kernels,
)
from mercer.errors import KernelError, KernelWarning
from mercer.inputs.vectors import Vectors
from mercer.training import on_features


def test_features_whose_products_overflow_are_refused_as_their_matrix_is():
    X = 1e100 * np.random.default_rng(0).normal(size=(30, 3))
    for model in (KernelLogisticRegression(), SVC(), KernelRidge()):
        for dual in (True, False):
            made = clone(model).set_params(kernel=kernels.Polynomial(degree=2), dual=dual)
            with pytest.raises(KernelError, match="overflow"):
                made.fit(X, np.arange(30) % 3)


def test_a_column_that_is_constant_but_for_rounding_is_no_narrow_one():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:, 1] = np.where(X[:, 0] > 0, 0.3, np.nextafter(0.3, 1.0))
    SVC().fit(X, X[:, 0] > 0.2)  # without a warning
    X[:, 1] += np.where(X[:, 0] > 0, 1e-9, 0.0)
    with pytest.warns(KernelWarning, match="wildly different scales"):
        SVC().fit(X, X[:, 0] > 0.2)


def test_joint_losses_train_on_few_features_by_themselves():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = KernelLogisticRegression(kernel=kernels.Linear()).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert model.certificate_.kernel_entries <= 32 * len(X)  # to see that it is not constant


@pytest.mark.parametrize("classes", [2, 3])
def test_a_matrix_of_a_vast_scale_is_trained_on_its_factor(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 100.0] + 1e3
    y = np.digitize(X[:, 0] - 1e3, [0.0] if classes == 2 else [-0.5, 0.5])
    kernel = kernels.Polynomial(degree=2, coef0=1.0)
    by_matrix, by_features = (KernelLogisticRegression(kernel=kernel, dual=dual).fit(X, y) for dual in (True, False))
    assert by_matrix.certificate_.kkt_violation <= 1e-4
    assert by_features.certificate_.kkt_violation <= 1e-4
    np.testing.assert_array_equal(by_matrix.predict(X), y)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 20.0])
def test_a_machine_out_of_time_is_as_good_as_its_weights(classes, shift):
    """Its coefficients are those of the weights found so far, not what these would be at the optimum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) + shift
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=400), shift + np.array([0.0] if classes == 2 else [-0.5, 0.5]))
    for limit in (1, 2, 3):
        model = KernelLogisticRegression(kernel=kernels.Linear(), C=1e3, dual=False, max_iter=limit)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        nothing = 1e3 * len(X) * np.log(classes)
        assert model.certificate_.primal < 0.8 * nothing
        assert model.verify(X, y).primal == pytest.approx(model.certificate_.primal, rel=1e-8)
        assert model.score(X, y) > 1.5 / classes  # well above chance


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_moments_of_columns(dtype, rtol):
    values = np.random.default_rng(0).normal(size=(1000, 3)) * [1.0, 5.0, 0.1] + 100.0
    mean, variance = Vectors.coerce(values.astype(dtype)).moments
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=rtol)
    np.testing.assert_allclose(np.sqrt(variance), values.std(axis=0), rtol=rtol)


@pytest.mark.parametrize("loss", ["huber", "squared_epsilon_insensitive", "squared"])
def test_targets_far_from_zero_are_found(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=40) + 1e6
    by_matrix, by_features = (
        KernelMachineRegressor(loss, kernel="linear", dual=dual, tol=1e-4).fit(X, y) for dual in (True, False)
    )
    assert by_matrix.certificate_.primal == pytest.approx(by_features.certificate_.primal, rel=1e-3)
    np.testing.assert_allclose(by_matrix.predict(X), y, atol=1.0)


def noisy(n=60):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=n)


def test_few_objects_are_solved_however_badly_scaled():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 6)) * 10.0 ** np.arange(-3, 3), np.arange(30) % 2
    for model in (SVC(kernel=kernels.Linear(), C=1e4), SVR(kernel=kernels.Linear(), C=1e4)):
        by_features = clone(model).set_params(dual=False).fit(X, y)
        by_matrix = clone(model).set_params(dual=True).fit(X, y)
        assert by_features.certificate_.dual == pytest.approx(by_matrix.certificate_.dual, rel=1e-5)


def test_features_of_a_vast_scale_leave_ridge_regression_finite():
    X = np.random.default_rng(5).normal(size=(40, 5)) * 10.0 ** np.array([0, 4, 9, 12, 12])
    with pytest.warns(KernelWarning, match="cannot be inverted"):
        model = KernelRidge(kernel=kernels.Linear(), alpha=1e-9, dual=False).fit(X, X[:, 1])
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
def test_squares_that_underflow_stop_conjugate_gradients(monkeypatch):
    monkeypatch.setattr("mercer.solvers.weights.choice.MOST_FEATURES", 1)
    X, y = np.full((6, 3), 1e-200), np.arange(6) * 1e-200
    model = KernelMachineRegressor(loss="huber", kernel=kernels.Linear(), dual=False, fit_intercept=False).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_light_weights_still_move_the_intercept(monkeypatch):
    monkeypatch.setattr(on_features, "cheaper", lambda *_, **__: True)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 3)), np.where(np.arange(20) < 15, 1, 0)
    model = SVC(kernel=kernels.Linear(), C=1e-7, dual=False).fit(X, y)
    assert (model.predict(X) == 1).all()
    assert model.certificate_.relative_gap < 1e-3
    off = SVR(kernel=kernels.Linear(), C=1e-7, dual=False).fit(X, 1e4 + rng.normal(size=20))
    np.testing.assert_allclose(off.predict(X), 1e4, atol=2.0)


@pytest.mark.parametrize(
    "model",
    [SVC(C=1e6), SVR(C=1e6), NuSVR(C=1e6), KernelQuantileRegressor(C=1e6)],
    ids=lambda model: type(model).__name__,
)
def test_few_rows_in_single_precision_are_as_good_as_in_double(model):
    X, y = noisy()
    X, y = X.astype(np.float32), np.sign(y) if isinstance(model, SVC) else y
    model.set_params(kernel="linear", dual=False).fit(X, y)
    proof = model.verify(X, y)
    assert proof.kkt_violation < 2e-3
    assert proof.primal == pytest.approx(model.certificate_.primal, rel=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        KernelLogisticRegression(C=1e6),
        KernelMachineRegressor(loss="huber", C=1e6),
        KernelMachineClassifier(loss="squared_hinge", C=1e6),
    ],
    ids=lambda model: type(model).__name__,
)
def test_machines_that_coefficients_cannot_express_say_so(model):
    X, y = noisy()
    X = X * [1e-6, 1.0, 1e6]
    labels = y if isinstance(model, KernelMachineRegressor) else np.sign(y)
    model.set_params(kernel="linear", dual=False)
    with pytest.warns((ConvergenceWarning, KernelWarning)) as said:
        model.fit(X, labels)
    assert any("did not converge" in str(warning.message) for warning in said)
    assert model.certificate_.kkt_violation > model.tol


def test_targets_all_alike_end_at_once():
    X, _ = noisy()
    model = KernelMachineRegressor(loss="huber", kernel="linear", C=1e6, max_iter=200, dual=False).fit(
        X, np.full(60, 3.0)
    )
    np.testing.assert_allclose(model.predict(X), 3.0)
