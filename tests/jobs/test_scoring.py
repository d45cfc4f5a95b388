"""Honest scores and their intervals."""

import dataclasses

import numpy as np
import pytest

from mercer.jobs.fitting import fit
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.metrics import metric_for
from mercer.jobs.problem import Plan, prepare
from mercer.jobs.scoring import corrected, difference, of_answers
from mercer.jobs.search import search
from mercer.jobs.verdicts import verdict
from mercer.kernels.vectors.rbf import RBF
from mercer.selection.trials import Trial
from tests.jobs.tables import table


def test_noise_is_called_no_better_than_guessing():
    random = np.random.default_rng(0)
    data = table(random.integers(0, 2, 80), a=random.normal(size=80).tolist(), b=random.normal(size=80).tolist())
    found = fit(data, Plan(folds=4))
    assert found.estimate.level == "no better than guessing"
    # The correction bites: the best of many settings on noise looks better than it is.
    assert found.search.best.score > found.estimate.value


def test_intervals_hold_what_they_say():
    y = np.array([0, 1] * 200)
    predicted = y.copy()
    predicted[:40] = 1 - predicted[:40]
    accuracy = metric_for("accuracy", "classification", y)
    estimate = of_answers(Answers(y, predicted, np.ones(400)), accuracy, 0)
    assert estimate.value == pytest.approx(0.9)
    assert estimate.low == pytest.approx(0.9 - 1.96 * (0.09 / 400) ** 0.5, abs=0.01)
    assert estimate.high == pytest.approx(0.9 + 1.96 * (0.09 / 400) ** 0.5, abs=0.01)


def test_a_class_that_is_overlooked_is_named():
    y = np.array(["well"] * 90 + ["ill"] * 10)
    predicted = np.where(np.arange(100) < 97, "well", "ill")
    accuracy, said = metric_for("accuracy", "classification", y), Answers(y, predicted, np.ones(100))
    words = verdict(of_answers(said, accuracy, 0), accuracy, said, None)
    assert "It recognises only 30.0 % of the objects of class 'ill'." in words
    right = Answers(y, y, np.ones(100))
    assert "recognises" not in verdict(of_answers(right, accuracy, 0), accuracy, right, None)


def leaking(n=240, folds=5, seed=0):
    """Pure noise, and the folds in which it is cross-validated."""
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(n, 3)), random.integers(0, 2, size=n)
    data = table(y, a=X[:, 0].tolist(), b=X[:, 1].tolist(), c=X[:, 2].tolist())
    return data, Plan(folds=folds)


def test_the_honest_score_counts_only_what_was_not_drawn():
    """Many settings on pure noise: the best of them looks good on the objects that it was chosen on alone."""
    values = []
    for seed in range(4):
        data, plan = leaking(seed=seed)
        found = fit(data, plan)
        best = max(trial.score for trial in found.search.trials)
        values.append((best, found.estimate.value))
    best, honest = np.mean(values, axis=0)
    assert best > 0.52
    assert honest < best - 0.015
    assert abs(honest - 0.5) < 0.045


def test_resamples_score_what_they_did_not_draw():
    """Sixty settings that guess: the one that guessed best on the objects drawn guesses on the others."""
    random = np.random.default_rng(0)
    y = np.arange(120) % 2
    problem = prepare(table(y, a=random.normal(size=120).tolist()), Plan(), ["rbf"])
    guesses = random.integers(0, 2, size=(60, 120))
    trials = [Trial(RBF(), 1.0, np.array([(one == y).mean()]), one, np.zeros((120, 1)), 0.0) for one in guesses]
    found = dataclasses.replace(search(problem), trials=trials)
    assert max(trial.score for trial in trials) > 0.58
    assert corrected(found, problem).value < 0.53


def test_intervals_cover_what_they_promise():
    """Of 95 % intervals, about 95 % hold the truth: fewer than 90 % would be too narrow, all too wide."""
    random = np.random.default_rng(0)
    truth, n, held = 0.8, 100, 0
    metric = metric_for("accuracy", "classification", np.array([0, 1]))
    widths = []
    for seed in range(200):
        right = random.random(n) < truth
        y = random.integers(0, 2, size=n)
        found = of_answers(Answers(y, np.where(right, y, 1 - y), np.ones(n)), metric, seed)
        held += found.low <= truth <= found.high
        widths.append(found.high - found.low)
    assert 0.92 <= held / 200 <= 0.995
    assert np.mean(widths) == pytest.approx(2 * 1.96 * np.sqrt(truth * (1 - truth) / n), rel=0.12)


def test_intervals_of_errors_are_as_wide_as_those_of_means():
    """Of a mean of absolute errors, 95 % lie within 1.96 standard deviations of the mean."""
    random = np.random.default_rng(0)
    y = random.normal(size=400)
    predicted = y + random.normal(size=400)
    metric = metric_for("mae", "regression", y)
    found = of_answers(Answers(y, predicted, np.ones(400)), metric, 0)
    errors = np.abs(y - predicted)
    assert found.high - found.low == pytest.approx(2 * 1.96 * errors.std() / 20, rel=0.12)


def test_sixty_of_sixty_does_not_mean_always():
    """Wilson's interval for 95 %: z^2 = 3.84 objects that were not seen might have been wrong."""
    y = np.arange(60) % 2
    found = of_answers(Answers(y, y, np.ones(60)), metric_for("accuracy", "classification", y), 0)
    assert found.low == pytest.approx(60 / (60 + 1.959964**2), abs=1e-6)
    assert found.high == 1.0


def test_objects_of_unlike_weights_count_as_fewer():
    """Thirty objects that count and thirty that hardly do are thirty; of weights 3 and 1, by (sum w)^2 / sum w^2."""
    y = np.arange(60) % 2
    metric = metric_for("accuracy", "classification", y)
    for light, many in ((1e-9, 30.0), (1.0 / 3.0, 48.0), (1.0, 60.0)):
        weights = np.where(np.arange(60) < 30, 1.0, light)
        found = of_answers(Answers(y, y, weights), metric, 0)
        assert found.low == pytest.approx(many / (many + 1.959964**2), abs=1e-6)


def test_the_interval_of_a_difference_is_as_wide_as_that_of_pairs():
    random = np.random.default_rng(0)
    y = random.normal(size=400)
    near, far = y + 0.5 * random.normal(size=400), y + random.normal(size=400)
    ones, metric = np.ones(400), metric_for("mae", "regression", y)
    low, high = difference(Answers(y, near, ones), Answers(y, far, ones), metric, 0)
    gained = np.abs(y - far) - np.abs(y - near)
    assert (low + high) / 2 == pytest.approx(gained.mean(), rel=0.05)
    assert high - low == pytest.approx(2 * 1.96 * gained.std() / 20, rel=0.12)
