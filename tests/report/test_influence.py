"""What moves the predictions: the columns that matter come first, and their curves go the right way."""

import re

import numpy as np
import pytest

import mercer
from mercer.readers.data import NUMBER, Column
from mercer.report import render
from mercer.report.influence import Influence, _curve, _drawn, influence, influences


@pytest.fixture(scope="module")
def outcome():
    random = np.random.default_rng(0)
    x, noise = random.normal(size=150), random.normal(size=150)
    colour = random.choice(["red", "blue"], size=150)
    y = 3 * x + (colour == "red") + 0.1 * random.normal(size=150)
    return mercer.fit({"noise": noise, "x": x, "colour": colour, "y": y}, target="y", folds=3)


def test_columns_that_matter_come_first(outcome):
    found = influences(outcome)
    assert [one.column.name for one in found] == ["x", "colour", "noise"]
    slope = np.polyfit(found[0].values.astype(float), found[0].answers, 1)[0]
    assert slope == pytest.approx(3, abs=0.3)
    by_colour = dict(zip(found[1].values, found[1].answers, strict=True))
    assert by_colour["red"] - by_colour["blue"] == pytest.approx(1, abs=0.3)
    assert found[2].size < 0.5


def test_the_report_begins_with_the_verdict_and_a_picture(outcome):
    text = render(outcome)
    assert text.index("verdict") < text.index("<svg") < text.index("What moves the predictions")
    assert text.index("What moves the predictions") < text.index("The data")


def test_classes_have_probabilities_and_other_objects_nothing():
    x = np.random.default_rng(0).normal(size=80)
    found = mercer.fit({"x": x, "y": np.where(x > 0, "p", "n")}, target="y", folds=3, kernel="rbf")
    assert "the probability of &#x27;p&#x27;" in influence(found)
    assert np.all(np.diff(influences(found)[0].answers) > -0.05)
    texts = mercer.fit(["ab" * 5, "cd" * 5] * 10, y=[0, 1] * 10, kernel="spectrum", folds=2)
    assert influence(texts) == ""


def test_curves_are_of_numbers_that_move_something():
    def found(*answers, kind=NUMBER):
        values = np.arange(float(len(answers)))
        return Influence(Column("x", kind, values), values, np.array(answers))

    still, single, two = found(1.0, 1.0), found(2.0), found(0.0, 3.0)
    assert _drawn([still, single, two, found(0.0, 3.0, kind="category")]) == [two]


def test_a_curve_fills_its_frame():
    x = np.array([10.0, 20.0, 40.0])
    drawn = _curve(Influence(Column("x", NUMBER, x), x, np.array([0.0, 1.0, 0.5])), "the prediction", (0.0, 1.0))
    points = re.search(r'points="([^"]+)"', drawn)[1].split()
    frame = re.search(r'd="M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)"', drawn)
    left, top, bottom, right = map(float, frame.groups())
    assert [tuple(map(float, point.split(","))) for point in points] == [
        pytest.approx((left, bottom), abs=0.1),
        pytest.approx((left + (right - left) / 3, top), abs=0.1),
        pytest.approx((right, (top + bottom) / 2), abs=0.1),
    ]
