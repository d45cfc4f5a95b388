"""Probabilities from decision values."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from mercer.jobs.calibration import held_out, learn, probabilities


@pytest.mark.parametrize(("n", "size"), [(30, 1.0), (200, 3.0), (2000, 1e-3), (500, 1e4)])
def test_two_classes_are_calibrated_as_by_scikit_learn(n, size):
    random = np.random.default_rng(n)
    codes = (random.random(n) < 0.3).astype(int)
    decisions = size * (random.normal(size=n) + 1.5 * codes)[:, None]
    weights = random.uniform(0.1, 3.0, n)
    found = learn(decisions, codes, 2, weights)
    if size in (1.0, 3.0):  # where its solver comes near the optimum
        model = LogisticRegression(C=100.0, max_iter=10_000, tol=1e-10).fit(decisions, codes, weights)
        assert found[0] == pytest.approx([model.coef_[0, 0], model.intercept_[0]], rel=1e-5)
    chances = probabilities(found, decisions)[:, 1]
    # At the optimum the derivatives vanish: weighted residuals, and those times the decision values with the penalty.
    residuals = weights * (chances - codes)
    assert abs(residuals.sum()) < 1e-6 * weights.sum()
    assert abs(100.0 * residuals @ decisions[:, 0] + found[0, 0]) < 1e-5 * 100.0 * weights @ np.abs(decisions[:, 0])
    assert probabilities(found, decisions).sum(axis=1) == pytest.approx(1.0)


def test_separable_values_stay_finite():
    codes = np.arange(40) % 2
    found = learn(np.where(codes, 1.0, -1.0)[:, None], codes, 2)
    assert np.isfinite(found).all()
    assert (probabilities(found, np.array([[5.0], [-5.0]]))[:, 1] > 0.5).tolist() == [True, False]
    assert learn(np.zeros((4, 1)), np.zeros(4, dtype=int), 2).size == 0
    assert np.isfinite(learn(np.zeros((4, 1)), np.array([0, 1, 1, 1]), 2)).all()


def test_probabilities_of_a_fold_do_not_know_it():
    random = np.random.default_rng(0)
    codes = np.arange(60) % 2
    decisions = random.normal(size=(60, 1)) + codes[:, None]
    splits = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    before = held_out(decisions, codes, splits, 2)
    changed = codes.copy()
    changed[:30] = 1 - changed[:30]
    after = held_out(decisions, changed, splits, 2)
    assert (before[:30] == after[:30]).all()
    assert not np.allclose(before[30:], after[30:])


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_held_out_objects_are_repetitions(classes):
    random = np.random.default_rng(1)
    codes, weights = np.arange(60) % classes, random.integers(1, 5, size=60)
    decisions = random.normal(size=(60, 1 if classes == 2 else classes)) + codes[:, None]
    halves = np.arange(60) < 30
    copies = np.repeat(np.arange(60), weights)

    def splits(rows):
        first = halves[rows]
        return [(np.flatnonzero(~first), np.flatnonzero(first)), (np.flatnonzero(first), np.flatnonzero(~first))]

    found = held_out(decisions, codes, splits(np.arange(60)), classes, weights.astype(float))
    repeated = held_out(decisions[copies], codes[copies], splits(copies), classes)
    np.testing.assert_allclose(found[copies], repeated, atol=1e-4)
    assert not np.allclose(found, held_out(decisions, codes, splits(np.arange(60)), classes), atol=1e-3)
