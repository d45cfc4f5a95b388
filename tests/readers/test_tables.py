"""Tables: what is found out, what is said, and what is refused with file, line and column."""

import gzip
import io
import lzma
import sys

import numpy as np
import pytest

from mercer.errors import DataFileError, ParameterError
from mercer.readers import problems, read


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def refusal(path, **settings):
    with pytest.raises(DataFileError) as caught:
        read(path, **settings)
    return str(caught.value), " ".join(getattr(caught.value, "__notes__", ()))


PETS = "mass,colour,pet\n4.5,black,cat\n30,brown,dog\n5,brown,cat\n"


def test_an_ordinary_table(file):
    data = read(file("pets.csv", PETS), target="pet")
    assert (data.format, data.kind, data.target, len(data)) == ("csv", "table", "pet", 3)
    assert [(column.name, column.kind) for column in data.objects.values()] == [
        ("mass", "number"),
        ("colour", "category"),
    ]
    assert data.objects["mass"].values.tolist() == [4.5, 30, 5]
    assert data.labels.tolist() == ["cat", "dog", "cat"]
    assert list(data.lines) == [2, 3, 4]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters(file, mark):
    data = read(file("pets.csv", PETS.replace(",", mark)), target="pet")
    assert list(data.objects) == ["mass", "colour"]
    assert bool(data.notes) == (mark != ",")


@pytest.mark.parametrize("target", ["pet", "PET", "3", "-1"])
def test_target_by_name_and_number(file, target):
    assert read(file("pets.csv", PETS), target=target).target == "pet"


def test_usual_target_is_found_and_said(file):
    data = read(file("a.csv", "x,label\n1,a\n2,b\n"))
    assert data.target == "label"
    assert "--target" in data.notes[0]


def test_target_must_be_known(file):
    message, hint = refusal(file("pets.csv", PETS))
    assert "which column" in message
    assert "mass, colour, pet" in hint
    message, hint = refusal(file("pets.csv", PETS), target="pte")
    assert "Did you mean 'pet'" in hint


def test_marks_and_packers(file):
    assert read(file("a.csv", b"\xef\xbb\xbf" + PETS.encode()), target="pet").objects.keys() == {"mass", "colour"}
    assert len(read(file("b.csv", PETS.encode("utf-16")), target="pet")) == 3
    assert len(read(file("c.csv.gz", gzip.compress(PETS.encode())), target="pet")) == 3
    assert len(read(file("d.csv", lzma.compress(PETS.encode())), target="pet")) == 3


def test_no_header_is_noticed(file):
    data = read(file("a.csv", "1,2,x\n3,4,y\n5,6,x\n"), target="-1")
    assert list(data.objects) == ["1", "2"]
    assert len(data) == 3
    words = read(file("b.csv", "red,big,yes\nblue,small,no\nred,small,yes\nblue,big,no\n"), target="3")
    assert len(words) == 4


def test_quotes_and_lines_in_cells(file):
    data = read(file("a.csv", 'text,label\n"one, ""two""\nthree",a\nfour,b\n'), text=("text",))
    assert data.objects["text"].values[0] == 'one, "two"\nthree'
    assert list(data.lines) == [2, 4]


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("a,b,label\n1,2,x\n1,2\n", "t.csv:3: 2 columns, but line 1 has 3", "--delimiter"),
        ("a,label,label\n1,2,x\n", 't.csv:1: the column name "label" occurs 2 times', "own name"),
        ("a,,label\nx,2,x\n", "t.csv:1: column 2 has no name", "--no-header"),
        ('a,label\n1,"x\n', "t.csv:2: a quote is never closed", ""),
        ("age,label\n1,x\n2,y\n3,x\n4,y\nabc,x\n", 't.csv:6: column "age": "abc" is not a number', "--category age"),
        ("age,label\n1,x\n1e999,y\n", 't.csv:3: column "age": "1e999" is too large a number', ""),
        (
            "share,label\n1%,x\n2%,y\n3%,x\n4%,y\nlots,x\n",
            't.csv:6: column "share": "lots" is not a',
            "--category share",
        ),
        ("a,label\n1,x\n2,\n", 't.csv:3: column "label": 1 object of 2 has no label', "--skip-unlabelled"),
        ("a,label\n", "t.csv:1: a header and no rows", ""),
        ("\n\n", "t.csv: the file is empty", ""),
        (b"name,label\nM\xfcller,x\n", "t.csv:2: not utf-8", "--encoding latin-1"),
        (b"a,label\n1\0,x\n", "t.csv:2: a NUL character", ""),
        ("a,label\n3,x\n3,y\n", "no columns are left", "constant"),
    ],
)
def test_refusals_name_file_line_and_column(file, content, message, hint):
    told, remedy = refusal(file("t.csv", content))
    assert message in told
    assert hint in remedy


def test_latin_1_and_decimal_commas_when_told(file):
    data = read(file("t.csv", b"name;mass;label\nM\xfcller;1,5;x\nMeyer;2;y\n"), encoding="latin-1", decimal_comma=True)
    assert data.objects["mass"].values.tolist() == [1.5, 2.0]
    noticed = read(file("u.csv", "m;label\n1;x\n2;x\n3;x\n4;x\n1,5;y\n"))
    assert noticed.objects["m"].values.tolist() == [1, 2, 3, 4, 1.5]
    assert "decimal commas" in noticed.notes[-1]


