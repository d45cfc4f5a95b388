"""What moves the predictions: the columns that matter come first, and their curves go the right way."""

import re

import numpy as np
import pytest

import mercer
from mercer.readers.data import CATEGORY, DATE, NUMBER, Column, Data
from mercer.report import render
from mercer.report.influence import Influence, _drawn, _picture, _values, influence, influences
from mercer.report.support import described


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


def found(*answers, kind=NUMBER, values=None):
    values = np.arange(float(len(answers))) if values is None else values
    return Influence(Column("x", kind, values), values, np.array(answers))


def test_pictures_are_of_columns_that_move_something():
    still, single, two, levels = found(1.0, 1.0), found(2.0), found(0.0, 3.0), found(0.0, 3.0, kind=CATEGORY)
    assert _drawn([still, single, two, levels]) == [two, levels]


def test_categories_are_dots_on_the_common_scale():
    colours = np.array(["red", "blue", "<b>"], dtype=object)
    drawn = _picture(found(0.25, 1.0, 0.0, kind=CATEGORY, values=colours), "the prediction", (0.0, 1.0))
    assert "the prediction by x: blue 1, red 0.25, &lt;b&gt; 0" in drawn
    names = re.findall(r'text-anchor="end">([^<]+)<title>', drawn)
    assert names == ["blue", "red", "&lt;b&gt;"]
    across = [float(place) for place in re.findall(r'<circle cx="([\d.]+)"', drawn)]
    assert (across[1] - across[2]) / (across[0] - across[2]) == pytest.approx(0.25, abs=0.01)


def test_dates_are_curves_from_day_to_day():
    days = np.array([10.0, 31.0, 375.0])
    drawn = _picture(found(1.0, 2.0, 3.0, kind=DATE, values=days), "the prediction", (1.0, 3.0))
    assert "from 1 at 1970-01-11 to 3 at 1971-01-11" in drawn
    assert ">1971-01-11</text>" in drawn


def test_steps_of_a_scale_are_words():
    column = Column("size", NUMBER, np.array([1.0, 3.0, np.nan, 1.0]), "scale 4")
    assert _values(column).tolist() == [1.0, 3.0]
    drawn = _picture(Influence(column, _values(column), np.array([0.0, 1.0])), "the prediction", (0.0, 1.0))
    assert "from 0 at low to 1 at high" in drawn
    assert ">low</text>" in drawn
    data = Data("a.csv", "csv", "table", {"size": column, "day": Column("day", DATE, np.arange(4.0) + 20)})
    assert described(data, 1) == "size high; day 1970-01-22"
    assert described(data, 2) == "size missing; day 1970-01-23"


def test_bars_are_as_long_as_figures_say(outcome):
    sizes = [one.size for one in influences(outcome)]
    widths = [float(width) for width in re.findall(r'style="width:([\d.]+)%"', influence(outcome))]
    assert widths == pytest.approx([100 * size / sizes[0] for size in sizes], abs=0.06)


def test_a_curve_fills_its_frame():
    x = np.array([10.0, 20.0, 40.0])
    drawn = _picture(Influence(Column("x", NUMBER, x), x, np.array([0.0, 1.0, 0.5])), "the prediction", (0.0, 1.0))
    points = re.search(r'points="([^"]+)"', drawn)[1].split()
    frame = re.search(r'd="M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)"', drawn)
    left, top, bottom, right = map(float, frame.groups())
    assert [tuple(map(float, point.split(","))) for point in points] == [
        pytest.approx((left, bottom), abs=0.1),
        pytest.approx((left + (right - left) / 3, top), abs=0.1),
        pytest.approx((right, (top + bottom) / 2), abs=0.1),
    ]
