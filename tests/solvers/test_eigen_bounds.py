"""The bound on the sum of leading eigenvalues, against all eigenvalues."""

import math

import numpy as np
import pytest

from mercer.solvers.eigen_bounds import bound_on_leading


def spectrum(values, seed=0):
    """A matrix with these eigenvalues, and its eigenvectors in falling order."""
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    order = np.argsort(values)[::-1]
    return (q * values) @ q.T, q[:, order]


SPECTRA = {
    "falling": 1.0 / np.arange(1, 41) ** 2,
    "flat": np.ones(40),
    "a few": np.r_[5.0, 4.0, 3.0, np.zeros(37)],
    "indefinite": np.linspace(-3.0, 3.0, 40),
    "heavy tail": 1.0 / np.sqrt(np.arange(1, 41)),
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("count", [0, 1, 3, 10, 40])
@pytest.mark.parametrize("width", [0, 2, 5, 25, 40])
def test_never_below_the_sum_whatever_the_vectors(name, count, width):
    values = SPECTRA[name]
    A, _ = spectrum(values)
    rng = np.random.default_rng(count + width)
    psd = bool(values.min() >= 0)
    V = np.linalg.qr(rng.normal(size=(40, width)))[0] if width else np.zeros((40, 0))
    exact = float(np.sort(values)[::-1][:count].sum())
    for squares in (float((A**2).sum()), math.inf):
        if math.isinf(squares) and not psd and width < 40 and count:
            continue  # nothing is known of the rest
        most, _ = bound_on_leading(count, V, A @ V, trace=float(np.trace(A)), squares=squares, psd=psd)
        assert most >= exact - 1e-12


@pytest.mark.parametrize("count", [1, 3])
def test_tight_where_the_rest_is_small(count):
    values = SPECTRA["falling"]
    A, vectors = spectrum(values)
    V = vectors[:, :12]
    most, inside = bound_on_leading(count, V, A @ V, trace=values.sum(), squares=float((A**2).sum()), psd=True)
    assert most == pytest.approx(values[:count].sum(), rel=1e-11)
    assert np.allclose(inside, values[:12])


def test_vectors_that_are_not_the_leading_ones_are_found_out():
    A, vectors = spectrum(SPECTRA["a few"])
    V = vectors[:, 1:3]  # exact eigenvectors, with no residual, but not the largest
    most, _ = bound_on_leading(2, V, A @ V, trace=12.0, squares=50.0, psd=True)
    assert most >= 9.0 - 1e-9 > float((V * (A @ V)).sum()) + 1.0
