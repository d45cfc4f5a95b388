"""Centring: means of the training objects, for new objects too, block by block."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.kernels import FittedKernel
from mercer.kernels.algebra import centred as module
from mercer.kernels.base import State

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(9, 3)) + 1.0, RNG.normal(size=(5, 3))


def test_linear_kernel_centred_is_the_linear_kernel_of_centred_rows() -> None:
    mean = X.mean(axis=0)
    fitted = kernels.centre(kernels.Linear()).fit(X)
    np.testing.assert_allclose(fitted(X), (X - mean) @ (X - mean).T, atol=1e-9)
    np.testing.assert_allclose(fitted(Z, X), (Z - mean) @ (X - mean).T, atol=1e-9)
    np.testing.assert_allclose(fitted(X).sum(axis=0), 0.0, atol=1e-9)
    new = fitted.features(fitted.coerce(Z))
    np.testing.assert_allclose(fitted.diagonal(new), ((Z - mean) ** 2).sum(axis=1), atol=1e-9)


def test_a_new_object_equal_to_a_training_object_has_its_row() -> None:
    fitted = kernels.centre(kernels.RBF(gamma="scale")).fit(X)
    np.testing.assert_allclose(fitted(X[2:4].copy(), X), fitted(X)[2:4], atol=1e-12)
    np.testing.assert_allclose(fitted(X[2:4].copy()), fitted(X)[2:4, 2:4], atol=1e-12)


def test_blocks_do_not_change_the_means(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = kernels.centre(kernels.Spectrum(p=2)).fit(["abab", "babb", "aabb", "bbbb", "aaab"])
    monkeypatch.setattr(module, "_ROWS", 2)
    monkeypatch.setattr(module, "_COLUMNS", 3)
    parts = kernels.centre(kernels.Spectrum(p=2)).fit(["abab", "babb", "aabb", "bbbb", "aaab"])
    np.testing.assert_allclose(parts.state.values["shift"], whole.state.values["shift"], rtol=1e-12)
    np.testing.assert_allclose(parts(["abba", "ba"], ["abab"]), whole(["abba", "ba"], ["abab"]), rtol=1e-12)


def test_state_is_arrays_parts_and_objects_that_can_be_stored() -> None:
    fitted = kernels.centre(kernels.RBF(gamma="scale") * kernels.Linear()).fit(X)
    objects = fitted.state.objects
    assert objects is not None
    assert all(isinstance(value, np.ndarray) for value in fitted.state.values.values())
    stored = type(objects).from_arrays(objects.to_arrays())
    again = FittedKernel(fitted.kernel, State(fitted.state.values, fitted.state.parts, stored))
    np.testing.assert_array_equal(again(Z, X), fitted(Z, X))


def test_precomputed_matrices_can_be_centred() -> None:
    K, new = X @ X.T, Z @ X.T
    fitted = kernels.centre(kernels.Precomputed()).fit(K)
    mean = X.mean(axis=0)
    np.testing.assert_allclose(fitted(K), (X - mean) @ (X - mean).T, atol=1e-9)
    np.testing.assert_allclose(fitted(new, K), (Z - mean) @ (X - mean).T, atol=1e-9)


def test_single_precision_is_refused_where_centring_cancels() -> None:
    near, far = X, X + 1e4
    for rows, safe in ((near - near.mean(axis=0), True), (far, False)):
        fitted = kernels.centre(kernels.Linear()).fit(rows)
        features = fitted.features(fitted.kernel.coerce(rows), np.float32)
        assert fitted.kernel.single_precision(features, fitted.state) is (safe and bool((fitted.diagonal(features)
            >= 0.05 * (rows**2).sum(axis=1).max()).all()))  # fmt: skip
    fitted = kernels.centre(kernels.RBF(gamma=5.0)).fit(X)
    np.testing.assert_allclose(gram_of(fitted, X, dtype=np.float32).dense(), fitted(X), atol=1e-5)


def test_it_depends_on_data_whatever_is_inside() -> None:
    kernel = kernels.centre(kernels.Linear())
    assert kernel.data_dependent
    assert (kernel + kernels.Linear()).data_dependent
    assert kernel.psd
    assert not kernels.centre(kernels.FromBlocks(lambda A, B: A @ B.T)).psd
