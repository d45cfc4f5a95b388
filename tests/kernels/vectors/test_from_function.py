"""A user's compiled function of two rows gives what the plain one gives."""

import numba
import numpy as np

from mercer import kernels


def laplacian(x: np.ndarray, z: np.ndarray) -> float:
    total = 0.0
    for i in range(x.shape[0]):
        total += abs(x[i] - z[i])
    return np.exp(-0.5 * total)


def test_compiled_and_plain_functions_agree() -> None:
    X = np.random.default_rng(0).normal(size=(15, 4))
    wanted = kernels.Laplacian(gamma=0.5).fit(X)(X)
    for function in (laplacian, numba.njit(laplacian)):
        np.testing.assert_allclose(kernels.FromFunction(function).fit(X)(X), wanted, rtol=1e-12)


def test_compiled_functions_take_single_precision_and_fortran_order() -> None:
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32))
    got = kernels.FromFunction(numba.njit(laplacian)).fit(X)(X[::-1], X)
    np.testing.assert_allclose(got, kernels.Laplacian(gamma=0.5).fit(X)(X[::-1], X), rtol=1e-9)