def test_missing_values_are_kept_as_such(file):
    data = read(file("t.csv", "a,b,label\n1,x,0\nNA,?,1\n3,y,0\n"))
    assert np.isnan(data.objects["a"].values).tolist() == [False, True, False]
    assert data.objects["b"].missing.tolist() == [False, True, False]


def test_rows_without_label_may_be_left_out(file):
    data = read(file("t.csv", "id,a,label\np,1,x\nq,2,\nr,3,y\n"), skip_unlabelled=True)
    assert data.labels.tolist() == ["x", "y"]
    assert data.ids == ["p", "r"]
    assert list(data.lines) == [2, 4]


def test_kinds_of_columns(file):
    rows = ["id,seq,smiles,note,tree,code,label"]
    for number in range(60):
        sequence = "".join("ACGT"[(number >> place) % 4] for place in range(12 + number % 5))
        rows.append(f"p{number},{sequence},CCO,this is the note number {number},(S (N a)),{number % 3},{number % 2}")
    data = read(file("t.csv", "\n".join(rows)), categories=("code",))
    kinds = {column.name: column.kind for column in data.objects.values()}
    assert kinds == {"seq": "sequence", "note": "text", "code": "category"}  # the others are constant
    assert data.ids is not None


def test_options_override(file):
    path = file("t.csv", "a,b,label\n1,x,0\n2,y,1\n")
    assert read(path, drop=("a",)).objects.keys() == {"b"}
    assert read(path, text=("b",)).objects["b"].kind == "text"
    assert read(path, id="b").ids == ["x", "y"]
    with pytest.raises(ParameterError, match="Did you mean 'csv'"):
        read(path, format="cvs")


def test_prediction_needs_no_target(file):
    data = read(file("t.csv", "a,b\n1,x\n2,y\n"), target="label", require_target=False)
    assert data.labels is None


def test_caps_come_before_parsing(file):
    message, hint = refusal(file("t.csv", "a,label\n" + "1,x\n" * 1000), max_bytes=100)
    assert "too large" in message
    assert "--max-mb" in hint
    bomb = gzip.compress(b"0" * 10_000_000)
    assert len(bomb) < 20_000
    assert "too large" in refusal(file("bomb.csv.gz", bomb), max_bytes=1_000_000)[0]
    assert "damaged" in refusal(file("cut.csv.gz", bomb[:5000]))[0]
    assert "columns, more than" in refusal(file("w.csv", PETS), target="pet", max_features=2)[0]


def test_what_is_not_there(tmp_path):
    (tmp_path / "train.csv").write_text(PETS)
    message, hint = refusal(str(tmp_path / "tran.csv"))
    assert "no such file" in message
    assert "train.csv" in hint
    assert "read" in refusal("a\0b")[0]


def test_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PETS.encode())))
    assert read("-", target="pet").name == "stdin"


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = str(tmp_path / "t.parquet")
    pq.write_table(
        pa.table({"a": [1.5, None, 3.0], "b": ["x", "y", None], "ok": [True, False, True], "label": [0, 1, 0]}), path
    )
    data = read(path)
    assert [column.kind for column in data.objects.values()] == ["number", "category", "number"]
    assert data.labels.tolist() == [0, 1, 0]
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[:200])
    assert "not a Parquet file" in refusal(str(tmp_path / "cut.parquet"))[0]
    (tmp_path / "t.csv").write_bytes(content)
    assert "ends in .csv, but the content is parquet" in refusal(str(tmp_path / "t.csv"))[0]
    pq.write_table(pa.table({"a": [[1], [2]], "label": [0, 1]}), path)
    assert 'column "a"' in refusal(path)[0]


def test_labels_too_large_for_floats_are_codes(file):
    codes = ["9007199254740992", "9007199254740993"]  # as floats, both are 2**53
    rows = "".join(f"{n % 7},{codes[n % 2]}\n" for n in range(40))
    labels = read(file("codes.csv", f"a,y\n{rows}"), target="y", text=("y",)).labels
    assert sorted(set(labels.tolist())) == codes
    labels = read(file("floats.csv", "a,y\n1,1e300\n2,-3e250\n3,1e17\n"), target="y").labels
    assert labels.tolist() == [1e300, -3e250, 1e17]
    labels = read(file("vast.csv", "a,y\n1,1e17\n2,3e17\n"), target="y").labels
    assert (labels.dtype.kind, labels.tolist()) == ("f", [1e17, 3e17])
    labels = read(file("whole.csv", f"a,y\n1,{2**53 - 1}\n2,-5\n"), target="y").labels
    assert (labels.dtype.kind, labels.tolist()) == ("i", [2**53 - 1, -5])


@pytest.mark.parametrize(("length", "shown"), [(60, "a" * 60), (61, "a" * 57 + "...")])
def test_what_is_quoted_has_at_most_sixty_characters(length, shown):
    assert problems.quoted("a" * length) == f'"{shown}"'
