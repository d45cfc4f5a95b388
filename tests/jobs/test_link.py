"""Targets with a long tail are learnt as logarithms where that predicts better."""

import json

import numpy as np
import pytest

import mercer
from mercer.cli import app
from mercer.cli.predicting import table
from mercer.jobs.answers import Columns, answers
from mercer.jobs.link import LOG, Link, may_be_logarithmic
from mercer.report.shares import shares


def prices(n=150):
    random = np.random.default_rng(0)
    size, age = random.normal(size=n), random.normal(size=n)
    return {"size": size, "age": age, "price": np.exp(10 + 1.3 * size - 0.5 * age + 0.1 * random.normal(size=n))}


@pytest.fixture(scope="module")
def outcome():
    return mercer.fit(prices(), target="price")


def test_logarithms_and_back():
    y = np.array([0.5, 1.0, 20.0])
    np.testing.assert_allclose(Link(LOG).inverse(Link(LOG)(y)), y)
    assert np.isfinite(Link(LOG).inverse(np.array([1e6]))).all()
    assert Link()(y) is y


def test_predictions_stay_near_what_was_learnt():
    link = Link.logarithmic(np.array([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(link.inverse(np.log([0.2, 3.0, 900.0])), [0.2, 3.0, 900.0])
    np.testing.assert_allclose(link.inverse(np.array([-80.0, 80.0])), [0.1, 1000.0], rtol=2e-3)


@pytest.mark.parametrize(
    "limits", [None, [], [1.0], [2.0, 1.0], ["1", 2.0], [1, 2.0], [-1e9, 2.0], [float("nan"), 1.0], 3.0]
)
def test_limits_of_older_and_damaged_files(limits):
    assert Link.restored(LOG, limits) == Link(LOG)
    assert Link.restored(None, limits) == Link()


def test_an_outlier_gets_no_astronomical_price(outcome, tmp_path):
    """A typing error in one column: 30 in place of 3.0, then in a model from a file."""
    wrong = {"size": np.array([30.0, 300.0]), "age": np.zeros(2)}
    most = prices()["price"].max()
    mercer.save(outcome.model, tmp_path / "m.mercer")
    for model in (outcome, mercer.load(tmp_path / "m.mercer")):
        assert (model.predict(wrong) > most / 50).all()
        assert (model.predict(wrong) < 100 * most).all()


def test_what_may_be_logarithmic():
    random = np.random.default_rng(0)
    assert may_be_logarithmic(np.exp(random.normal(size=200)))
    assert not may_be_logarithmic(random.normal(size=200))
    assert not may_be_logarithmic(np.append(np.exp(random.normal(size=200)), 0.0))
    assert not may_be_logarithmic(np.ones(5))


def test_prices_are_learnt_as_logarithms_and_told_as_prices(outcome):
    assert outcome.problem.link.name == LOG
    assert any("Logarithms of the target" in note for note in outcome.notes)
    table = prices()
    np.testing.assert_allclose(
        outcome.predict(table), np.exp(outcome.model.estimator.predict(outcome.problem.objects)), rtol=1e-12
    )
    assert outcome.estimate.value > 0.9
    best = outcome.search.best
    truth = outcome.problem.y
    score = 1 - np.square(truth - best.predicted).sum() / np.square(truth - truth.mean()).sum()
    assert score == pytest.approx(best.score, abs=0.05)  # all folds at once, and their mean


def test_a_stored_model_tells_prices_too(outcome, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mercer.save(outcome.model, "m.mercer")
    np.testing.assert_allclose(mercer.load("m.mercer").predict(prices()), outcome.predict(prices()))
    (tmp_path / "new.csv").write_text("size,age\n0.5,0.1\n-1,0\n")
    assert app.run(["predict", "m.mercer", "new.csv", "--interval", "90", "--json"]) == 0
    for told in json.loads(capsys.readouterr().out)["predictions"]:
        assert 0 < told["low"] < told["prediction"] < told["high"]
        assert told["prediction"] / told["low"] == pytest.approx(told["high"] / told["prediction"])
    assert "a factor of" in outcome.card()


def test_symmetric_targets_stay_as_they_are():
    random = np.random.default_rng(0)
    x = random.normal(size=80)
    outcome = mercer.fit({"x": x, "z": random.normal(size=80), "y": 50 + x}, target="y")
    assert outcome.problem.link.name == ""


def test_reasons_say_that_they_add_to_logarithms(outcome):
    model = outcome.model
    data = outcome.problem.data.take(np.arange(2))
    told = answers(model, model.objects(data), ["a", "b"], Columns(reasons=1))
    assert [one["contributions"] for one in told] == ["to the logarithm"] * 2
    header = next(table([told])).splitlines()[0]
    assert "reasons (to the logarithm)" in header
    assert "predicted logarithms of price" in shares(outcome)
