"""Columns that are left out or pointed out."""

import numpy as np
import pytest

from mercer.errors import DataFileError
from mercer.readers import read
from mercer.readers.data import CATEGORY, NUMBER, TEXT, Column
from mercer.readers.useless_columns import counts_rows, gives_away

RANDOM = np.random.default_rng(0)


def words(name, values, kind=CATEGORY):
    return Column(name, kind, np.array(values, dtype=object))


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (Column("n", NUMBER, np.arange(1.0, 31.0)), True),
        (Column("n", NUMBER, RANDOM.permutation(30) + 5.0), True),
        (Column("year", NUMBER, np.arange(1990.0, 2020.0)), False),
        (Column("n", NUMBER, np.arange(30.0) + 0.5), False),
        (Column("n", NUMBER, np.arange(0.0, 60.0, 2.0)), False),
        (Column("n", NUMBER, np.array([*range(29), np.nan])), False),
        (Column("n", NUMBER, np.arange(5.0)), False),
        (words("CID", [f"BACE_{i}" for i in range(30)], TEXT), True),
        (words("CID", [f"BACE_{i % 20}" for i in range(30)]), False),
        (words("hash", [f"{i:08x}-zq" for i in RANDOM.integers(1 << 31, size=30)]), True),
        (words("name", [f"mouse {chr(97 + i)}" for i in range(20)], TEXT), False),
    ],
)
def test_row_numbers_and_codes(column, wanted):
    assert counts_rows(column) is wanted


def test_they_are_left_out_with_a_word_and_name_the_rows(tmp_path):
    rows = [f"BACE_{i},{i},{i % 7},{'a' if i % 3 else 'b'}" for i in range(1, 41)]
    path = tmp_path / "t.csv"
    path.write_text("CID,count,x,y\n" + "\n".join(rows))
    data = read(path, target="y")
    assert list(data.objects) == ["x"]
    assert data.ids[:2] == ["BACE_1", "BACE_2"]
    assert data.detail["id"] == "CID"
    assert sum("left out (--keep" in note for note in data.notes) == 2
    assert list(read(path, target="y", keep=("CID",)).objects) == ["CID", "x"]
    assert set(read(path, require_target=False).objects) == {"CID", "count", "x", "y"}
    with pytest.raises(DataFileError, match="no column"):
        read(path, target="y", keep=("nothing",))


def test_ids_in_capitals_are_ids(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("PassengerId,x,y\n" + "\n".join(f"{i * 3},{i % 7},{i % 2}" for i in range(40)))
    assert list(read(path, target="y").objects) == ["x"]


@pytest.mark.parametrize(
    ("column", "labels", "wanted"),
    [
        (words("a", ["x", "y"] * 30), np.array(["n", "p"] * 30), True),
        (words("a", ["x", "y"] * 30), np.array(["n", "p", "p"] * 20), False),
        (words("a", [str(i) for i in range(60)]), np.array(["n", "p"] * 30), False),
        (Column("a", NUMBER, np.arange(60.0)), np.array(["n"] * 30 + ["p"] * 30), True),
        (Column("a", NUMBER, np.zeros(60)), np.array(["n"] * 30 + ["p"] * 30), False),
        (Column("a", NUMBER, np.arange(60.0)), np.array(["n", "p"] * 30), False),
        (Column("a", NUMBER, np.arange(60.0)), 3.0 * np.arange(60) + 1, True),
        (Column("a", NUMBER, np.arange(60.0)), np.arange(60) + RANDOM.normal(size=60), False),
        (Column("a", NUMBER, np.arange(10.0)), np.array(["n"] * 5 + ["p"] * 5), False),
    ],
)
def test_columns_that_give_the_answer_away(column, labels, wanted):
    assert gives_away(column, labels) is wanted


def test_they_are_pointed_out_and_kept(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("after,x,y\n" + "\n".join(f"{i % 2},{i % 7},{'no' if i % 2 else 'yes'}" for i in range(60)))
    data = read(path, target="y")
    assert list(data.objects) == ["after", "x"]
    assert any('"after" alone gives the answer' in note and "--drop after" in note for note in data.notes)


@pytest.mark.parametrize("order", ["sorted", "mixed"])
def test_columns_of_many_rows_give_the_answer_away_or_not(order):
    codes = np.repeat([0, 1, 2], 3000) if order == "sorted" else np.tile([0, 1, 2], 3000)
    labels = np.array(["a", "b", "c"])[codes]
    random = np.random.default_rng(0)
    apart, words = codes + 0.9 * random.random(9000), np.array(["x", "y", "z"], dtype=object)[codes]
    assert gives_away(Column("n", NUMBER, apart), labels)
    assert gives_away(Column("w", CATEGORY, words), labels)
    apart[4001], words[4001] = (
        7.0 if codes[4001] != 2 else -7.0,
        "y" if words[4001] != "y" else "x",
    )  # a single row contradicts
    assert not gives_away(Column("n", NUMBER, apart), labels)
    assert not gives_away(Column("w", CATEGORY, words), labels)
