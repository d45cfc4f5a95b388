"""What is said of new objects: thresholds, the most probable classes, intervals."""

import dataclasses

import numpy as np
import pytest

import mercer
from mercer.errors import ParameterError
from mercer.jobs.answers import Columns, answers

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 2))


@pytest.fixture(scope="module")
def classifier():
    return mercer.fit(X, y=np.where(X[:, 0] + 0.5 * RANDOM.normal(size=120) > 0, "p", "n"), kernel="rbf", folds=3).model


@pytest.fixture(scope="module")
def regressor():
    return mercer.fit(X, y=X[:, 0] + 0.3 * RANDOM.normal(size=120), kernel="rbf", folds=3).model


def said(model, **columns):
    chosen = Columns(**columns)
    chosen.check(model)
    return answers(model, model.objects(X), [str(n) for n in range(120)], chosen)


def test_a_threshold_moves_the_boundary(classifier):
    chances = classifier.predict_proba(X)[:, 1]
    for text, cut in (("p=0.2", 0.2), ("0.8", 0.8)):
        found = [one["prediction"] for one in said(classifier, threshold=text)]
        assert found == np.where(chances >= cut, "p", "n").tolist()
    found = [one["prediction"] for one in said(classifier, threshold="n=0.3")]
    assert found == np.where(1 - chances >= 0.3, "n", "p").tolist()


def test_the_most_probable_classes_come_first(classifier):
    for one in said(classifier, top=2):
        first, second = one["top"]
        assert first["probability"] >= second["probability"]
        assert "probabilities" not in one


def test_intervals_hold_what_they_say(regressor):
    new = RANDOM.normal(size=(2000, 2))
    y = new[:, 0] + 0.3 * RANDOM.normal(size=2000)
    chosen = Columns(interval=90)
    found = answers(regressor, regressor.objects(new), [""] * 2000, chosen)
    inside = np.mean([one["low"] <= value <= one["high"] for one, value in zip(found, y, strict=True)])
    assert 0.84 < inside < 0.97


@pytest.mark.parametrize("threshold", ["2", "x", "q=0.5", "p=", ""])
def test_bad_thresholds(classifier, threshold):
    with pytest.raises(ParameterError, match="--threshold"):
        said(classifier, threshold=threshold)


def test_decisions_are_told_where_there_are_any(classifier, regressor):
    values = classifier.predictions_from(classifier.objects(X), classifier.similarities(classifier.objects(X)))[1]
    assert [one["decisions"] for one in said(classifier, decisions=True)] == values.tolist()
    assert not any("decisions" in one for one in said(classifier))
    assert len(said(regressor, decisions=True)) == 120


def test_a_classifier_without_probabilities_names_no_classes(classifier):
    silent = dataclasses.replace(classifier, calibration=np.zeros((0, 0)))
    for chosen in ({"top": 2}, {"threshold": "p=0.2"}):
        with pytest.raises(ParameterError, match="--top and --threshold need"):
            said(silent, **chosen)


def test_what_a_model_cannot_say(classifier, regressor):
    with pytest.raises(ParameterError, match="--top"):
        said(regressor, top=2)
    with pytest.raises(ParameterError, match="50, 80, 90"):
        said(regressor, interval=42)
    with pytest.raises(ParameterError, match="model of numbers"):
        said(classifier, interval=90)
