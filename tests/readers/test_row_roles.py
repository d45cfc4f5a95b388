"""Columns other than those to learn from: groups, times, weights; and classes by other names."""

import numpy as np
import pytest

from mercer.errors import DataFileError
from mercer.readers import read

ROWS = "x,w,when,y\n1,0.5,2021-01-03,0\n2,1,2020-01-03,1\n3,0,2022-01-03,1\n4,2,2020-06-01,0\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "t.csv").write_text(ROWS)
    return tmp_path / "t.csv"


def test_weights(path):
    data = read(path, target="y", weight="w")
    assert data.weights.tolist() == [0.5, 1.0, 2.0]  # a row of weight zero says nothing
    assert data.labels.tolist() == [0, 1, 0]
    assert "w" not in data.objects
    assert any("1 row of weight zero left out" in note for note in data.notes)
    assert data.take(np.array([2])).weights.tolist() == [2.0]


def test_times(path):
    data = read(path, target="y", time="when")
    assert np.argsort(data.times).tolist() == [1, 3, 0, 2]
    assert data.detail["seasons"] == "when"
    assert "when" in data.objects
    assert "seasons" not in read(path, target="y", time="when", keep=("when",)).detail
    number = read(path, target="y", time="x")
    assert "x" not in number.objects
    assert number.times.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_names_of_classes(path):
    data = read(path, target="y", class_names=(("0", "died"), ("1", "survived")))
    assert data.labels.tolist() == ["died", "survived", "survived", "died"]
    assert data.detail["class_names"] == [["0", "died"], ["1", "survived"]]
    partly = read(path, target="y", class_names=(("0", "died"), ("2", "lost")))
    assert partly.labels.tolist() == ["died", "1", "1", "died"]
    assert any('"2"' in note for note in partly.notes)
    assert read(path, target="y", class_names=(("0", "1"),)).labels.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "v"}, "no column"),
        ({"weight": "when"}, "holds no numbers"),
        ({"time": "y2"}, "no column"),
        ({"time": "when", "group": "x"}, "both say how folds are made"),
        ({"class_names": (("7", "seven"),)}, "no object has the label"),
    ],
)
def test_what_is_refused(path, options, message):
    with pytest.raises(DataFileError, match=message):
        read(path, target="y", **options)


def test_cells_that_are_no_weights_and_no_times(tmp_path):
    for text, options, message in (
        ("x,w,y\n1,-1,a\n2,1,b\n", {"weight": "w"}, "the weight -1 is negative"),
        ("x,w,y\n1,0,a\n2,0,b\n", {"weight": "w"}, "all weights are zero"),
        ("x,w,y\n1,,a\n2,1,b\n", {"weight": "w"}, "1 row without a value"),
        ("x,t,y\n1,soon,a\n2,late,b\n", {"time": "t"}, "holds no times"),
        ("x,t,y\n1,2020-01-01,a\n2,,b\n", {"time": "t"}, "1 row without a value"),
    ):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(DataFileError, match=message):
            read(tmp_path / "t.csv", target="y", **options)
    (tmp_path / "s.fa").write_text(">a label=1\nACGT\n>b label=0\nTTTT\n")
    with pytest.raises(DataFileError, match="--weight names a column, but these are strings"):
        read(tmp_path / "s.fa", weight="w")
