"""What the theory of kernels proves, as numbers."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from mercer import kernels
from mercer.kernels import Kernel

X = np.random.default_rng(0).normal(size=(7, 3))
x, z = [[1.0, 2.0]], [[3.0, -1.0]]
K1, K2 = kernels.Linear(), kernels.Polynomial(degree=2)


def squared_length(rows: Any) -> Any:
    return (rows**2).sum(axis=1)


def monomials(v: Any) -> Any:
    return np.column_stack([v[:, 0] ** 2, v[:, 0] * v[:, 1]])


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        (K1 + K2, 5.0),
        (K1 * K2, 4.0),
        (3 * K1, 3.0),
        (kernels.exp(K1), 2.7182818285),
        (kernels.PolynomialOf(K1, (1.0, 0.0, 2.0, 0.5)), 3.5),
        (kernels.rank_one(squared_length), 50.0),
        (kernels.pull_back(K2, monomials), 16.0),
        (kernels.normalise(K2), 0.0606060606),
    ],
)
def test_worked_examples(kernel: Kernel, value: float) -> None:
    fitted = kernel.fit(x)
    assert fitted(x, z)[0, 0] == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(np.diagonal(fitted(x, x)), fitted.diagonal(fitted.features(fitted.coerce(x))))


def test_worked_example_of_centring() -> None:
    rows = [[0.0], [1.0], [3.0]]
    K = kernels.centre(kernels.RBF(gamma=0.5)).fit(rows)(rows)
    assert K[0, 0] == pytest.approx(0.4222346602, abs=1e-9)
    assert K[0, 1] == pytest.approx(-0.0126434424, abs=1e-9)
    assert K[2, 2] == pytest.approx(0.7363649111, abs=1e-9)


def test_normalising_and_adding_do_not_commute() -> None:
    both = kernels.normalise(K1 + K2).fit(x)(x, z)
    each = (kernels.normalise(K1) + kernels.normalise(K2)).fit(x)(x, z)
    assert abs(both - each) > 1e-3


def test_entrywise_root_of_a_kernel_is_no_kernel() -> None:
    K = np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]])
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    assert np.linalg.eigvalsh(np.sqrt(K))[0] == pytest.approx(-0.2222, abs=1e-4)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("c", [0.0, 0.5, 2.0])
def test_a_constant_is_one_more_feature(degree: int, c: float) -> None:
    """(x'z + c)^d on x is (x'z)^d on [x, sqrt(c)]."""
    longer = np.column_stack([X, np.full(len(X), np.sqrt(c))])
    plain = kernels.Polynomial(degree=degree, coef0=c).fit(X)(X)
    np.testing.assert_allclose(plain, kernels.Polynomial(degree=degree, coef0=0.0).fit(longer)(longer), rtol=1e-9)
    np.testing.assert_allclose(plain, (K1**degree).fit(longer)(longer), rtol=1e-9)
    if c:
        np.testing.assert_allclose(plain, ((K1 + c) ** degree).fit(X)(X), rtol=1e-9)


def monomial_map(rows: Any, degree: int, c: float) -> Any:
    """All monomials of [x, sqrt(c)] of one degree, each weighted by the root of how often it occurs."""
    longer = np.column_stack([rows, np.full(len(rows), np.sqrt(c))])
    columns = []
    for chosen in itertools.combinations_with_replacement(range(longer.shape[1]), degree):
        orders = math.factorial(degree) / math.prod(math.factorial(count) for count in Counter(chosen).values())
        columns.append(np.sqrt(orders) * np.prod(longer[:, list(chosen)], axis=1))
    return np.column_stack(columns)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("c", [0.0, 1.5])
def test_a_power_is_its_monomial_features(degree: int, c: float) -> None:
    features = kernels.pull_back(K1, lambda rows: monomial_map(rows, degree, c))
    power = kernels.Polynomial(degree=degree, coef0=c)
    np.testing.assert_allclose(power.fit(X)(X), features.fit(X)(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gamma", [0.1, 0.7])
def test_the_gaussian_is_a_rank_one_times_an_exponential(gamma: float) -> None:
    """exp(-g |x - z|^2) = e^(-g |x|^2) e^(-g |z|^2) exp(2 g x'z)."""
    length = kernels.rank_one(lambda rows: np.exp(-gamma * squared_length(rows)))
    gaussian = kernels.RBF(gamma=gamma).fit(X)(X)
    np.testing.assert_allclose((length * kernels.exp(2 * gamma * K1)).fit(X)(X), gaussian, atol=1e-9)
    errors = []
    for degree in (2, 5, 10, 20, 40):
        series = [(2 * gamma) ** n / math.factorial(n) for n in range(degree + 1)]
        truncated = length * kernels.PolynomialOf(K1, series)
        errors.append(np.abs(truncated.fit(X)(X) - gaussian).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-9


def test_a_gaussian_over_the_linear_kernel_is_the_gaussian() -> None:
    over = kernels.RBF(gamma=0.3, over=K1).fit(X)(X)
    np.testing.assert_allclose(over, kernels.RBF(gamma=0.3).fit(X)(X), atol=1e-9)


def test_a_gaussian_is_one_over_a_centred_kernel_too() -> None:
    """Centring moves the origin, which no distance notices."""
    over = kernels.RBF(gamma=0.3, over=kernels.centre(K2)).fit(X)
    Z = np.random.default_rng(1).normal(size=(4, 3))
    np.testing.assert_allclose(over(Z, X), kernels.RBF(gamma=0.3, over=K2).fit(X)(Z, X), atol=1e-9)


def test_powers_multiply() -> None:
    np.testing.assert_allclose(((K2**2) ** 3).fit(X)(X), (K2**6).fit(X)(X), rtol=1e-9)
    np.testing.assert_allclose((K2**3).fit(X)(X), (K2 * K2 * K2).fit(X)(X), rtol=1e-9)
    np.testing.assert_allclose(((K1 + K2) * K1).fit(X)(X), (K1 * K1 + K2 * K1).fit(X)(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        kernels.exp(K1 + 0.5 * K2).fit(X[:, :1])(X[:, :1]),
        (kernels.exp(K1) * kernels.exp(0.5 * K2)).fit(X[:, :1])(X[:, :1]),
        rtol=1e-9,
    )
