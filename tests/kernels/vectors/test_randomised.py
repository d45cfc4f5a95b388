"""Kernels that average over one shared sample of functions."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels
from mercer.errors import KernelError
from mercer.kernels.vectors.randomised import sample_size

X = np.random.default_rng(0).normal(size=(12, 3))


def test_thresholds_give_the_smaller_of_two_numbers() -> None:
    kernel = kernels.Randomised(lambda generator, n, size: (np.arange(size) + 0.5) / size, np.greater_equal, size=10)
    fitted = kernel.fit([[0.3]])
    assert fitted([[0.3]], [[0.72]])[0, 0] == pytest.approx(0.3, abs=1e-9)
    assert fitted.diagonal(fitted.features(fitted.coerce([[0.72]])))[0] == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize(("bound", "wanted"), [(1.0, 2766), (math.sqrt(2), 11061)])
def test_the_sample_that_hoeffding_asks_for(bound: float, wanted: int) -> None:
    assert sample_size(accuracy=0.1, failure=0.01, objects=100, bound=bound) == wanted


def test_waves_come_within_the_bound_of_the_gaussian() -> None:
    size = sample_size(accuracy=0.1, failure=0.01, objects=len(X), bound=math.sqrt(2))
    waves = kernels.RandomFourierFeatures(gamma=0.4, size=size, random_state=3).fit(X)(X)
    np.testing.assert_allclose(waves, kernels.RBF(gamma=0.4).fit(X)(X), atol=0.1)


def test_the_mean_over_samples_is_the_gaussian() -> None:
    total = np.zeros((12, 12))
    for seed in range(200):
        total += kernels.RandomFourierFeatures(gamma=0.4, size=100, random_state=seed).fit(X)(X)
    np.testing.assert_allclose(total / 200, kernels.RBF(gamma=0.4).fit(X)(X), atol=0.03)


def test_the_sample_is_shared_and_depends_on_the_seed_alone() -> None:
    kernel = kernels.RandomFourierFeatures(gamma=0.4, size=50, random_state=1)
    first, second = kernel.fit(X[:5]), kernel.fit(X[5:])
    np.testing.assert_array_equal(first(X, X), second(X, X))
    np.testing.assert_allclose(first(X[2:4], X)[:, 2:4], first(X[2:4], X[2:4]), rtol=1e-12)
    other = kernels.RandomFourierFeatures(gamma=0.4, size=50, random_state=2).fit(X)
    assert not np.allclose(first(X, X), other(X, X))
    assert not kernel.data_dependent


@pytest.mark.parametrize("size", [1, 7, 100])
def test_positive_semi_definite_whatever_the_sample(size: int) -> None:
    K = kernels.RandomFourierFeatures(gamma=0.4, size=size).fit(X)(X)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-12 * values[-1]
    assert np.linalg.matrix_rank(K) <= size


def test_sparse_rows_give_the_same() -> None:
    kernel = kernels.RandomFourierFeatures(gamma=0.4, size=50)
    np.testing.assert_allclose(kernel.fit(sp.csr_array(X))(sp.csr_array(X)), kernel.fit(X)(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("apply", "message"),
    [
        (lambda rows, drawn: rows, r"must return one value per row and function, an array of shape \(12, 5\)"),
        (lambda rows, drawn: np.full((len(rows), 5), np.nan), "Function 0 of Randomised gave nan for row 0"),
    ],
)
def test_bad_functions_are_answered_in_words(apply: object, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        kernels.Randomised(lambda generator, n, size: np.zeros(size), apply, size=5).fit(X)(X)
