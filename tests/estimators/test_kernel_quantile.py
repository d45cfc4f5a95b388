"""Kernel quantile regression: coverage, agreement with the linear programme, several quantiles at once."""

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import KernelMachineRegressor, KernelQuantileRegressor, kernels
from mercer.errors import ParameterError
from mercer.losses.quantile import Quantile


@parametrize_with_checks([KernelQuantileRegressor(tol=1e-10)])  # the default leaves more than the 1e-7 of some checks
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


def spread(n=300):
    random = np.random.default_rng(0)
    X = random.uniform(0, 6, size=(n, 1))
    return X, np.sin(X[:, 0]) + (0.1 + 0.1 * X[:, 0]) * random.normal(size=n)


def test_several_at_once_are_each_by_itself():
    X, y = spread()
    levels = (0.9, 0.1, 0.5)
    together = KernelQuantileRegressor(levels, C=5.0, gamma=0.5, non_crossing=False, tol=1e-6).fit(X, y)
    predicted = together.predict(X)
    assert predicted.shape == (300, 3)
    for column, level in zip(predicted.T, levels, strict=True):
        alone = KernelQuantileRegressor(level, C=5.0, gamma=0.5, tol=1e-6).fit(X, y)
        loss = KernelMachineRegressor(Quantile(level), C=5.0, gamma=0.5, tol=1e-6).fit(X, y)
        assert alone.predict(X).shape == (300,)
        np.testing.assert_allclose(column, alone.predict(X), atol=1e-5)
        np.testing.assert_allclose(column, loss.predict(X), atol=1e-5)
        assert abs(np.mean(y <= column) - level) < 0.05
    assert together.certificate_.kernel_entries <= 300**2
    for proof in (together.certificate_, together.verify(X, y)):
        assert len(proof.parts) == 3
        assert proof.kkt_violation <= 1.01e-6
        assert -1e-9 <= proof.relative_gap < 1e-4


def test_quantiles_do_not_cross_and_lose_nothing_by_it():
    X, y = spread(60)
    levels = np.array([0.9, 0.4, 0.5, 0.6, 0.1])
    crossing = KernelQuantileRegressor(levels, C=100.0, gamma=20.0, non_crossing=False).fit(X, y)
    sorted_ = KernelQuantileRegressor(levels, C=100.0, gamma=20.0).fit(X, y)
    new = np.linspace(-1, 7, 400)[:, None]
    order = np.argsort(levels)
    assert (np.diff(crossing.predict(new)[:, order], axis=1) < 0).any()
    assert (np.diff(sorted_.predict(new)[:, order], axis=1) >= 0).all()
    truth = np.sin(new[:, 0])

    def loss(model):
        return sum(mean_pinball_loss(truth, c, alpha=t) for c, t in zip(model.predict(new).T, levels, strict=True))

    assert loss(sorted_) <= loss(crossing) + 1e-12
    assert 0 < sorted_.score(X, y) <= 1


def test_hardly_any_penalty_gives_the_linear_programme():
    X, y = spread(80)
    ours = KernelQuantileRegressor(0.7, kernel="linear", C=1e4, tol=1e-6).fit(X, y)
    theirs = QuantileRegressor(quantile=0.7, alpha=0.0).fit(X, y)
    assert mean_pinball_loss(y, ours.predict(X), alpha=0.7) == pytest.approx(
        mean_pinball_loss(y, theirs.predict(X), alpha=0.7), rel=1e-4
    )


def test_strings_and_model_files(tmp_path):
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
    y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    model = KernelQuantileRegressor([0.25, 0.75], kernel=kernels.Spectrum(2)).fit(words, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict(words), model.predict(words))
    assert again.verify(words, y).kkt_violation <= 1.01e-3


@pytest.mark.parametrize("quantiles", [0.0, 1.0, [], [0.5, 2.0], "half"])
def test_bad_quantiles(quantiles):
    with pytest.raises(ParameterError, match="'quantiles' parameter of KernelQuantileRegressor"):
        KernelQuantileRegressor(quantiles).fit([[0.0], [1.0]], [0.0, 1.0])
