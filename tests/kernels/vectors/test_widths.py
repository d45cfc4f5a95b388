"""Rules that read gamma off the data, and measures that several kernels share."""

import numpy as np
import pytest

from mercer import kernels
from mercer.kernels.base import Measure
from mercer.kernels.vectors.distances import Chi2Distance, Euclidean, L1Distance
from tests.oracles import vectors as oracle

X = np.random.default_rng(0).uniform(0, 2, size=(30, 4))


@pytest.mark.parametrize(
    ("kind", "distance"),
    [
        (kernels.Laplacian, oracle.l1),
        (kernels.Exponential, oracle.euclidean),
        (kernels.ExponentialChi2, oracle.chi2),
    ],
)
def test_rules(kind: type[kernels.Laplacian], distance: oracle.Pair) -> None:
    pairs = oracle.gram(distance, X.tolist(), X.tolist())[np.triu_indices(30, 1)]
    wanted = {"auto": 1 / 4, "median": 1 / np.median(pairs), "scale": 2 / pairs.mean()}
    for rule, gamma in wanted.items():
        kernel = kind(gamma=rule)
        assert kernel.fit(X).state.number("gamma") == pytest.approx(gamma, rel=1e-9)
        assert kernel.data_dependent == (rule != "auto")
    assert not kind(gamma=0.5).data_dependent


@pytest.mark.parametrize(
    ("measure", "make"),
    [
        (L1Distance(), lambda gamma: kernels.Laplacian(gamma)),
        (Chi2Distance(), lambda gamma: kernels.ExponentialChi2(gamma)),
        (Euclidean(), lambda gamma: kernels.Matern(1.5, gamma)),
    ],
)
def test_sums_compute_their_measure_once(measure: Measure, make: type, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make(0.3), make(2.0)
    assert first.measure == second.measure == measure
    wanted = first.fit(X)(X) + second.fit(X)(X)
    calls = []
    original = type(measure).tile
    monkeypatch.setattr(type(measure), "tile", lambda self, *args: (calls.append(1), original(self, *args))[1])
    np.testing.assert_allclose((first + second).fit(X)(X), wanted, rtol=1e-12)
    assert len(calls) == 1


def test_matern_of_one_half_is_the_exponential_and_shares_its_measure() -> None:
    assert kernels.Matern(0.5).measure == kernels.Exponential().measure
    np.testing.assert_allclose(
        kernels.Matern(0.5, length_scale=2.0).fit(X)(X), kernels.Exponential(gamma=0.5).fit(X)(X), rtol=1e-12
    )


def test_rational_quadratic_tends_to_the_gaussian() -> None:
    limit = kernels.RationalQuadratic(alpha=1e10, length_scale=0.7).fit(X)(X)
    np.testing.assert_allclose(limit, kernels.RBF(gamma=1 / (2 * 0.49)).fit(X)(X), atol=1e-8)
