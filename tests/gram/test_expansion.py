"""Fitted machines: support objects, coefficients and intercepts."""

import numpy as np

from mercer import kernels
from mercer.gram.expansion import Expansion

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.normal(size=(37, 3)), RANDOM.normal(size=(11, 3))
FITTED = kernels.RBF(gamma=0.5).fit(X)
K_NEW = FITTED(NEW, X)


def test_expansion():
    coefficients = RANDOM.normal(size=(37, 2))
    machine = Expansion(FITTED, FITTED.kernel.coerce(X), coefficients, np.array([1.0, -1.0]))
    np.testing.assert_allclose(machine(NEW), K_NEW @ coefficients + [1.0, -1.0], atol=1e-10)
    nobody = Expansion(FITTED, FITTED.kernel.coerce(X).take(slice(0, 0)), np.zeros((0, 1)), np.array([2.0]))
    assert nobody(NEW).tolist() == [[2.0]] * 11
