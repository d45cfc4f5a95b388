"""The smallest eigenvalue of a Gram matrix: exact, or a bound that is a proof where it is negative."""

import numpy as np
import pytest

from mercer import kernels
from mercer.gram import spectrum
from mercer.gram.make import gram_of
from mercer.gram.spectrum import negligible, smallest_eigenvalue


def given(matrix):
    return gram_of(kernels.Precomputed().fit(matrix), matrix, dtype=np.float64).stored()


def with_eigenvalues(values, seed=0):
    n = len(values)
    vectors = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    matrix = (vectors * values) @ vectors.T
    return (matrix + matrix.T) / 2


POSITIVE = np.linspace(0.5, 20.0, 120)


@pytest.fixture(params=["exact", "factored", "bounded"])
def way(request, monkeypatch):
    monkeypatch.setattr(spectrum, "directly", lambda n: request.param == "exact")
    monkeypatch.setattr(spectrum, "FACTORED", 10**6 if request.param == "factored" else 1)
    return request.param


def test_positive_matrices_pass(way):
    for values in (POSITIVE, np.concatenate((np.zeros(60), POSITIVE))):  # singular ones too
        gram = given(with_eigenvalues(values))
        assert smallest_eigenvalue(gram) >= -negligible(gram)


def test_a_negative_eigenvalue_is_found_and_never_overstated(way):
    for lowest in (-5.0, -0.3):
        gram = given(with_eigenvalues(np.concatenate(([lowest], POSITIVE))))
        found = smallest_eigenvalue(gram)
        assert lowest - 1e-9 <= found <= 0.9 * lowest


def test_what_cannot_be_seen_from_afar_is_settled_exactly(monkeypatch):
    monkeypatch.setattr(spectrum, "directly", lambda n: False)
    monkeypatch.setattr(spectrum, "STEPS", 3)
    gram = given(with_eigenvalues(np.concatenate(([-1e-3], POSITIVE))))
    assert smallest_eigenvalue(gram) == pytest.approx(-1e-3, rel=1e-6)


def test_few_directions_end_the_search():
    matrix = np.ones((700, 700))
    assert smallest_eigenvalue(given(matrix)) == 0.0
    assert spectrum._lowest_ritz_value(given(matrix)) == pytest.approx(0.0, abs=1e-9)
