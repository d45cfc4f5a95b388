"""Where a fit begins never changes where it ends, whatever was trained before with the same labels."""

import numpy as np
import pytest

from mercer import SVC, SVR, kernels
from mercer.gram.make import gram_of
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.solvers.problem import LossProblem
from mercer.training.kernel_estimator import share_fits
from mercer.training.train import train
from mercer.training.warm_start import WarmStart

RNG = np.random.default_rng(0)
SIGNS = np.where(RNG.random(300) < 0.4, -1.0, 1.0)
NUMBERS = RNG.normal(size=300)


def matrix(seed, size=1.0):
    X = np.random.default_rng(seed).normal(size=(300, 3)) * size
    return gram_of(kernels.RBF(gamma=0.5).fit(X), X)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("loss", "y"), [(Hinge(), SIGNS), (EpsilonInsensitive(0.2), NUMBERS)], ids=["hinge", "tube"])
@pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])
def test_other_objects_with_the_same_targets(loss, y, intercept, factor):
    shared = WarmStart()
    first = LossProblem(loss, y, np.ones(300), intercept=intercept)
    train(matrix(0), first, tol=1e-6, warm_start=shared)
    assert shared._ended
    problem = LossProblem(loss, y, factor * np.ones(300), intercept=intercept)
    for gram in (matrix(1), matrix(2, 100.0), matrix(3, 1e-3)):
        warm, cold = train(gram, problem, tol=1e-6, warm_start=shared), train(gram, problem, tol=1e-6)
        assert warm.converged
        assert warm.certificate.kkt_violation <= 1.01e-6
        assert warm.certificate.primal == pytest.approx(
            cold.certificate.primal, abs=factor * 300 * 2e-6
        )  # what tol allows
        if intercept:
            assert abs(warm.coefficients.sum()) < 1e-9 * max(1.0, factor) * 300


@pytest.mark.parametrize("model", [SVC(tol=1e-6), SVR(tol=1e-6)], ids=["SVC", "SVR"])
def test_an_estimator_that_is_fitted_again_to_other_objects(model):
    shared = WarmStart()
    share_fits(model, shared)
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(300, 3))
        found = model.fit(X, SIGNS).predict(X)
        alone = type(model)(tol=1e-6).fit(X, SIGNS)
        np.testing.assert_allclose(found, alone.predict(X), atol=1e-4)
        assert model.certificate_.kkt_violation <= 1.01e-6
