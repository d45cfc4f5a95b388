"""Tables as spreadsheets and people write them: titles, empty columns, repeated names, European numbers, odd dates."""

import json

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.jobs.summary import summary
from mercer.readers import read
from mercer.readers.streaming import Sizes, stream

ROWS = "".join(f"{i * 7 % 11},{i % 7}.5,{'xy'[i % 2]}\n" for i in range(40))
HEAD = "size,weight,label\n"


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize("title", ["Pets\n", "Pets\nof 2024\n\n", "Pets,,\n,,\n", '"Pets, and others"\n'])
def test_titles_above_the_header_are_skipped(file, title):
    data = read(file("t.csv", title + HEAD + ROWS))
    assert list(data.objects) == ["size", "weight"]
    assert len(data) == 40
    assert data.lines[0] == title.count("\n") + 2
    assert any("above the header" in note for note in data.notes)
    pieces = list(stream(file("u.csv", title + HEAD + ROWS), _options(), Sizes(piece=64, head=64)))
    assert sum(map(len, pieces)) == 40


def _options():
    from mercer.readers.options import Options

    return Options(target="label")


@pytest.mark.parametrize(
    "content",
    [
        "a,b,c,label\n1,2\n3,4,5,x\n",  # a short row below a header
        "Pets\nsize,,label\n1,2,x\n3,4,y\n",  # a header with a gap is none
        "12\nsize,weight,label\n1,2,x\n3,4,y\n",  # a number is no title
    ],
)
def test_rows_that_are_no_titles_are_still_errors(file, content):
    with pytest.raises(InputError):
        read(file("t.csv", content))


def test_empty_columns_without_a_name_are_left_out(file):
    rows = "".join(f"{row},,\n" for row in ROWS.splitlines())
    data = read(file("t.csv", "size,weight,label,,\n" + rows))
    assert list(data.objects) == ["size", "weight"]
    assert "Columns 4, 5 have neither a name nor values." in data.notes
    with pytest.raises(InputError, match="column 4 has no name"):
        read(file("u.csv", "size,weight,label,,\n" + rows + "1,2,x,7,\n"))


def test_names_that_occur_twice_get_a_number(file):
    rows = "".join(f"{i * 7 % 11},{i * i % 5},{'xy'[i % 2]}\n" for i in range(20))
    data = read(file("t.csv", "a,a,label\n" + rows))
    assert list(data.objects) == ["a", "a (2)"]
    assert data.objects["a (2)"].values[:3].tolist() == [0, 1, 4]
    with pytest.raises(InputError, match="occurs 2 times"):
        read(file("t.csv", "a,a,label\n" + rows), target="a")


def test_points_between_thousands_beside_decimal_commas(file):
    rows = "".join(f"{i},5;1.{i:03d};{'xy'[i % 2]}\n" for i in range(20))
    data = read(file("t.csv", "size;mass;label\n" + rows + "3,5;850;x\n"))
    assert data.objects["mass"].values[[0, 1, -1]].tolist() == [1000, 1001, 850]
    new = read(
        file("n.csv", "size;mass\n3;1.200\n"), require_target=False, styles=tuple(data.styles.items()), only=("mass",)
    )
    assert new.objects["mass"].values.tolist() == [1200]  # although no comma tells so
    plain = read(file("p.csv", "size;mass;label\n" + rows.replace(",5;", ";")))
    assert plain.objects["mass"].values[:2].tolist() == [1.0, 1.001]


def test_dates_of_eight_digits(file):
    days = [f"2024{month:02d}{day:02d}" for month in (1, 2) for day in range(1, 11)]
    data = read(file("t.csv", "day,label\n" + "".join(f"{day},{'xy'[i % 2]}\n" for i, day in enumerate(days))))
    column = data.objects["day"]
    assert column.kind == "date"
    assert column.values[10] - column.values[0] == 31
    new = {"require_target": False, "styles": tuple(data.styles.items()), "only": ("day",)}
    assert read(file("n.csv", "day\n20240102\n\n"), **new).objects["day"].values[0] == column.values[1]
    assert np.isnan(read(file("n.csv", "day,b\n,1\n20240102,2\n"), **new).objects["day"].values[0])
    with pytest.raises(InputError, match='"20241399" is not a date'):
        read(file("n.csv", "day\n20241399\n"), **new)
    codes = read(file("c.csv", "code,label\n" + "".join(f"{20240190 + i},{'xy'[i % 2]}\n" for i in range(9))))
    assert codes.objects["code"].kind == "number"


def test_dates_in_several_forms(file):
    dates = ["2024-01-31", "1 February 2024", "Mar 3, 2024", "13/04/2024", "05/06/2024"] * 4
    data = read(file("t.csv", "day|label\n" + "".join(f"{day}|{'xy'[i % 2]}\n" for i, day in enumerate(dates))))
    column = data.objects["day"]
    assert (column.kind, column.style) == ("date", "mixed dmy")
    assert np.diff(column.values[:5]).tolist() == [1, 31, 41, 53]
    summed = summary(data)["columns"][0]["content"]
    assert summed == "2024-01-31 to 2024-06-05"


def test_the_first_day_of_1970_is_a_date(file):
    rows = "".join(f"{1970 + i}-01-01,{'xy'[i % 2]}\n" for i in range(12))
    assert summary(read(file("t.csv", "day,label\n" + rows)))["columns"][0]["content"] == "1970-01-01 to 1981-01-01"


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_json_objects_is_a_table(file, indent):
    rows = [{"size": i, "label": "xy"[i % 2]} for i in range(1, 9)]
    data = read(file("t.json", json.dumps(rows, indent=indent)))
    assert data.objects["size"].values.tolist() == list(range(1, 9))
    if indent:
        assert list(data.lines[:2]) == [2, 6]
    pieces = list(stream(file("u.json", json.dumps(rows, indent=indent)), _options(), Sizes(piece=64, head=64)))
    assert sum(map(len, pieces)) == 8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": 1}\n{"a": 2}]', "t.json:2: not JSON: a comma or the end"),
        ('[{"a": 1},\n{"a": }]', "t.json:2: not JSON"),
        ('[{"a": 1}, {"a": 2}', "not JSON: a comma or the end"),
        ('[{"a": 1}] and more', "something follows the array"),
        ('[{"a": 1},\n 2]', "t.json:2: an object"),
        ("[" * 60 + '{"a": 1}' + "]" * 60, "levels deep"),
    ],
)
def test_damaged_arrays_are_refused_with_their_line(file, content, message):
    with pytest.raises(InputError, match=message):
        read(file("t.json", content))
