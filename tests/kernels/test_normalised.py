"""Cosine normalisation."""

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.gram.make import gram_of
from mercer.kernels import RBF, Linear, Normalised, Polynomial, normalise

X = np.random.default_rng(0).normal(size=(10, 3))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(degree=3), RBF(gamma=0.2), Linear() + RBF(gamma=1.0)], ids=str)
def test_against_the_definition(kernel):
    plain = kernel.fit(X)(X)
    roots = np.sqrt(np.diagonal(plain))
    got = normalise(kernel).fit(X)(X)
    np.testing.assert_allclose(got, plain / np.outer(roots, roots), atol=1e-12)
    assert np.array_equal(np.diagonal(got), np.ones(10))


def test_zero_over_zero_is_zero():
    rows = np.vstack([X[:2], np.zeros(3)])
    got = normalise(Linear()).fit(rows)(rows)
    assert got[2].tolist() == [0, 0, 0]
    assert got[:, 2].tolist() == [0, 0, 0]
    assert np.isfinite(got).all()


def test_twice_is_once():
    np.testing.assert_allclose(normalise(normalise(Linear())).fit(X)(X), normalise(Linear()).fit(X)(X), atol=1e-12)


def test_normalise_then_add_differs_from_add_then_normalise():
    a, b = Linear(), Polynomial(degree=2)
    then_add = (normalise(a) + normalise(b)).fit(X)(X)
    then_normalise = normalise(a + b).fit(X)(X)
    assert then_add[0, 0] == 2.0
    assert then_normalise[0, 0] == 1.0


def test_single_precision_of_large_values():
    rows = X * 1e6
    got = gram_of(normalise(Linear()).fit(rows), rows, dtype=np.float32).dense()
    np.testing.assert_allclose(got, normalise(Linear()).fit(X)(X), atol=1e-5)


def test_new_objects_of_length_zero():
    assert normalise(Linear()).fit(X)([[0.0, 0.0, 0.0]], X).tolist() == [[0.0] * 10]


def test_parameters():
    with pytest.raises(ParameterError, match="'kernel' parameter of Normalised must be a kernel"):
        Normalised("linear")
