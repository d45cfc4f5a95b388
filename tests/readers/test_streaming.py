"""Files in blocks: the same objects as the whole file, with the same names and lines, and in little memory."""

import functools
import gzip
import io
import itertools
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.errors import DataFileError, ParameterError
from mercer.readers import read, streaming
from mercer.readers.cells import numbers_of
from mercer.readers.options import Options
from tests.readers.arrow_files import write_arrow


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Pieces of a few lines, so that small files have many."""
    small = streaming.Sizes(piece=64, head=200, rows=3)
    monkeypatch.setattr(streaming, "stream", functools.partial(streaming.stream, sizes=small))


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def both(path, **settings):
    options = Options(require_target=False, **settings)
    return read(path, options), list(streaming.stream(path, options))


def joined(lists):
    return list(itertools.chain.from_iterable(lists))


def names(data):
    return [data.name_of(place) for place in range(len(data))]


TABLE = "id,mass,colour\n" + "".join(f"p{n},{n / 8},{'red' if n % 3 else 'blue'}\n" for n in range(60))
LINES = {
    "a.txt": "".join(f"sentence number {n}\n" for n in range(40)),
    "a.jsonl": "".join(f'{{"text": "sentence {n}", "id": "t{n}"}}\n' for n in range(40)),
    "a.fa": "".join(f">s{n} something\n{'ACGT' * (n % 5 + 1)}\n{'GG' * (n % 3)}\n" for n in range(40)),
    "a.trees": "".join(f"(S (N a{n}) (V b))\n" for n in range(40)),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables(tmp_path, end):
    whole, parts = both(write(tmp_path, "a.csv", TABLE.replace("\n", end)), categories=("colour",))
    assert len(parts) > 3
    assert joined(map(names, parts)) == names(whole) == [f"p{n}" for n in range(60)]
    assert joined(part.lines for part in parts) == list(whole.lines)
    for key in ("mass", "colour"):
        assert np.concatenate([part.objects[key].values for part in parts]).tolist() == (
            whole.objects[key].values.tolist()
        )


def test_rows_are_counted_on(tmp_path):
    _, parts = both(write(tmp_path, "a.csv", TABLE.replace("id,", "x,")), id="")
    assert joined(map(names, parts)) == [str(n) for n in range(1, 61)]


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_other_formats_of_lines(tmp_path, name, end):
    whole, parts = both(write(tmp_path, name, LINES[name].replace("\n", end)))
    assert len(parts) > 3
    assert joined(part.objects for part in parts) == list(whole.objects)
    assert joined(part.lines for part in parts) == list(whole.lines)
    assert joined(map(names, parts)) == names(whole)


def test_sparse_rows_count_features_as_in_training(tmp_path):
    text = "".join(f"1 {n % 7 + 2}:{n}.5 12:1\n" for n in range(40)) + "1 0:3 5:1\n"
    path = write(tmp_path, "a.svm", text)
    whole = read(path, require_target=False)
    parts = streaming.stream(path, Options(require_target=False, first_index=0))
    assert (sp.vstack([part.objects for part in parts]) != whole.objects).nnz == 0
    with pytest.raises(DataFileError, match=r"a.svm:41: a feature 0"):
        read(path, first_index=1)


def test_graphs_and_matrices(tmp_path):
    text = "\n".join(f"# {n % 2}\na b\nb c {n + 1}\n" for n in range(40))
    whole, parts = both(write(tmp_path, "a.edges", text))
    assert len(parts) > 3
    assert sum(map(len, parts)) == len(whole) == 40
    for part in parts:
        for place in range(len(part)):
            assert (part.objects.adjacency(place) == whole.objects.adjacency(part.before + place)).all()
    np.save(tmp_path / "a.npy", np.arange(20.0).reshape(10, 2))
    whole, parts = both(str(tmp_path / "a.npy"))
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    assert np.vstack([part.objects for part in parts]).tolist() == whole.objects.tolist()


def test_packed_and_marked_and_piped(tmp_path, monkeypatch):
    whole = joined(map(names, both(write(tmp_path, "a.csv", TABLE))[1]))
    for name, content in (
        ("b.csv.gz", gzip.compress(TABLE.encode())),
        ("c.csv", b"\xef\xbb\xbf" + TABLE.encode()),
        ("d.csv", TABLE.encode("utf-16")),
    ):
        assert joined(map(names, both(write(tmp_path, name, content))[1])) == whole
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    assert joined(map(names, streaming.stream("-", Options(require_target=False)))) == whole


def test_quoted_cells_across_pieces(tmp_path):
    rows = "".join(f'{n},"long ""text"" number {n},\nover {"lines" * 20}\r\n and more"\n' for n in range(30))
    whole, parts = both(write(tmp_path, "a.csv", "n,text\n" + rows), text=("text",), id="")
    assert len(parts) > 3
    assert joined(part.objects["text"].values for part in parts) == list(whole.objects["text"].values)
    assert joined(part.lines for part in parts) == list(whole.lines)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("p,x,red\n", 'a.csv:62: column "mass": "x" is not a number'),
        ("p,1\n", "a.csv:62: 2 columns, but line 1 has 3"),
        ('p,1,"red\n', "a.csv:62: a quote is never closed"),
        (b"p,1,r\xfcd\n", "a.csv:62: not utf-8"),
        ("p,1e999,red\n", 'a.csv:62: column "mass": "1e999" is too large'),
    ],
)
def test_errors_far_down(tmp_path, wrong, message):
    wrong = wrong if isinstance(wrong, bytes) else wrong.encode()
    path = write(tmp_path, "a.csv", TABLE.encode() + wrong)
    options = Options(require_target=False, numbers=("mass",), categories=("colour",))
    seen = []
    with pytest.raises(DataFileError) as caught:
        seen.extend(map(len, streaming.stream(path, options)))
    assert message in str(caught.value)
    assert 40 < sum(seen) <= 60
    with pytest.raises(DataFileError) as caught:
        read(path, options)
    assert message in str(caught.value)


def test_nothing_to_stream(tmp_path):
    for content in ("", "\n\n \n", "a,b\n"):
        with pytest.raises(DataFileError, match=r"empty|no rows"):
            list(streaming.stream(write(tmp_path, "a.csv", content), Options(require_target=False)))


def test_unknown_formats_are_refused(tmp_path):
    path = write(tmp_path, "a.csv", TABLE)
    for method in (read, lambda path, options: list(streaming.stream(path, options))):
        with pytest.raises(ParameterError, match=r"no format 'cvs'. Did you mean 'csv'"):
            method(path, Options(format="cvs"))


def test_memory_does_not_grow_with_the_file(tmp_path):
    peaks = []
    for many in (500, 5000):
        path = write(tmp_path, "a.csv", "a,b,c\n" + "1.5,2.5,some words here\n" * many)
        tracemalloc.start()
        try:
            assert sum(map(len, streaming.stream(path, Options(require_target=False, id="")))) == many
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), st.sampled_from(["", "NA", " 7 "])),
            st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=12),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_any_table_is_the_same_in_pieces(rows):
    import csv
    import tempfile
    from pathlib import Path

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["number", "words"])
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), "a.csv", text.getvalue())
        whole, parts = both(path, text=("words",), numbers=("number",), id="", header=True)
    assert joined(part.objects["words"].values for part in parts) == list(whole.objects["words"].values)
    values = np.concatenate([part.objects["number"].values for part in parts])
    np.testing.assert_array_equal(values, whole.objects["number"].values)
    wanted = [np.nan if cell.strip() in ("", "NA") else float(cell) for cell, _ in rows]
    np.testing.assert_array_equal(values, wanted)


def test_what_is_a_number():
    assert numbers_of(["1", " 2.5 ", "-3e4", ".5", "+7."]).tolist() == [1, 2.5, -3e4, 0.5, 7]
    assert np.isnan(numbers_of(["NA", "", "?", "nan"])).all()
    for wrong in ("1_000", "inf", "-Infinity", "1e999", "0x10", "1,5", "abc", "1 2"):
        assert numbers_of(["1", wrong]) is None


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.fa", "a.jsonl", "a.npy", "a.parquet", "a.arrow"])
def test_reading_goes_on_from_any_place(tmp_path, name):
    path = str(tmp_path / name)
    numbers = np.arange(60.0).reshape(30, 2)
    if name == "a.npy":
        np.save(path, numbers)
    elif name in ("a.parquet", "a.arrow"):
        write_arrow(path, {"mass": numbers[:, 0], "colour": ["red", "blue", "green"] * 10}, rows=7)
    else:
        plain = name.removesuffix(".gz")
        content = (TABLE if plain == "a.csv" else LINES[plain]).encode()
        write(tmp_path, name, gzip.compress(content) if name.endswith(".gz") else content)
    options = Options(require_target=False, id="id")  # given, as it is not detected anew from each place
    small = streaming.Sizes(piece=64, head=200, rows=3)
    all_blocks = list(streaming.stream_from(path, options, small))
    assert len(all_blocks) > 3
    for number, (_, place) in enumerate(all_blocks[:-1]):
        rest = [found for found, _ in streaming.stream_from(path, options, small, place)]
        expected = [found for found, _ in all_blocks[number + 1 :]]
        assert rest[0].before == place.objects == expected[0].before
        assert joined(map(names, rest)) == joined(map(names, expected))
        assert (joined(map(read_from, rest)), joined(map(where, rest))) == (
            joined(map(read_from, expected)), joined(map(where, expected)),
        )  # fmt: skip


def read_from(data):
    if data.kind == "table":
        return list(zip(*(column.values.tolist() for column in data.objects.values()), strict=True))
    return [str(one) for one in data.objects]


def where(data):
    return [] if data.lines is None else list(data.lines)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "npy"])
def test_binary_rows_are_the_same_in_batches(tmp_path, kind):
    path, many = str(tmp_path / f"a.{kind}"), np.random.default_rng(0).normal(size=(50, 3))
    if kind == "npy":
        np.save(path, many)
    else:
        write_arrow(path, {"mass": many[:, 0], "colour": [("red", "blue")[i % 2] for i in range(50)]}, rows=11)
    whole, parts = both(path)
    assert len(parts) > 10
    assert joined(map(names, parts)) == names(whole)
    if kind == "npy":
        np.testing.assert_array_equal(np.vstack([part.objects for part in parts]), whole.objects)
        return
    for key, column in whole.objects.items():
        assert joined(part.objects[key].values.tolist() for part in parts) == column.values.tolist()
    assert joined(part.lines for part in parts) == list(whole.lines)
