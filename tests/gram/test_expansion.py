"""Fitted machines: support objects, coefficients and intercepts."""

import numpy as np

from mercer import SVC, kernels
from mercer.gram import make
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


def test_predictions_in_the_precision_that_was_asked_for(monkeypatch):
    """Blocks beyond a limit are float32, unless float64 was asked for."""
    monkeypatch.setattr(make, "DOUBLE_ENTRIES", 100)
    y = (X[:, 0] > 0).astype(int)
    exact, rounded = SVC(gamma=0.5, dtype="float64").fit(X, y), SVC(gamma=0.5).fit(X, y)
    for model, least, most in ((exact, 0.0, 1e-13), (rounded, 1e-10, 1e-4)):
        distances = ((NEW[:, None] - model.support_vectors_[None]) ** 2).sum(axis=2)
        wanted = np.exp(-0.5 * distances) @ model.dual_coef_[0] + model.intercept_
        assert least <= np.abs(model.decision_function(NEW) - wanted).max() <= most
