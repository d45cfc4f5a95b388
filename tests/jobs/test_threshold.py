"""Thresholds: by a probability, by what errors cost; in the score, the model and its file."""

import numpy as np
import pytest

import mercer
from mercer.errors import ParameterError
from mercer.jobs.answers import Columns, answers
from mercer.jobs.threshold import Threshold

LABELS = ["no", "yes"]


def test_probabilities_and_costs():
    assert Threshold.parse("yes=0.3", LABELS) == Threshold(1, 0.3)
    assert Threshold.parse("no=0.3", LABELS) == Threshold(0, 0.3)
    assert Threshold.parse("0.3", LABELS) == Threshold(1, 0.3)
    assert Threshold.parse("yes=4:1", LABELS) == Threshold(1, 0.2)
    for text in ("yes=2", "yes=a", "yes=1:0", "yes=1:2:3", "yes=-1:2", "yes="):
        with pytest.raises(ParameterError, match="--threshold takes"):
            Threshold.parse(text, LABELS)
    with pytest.raises(ParameterError, match=r"no class 'Yes'.*Did you mean 'yes'"):
        Threshold.parse("Yes=0.2", LABELS)
    with pytest.raises(ParameterError, match="for two classes; here are 3"):
        Threshold.parse("0.2", ["a", "b", "c"])


def test_the_cost_is_least_at_the_threshold_of_the_costs():
    """With true probabilities p, predicting from p >= cost of an alarm / (both costs) costs least."""
    chances = np.linspace(0, 1, 1001)
    both = np.column_stack([1 - chances, chances])
    price = {}
    for least in (0.05, 0.1, 0.2, 0.3, 0.5):
        said = Threshold(1, least).cut(both)
        price[least] = float(np.where(said == 1, (1 - chances) * 1.0, chances * 4.0).sum())
    assert min(price, key=price.__getitem__) == Threshold.parse("yes=4:1", LABELS).least == 0.2


@pytest.fixture(scope="module")
def found():
    random = np.random.default_rng(0)
    x = random.normal(size=150)
    frame = {"x": x, "y": np.where(x + random.normal(size=150) > 1.0, "ill", "well").tolist()}
    plain = mercer.fit(frame, target="y", kernel="linear", folds=3)
    careful = mercer.fit(frame, target="y", kernel="linear", folds=3, threshold="ill=9:1", metric="balanced_accuracy")
    return frame, plain, careful


def test_a_model_keeps_its_threshold(found, tmp_path):
    frame, plain, careful = found
    ill = np.array(frame["y"]) == "ill"
    assert (careful.predict(frame)[ill] == "ill").mean() > 0.9 > (plain.predict(frame)[ill] == "ill").mean()
    assert any("from a probability of 0.1 on" in note for note in careful.notes)
    mercer.save(careful.model, tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert (loaded.predict(frame) == careful.predict(frame)).all()
    chances = loaded.predict_proba(frame)[:, 0]
    assert ((chances >= 0.1) == (loaded.predict(frame) == "ill")).all()
    told = answers(loaded, loaded.objects(frame), [str(n) for n in range(150)], Columns())
    assert [row["prediction"] for row in told] == loaded.predict(frame).tolist()
    other = answers(loaded, loaded.objects(frame), [str(n) for n in range(150)], Columns(threshold="ill=0.5"))
    assert [row["prediction"] == "ill" for row in other] == (chances >= 0.5).tolist()


def test_the_score_is_that_of_the_threshold(found):
    frame, _, careful = found
    recall = next(one for one in careful.model.about["figures"] if one["name"] == "ill")["recall"]
    assert recall > 0.85
    said = careful.search.best.predicted[np.array(frame["y"])[careful.search.rows] == "ill"]
    assert (said == "ill").mean() == pytest.approx(recall)


def test_numbers_have_no_threshold():
    with pytest.raises(ParameterError, match="is for classes"):
        mercer.fit({"x": np.arange(40.0) / 3}, y=np.arange(40.0) ** 1.5, threshold="0.2")
