"""Leading eigenvectors against a full decomposition."""

import numpy as np
import pytest

from mercer.solvers.drive import Limits
from mercer.solvers.eigen import leading


def matrix(values, seed=0):
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return (q * values) @ q.T


@pytest.mark.parametrize(
    "values",
    [
        np.geomspace(1, 1e-8, 300),
        np.linspace(1, 0.5, 300),  # hardly any gap
        np.r_[np.ones(5), np.zeros(295)],  # equal ones, and many zeros
        np.r_[3.0, 2.0, -10.0, np.linspace(0.1, -0.1, 297)],  # the largest in magnitude is not wanted
        np.zeros(300),
    ],
    ids=["decay", "flat", "rank 5", "indefinite", "zero"],
)
def test_against_all_eigenvalues(values):
    A = matrix(values)
    found = leading(lambda block: A @ block, 300, 6, tol=1e-8)
    assert found.converged
    assert np.allclose(found.values, np.sort(values)[::-1][:6], atol=1e-9)
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(6), atol=1e-9)
    assert np.linalg.norm(A @ found.vectors - found.vectors * found.values) < 1e-6


def test_more_wanted_than_there_are():
    A = matrix(np.arange(1.0, 6.0))
    assert np.allclose(leading(lambda block: A @ block, 5, 5).values, [5, 4, 3, 2, 1])


def test_single_precision_products_and_the_limit():
    values = np.geomspace(1, 1e-3, 400)
    A = matrix(values).astype(np.float32)
    found = leading(lambda block: (A @ block.astype(np.float32)).astype(np.float64), 400, 5)
    assert found.converged
    assert np.allclose(found.values, values[:5], atol=1e-6)
    assert not leading(lambda block: A @ block, 400, 5, tol=1e-12, limits=Limits(max_iter=2)).converged


def test_the_start_does_not_matter():
    A = matrix(np.geomspace(1, 1e-4, 200))
    one, two = (leading(lambda block: A @ block, 200, 3, random_state=seed, tol=1e-9) for seed in (0, 1))
    assert np.allclose(one.values, two.values)
    assert np.allclose(np.abs(np.sum(one.vectors * two.vectors, axis=0)), 1.0)
