"""Machines on data of vast scales: refused where numbers end, and solved where function space loses its way."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, KernelLogisticRegression, KernelMachineRegressor, KernelRidge, kernels
from mercer.errors import KernelError
from mercer.estimators import sanity


def test_features_whose_products_overflow_are_refused_as_their_matrix_is():
    X = 1e100 * np.random.default_rng(0).normal(size=(30, 3))
    for model in (KernelLogisticRegression(), SVC(), KernelRidge()):
        for dual in (True, False):
            made = clone(model).set_params(kernel=kernels.Polynomial(degree=2), dual=dual)
            with pytest.raises(KernelError, match="overflow"):
                made.fit(X, np.arange(30) % 3)


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


def test_deviations_of_columns_by_blocks(monkeypatch):
    monkeypatch.setattr(sanity, "_BLOCK", 64)
    values = np.random.default_rng(0).normal(size=(1000, 3)) * [1.0, 5.0, 0.1] + 100.0
    np.testing.assert_allclose(sanity._deviations(values), values.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(sanity._deviations(values.astype(np.float32)), values.std(axis=0), rtol=1e-4)


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
