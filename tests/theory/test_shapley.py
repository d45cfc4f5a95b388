"""Shapley values of product kernels, against the average over all 2^d subsets."""

import itertools
import math

import numpy as np
import pytest

from mercer.theory.shapley import of_product


def by_enumeration(factors, coefficients):
    """sum over S without j of |S|! (d - |S| - 1)! / d! (v(S + j) - v(S)), v(S) the sum of products over S."""
    d = factors.shape[1]
    found = np.zeros((d, coefficients.shape[1]))
    for j in range(d):
        others = [l for l in range(d) if l != j]  # noqa: E741
        for size in range(d):
            weight = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
            for chosen in itertools.combinations(others, size):
                without = factors[:, list(chosen)].prod(axis=1)
                found[j] += weight * ((without * (factors[:, j] - 1.0)) @ coefficients)
    return found


@pytest.mark.parametrize("d", range(1, 11))
@pytest.mark.parametrize("span", [(0.0, 1.0), (-1.0, 2.0)])
def test_against_all_subsets(d, span):
    rng = np.random.default_rng(d)
    factors, coefficients = rng.uniform(*span, size=(7, d)), rng.normal(size=(7, 2))
    factors[0, 0] = 0.0
    factors[1, d - 1] = 1.0
    np.testing.assert_allclose(of_product(factors, coefficients), by_enumeration(factors, coefficients), atol=1e-12)


@pytest.mark.parametrize("d", [2, 63, 64, 301])
def test_they_add_up_and_columns_that_never_differ_get_nothing(d):
    rng = np.random.default_rng(0)
    factors, coefficients = np.exp(-(rng.uniform(0, 0.1, size=(20, d)) ** 2)), rng.normal(size=(20, 3))
    factors[:, 1] = 1.0
    found = of_product(factors, coefficients)
    np.testing.assert_allclose(found.sum(axis=0), (factors.prod(axis=1) - 1.0) @ coefficients, atol=1e-12)
    assert (found[1] == 0.0).all()


def test_no_columns():
    assert of_product(np.ones((3, 0)), np.ones((3, 2))).shape == (0, 2)
