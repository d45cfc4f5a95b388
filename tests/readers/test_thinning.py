"""A random sample of a file that is never all in memory: the objects, lines and kinds of the whole file."""

import gzip

import numpy as np
import pytest

from mercer.errors import DataFileError
from mercer.readers import read, reservoir, streaming, thinning
from mercer.readers.options import Options
from tests.readers.arrow_files import write_arrow

N = 3000


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(thinning, "_PIECE", 1000)


def text_of(format_):
    """The text of a file whose object i says so."""
    kind = ["cat", "dog"]
    return {
        "csv": "mass,colour,y\n" + "".join(f"{i / 8},{'red' if i % 3 else 'blue'},{kind[i % 2]}\n" for i in range(N)),
        "svmlight": "".join(f"{i % 2} 1:{i / 8} {2 + i % 7}:1\n" for i in range(N)),
        "jsonl": "".join(f'{{"mass": {i / 8}, "y": "{kind[i % 2]}"}}\n' for i in range(N)),
        "fasta": "".join(f">s{i} {kind[i % 2]}\nACGT{'ACGT'[i % 4]}\n{'G' * (i % 5)}\n" for i in range(N)),
    }[format_]


SUFFIX = {"csv": ".csv", "svmlight": ".svm", "jsonl": ".jsonl", "fasta": ".fa", "parquet": ".parquet", "npy": ".npy"}


@pytest.fixture
def path(tmp_path):
    def make(format_):
        found = tmp_path / f"a{SUFFIX.get(format_, '.arrow')}"
        numbers = np.column_stack([np.arange(N) / 8, np.arange(N) % 2])
        if format_ == "npy":
            np.save(found, numbers)
        elif format_ in ("parquet", "feather"):
            columns = {"mass": numbers[:, 0], "y": [("cat", "dog")[i % 2] for i in range(N)]}
            write_arrow(found, columns, rows=700)
        else:
            found.write_text(text_of(format_))
        return str(found)

    return make


@pytest.mark.parametrize("format_", ["csv", "svmlight", "jsonl", "fasta", "parquet", "feather", "npy"])
def test_the_sample_is_some_of_the_objects_with_their_names_and_lines(path, format_):
    options = Options(format=format_, target={"npy": "2"}.get(format_, "y"))
    whole, found = read(path(format_), options), thinning.thinned(path(format_), options, 200, 0)
    some = found.data
    assert (found.objects, len(some), some.kind) == (N, 200, whole.kind)
    if format_ == "fasta":
        rows = np.searchsorted(whole.lines, some.lines)
        assert [some.name_of(place) for place in range(200)] == [f"s{row}" for row in rows]
    else:
        rows = np.array([int(some.name_of(place)) - 1 for place in range(200)])
    assert (np.diff(rows) > 0).all()
    assert rows.min() < 300 < N - 300 < rows.max()
    assert some.labels.tolist() == whole.labels[rows].tolist()
    if whole.lines is not None:
        assert list(some.lines) == [whole.lines[row] for row in rows]
    same = whole.take(rows)
    if some.kind == "table":
        for key, column in same.objects.items():
            assert some.objects[key].values.tolist() == column.values.tolist()
    elif some.kind == "vectors":
        assert abs(some.objects - same.objects).max() == 0
    else:
        assert some.objects == same.objects
    again = thinning.thinned(path(format_), options, 200, 0).data
    other = thinning.thinned(path(format_), options, 200, 1).data
    assert again.labels.tolist() == some.labels.tolist()
    assert [other.name_of(i) for i in range(200)] != [some.name_of(i) for i in range(200)]


def test_a_small_file_is_its_own_sample(path):
    found = thinning.thinned(path("csv"), Options(format="csv", target="y"), 10_000, 0)
    assert found.data.objects["mass"].values.tolist() == (np.arange(N) / 8).tolist()


def test_all_objects_are_equally_likely():
    times = np.zeros(30)
    for seed in range(3000):
        drawn = thinning.Reservoir(5, seed)
        for start in range(0, 30, 7):
            part = range(start, min(start + 7, 30))
            drawn.offer(part, [b""] * len(part))
        for place, line, _ in drawn.kept:
            assert place == line
            times[place] += 1
    expected = 3000 * 5 / 30
    assert ((times - expected) ** 2 / expected).sum() < 60  # chi-square with 29 degrees: above in 1 of 1,500 cases


def test_cells_with_line_ends_stay_whole(tmp_path):
    rows = [f'{i},"said ""no""\non line {i}",{"ab"[i % 2]}' for i in range(500)]
    path = tmp_path / "a.csv"
    path.write_text("mass,text,y\n" + "\n".join(rows) + "\n")
    found = thinning.thinned(str(path), Options(format="csv", target="y", text=("text",), keep=("mass",)), 50, 0)
    assert found.objects == 500
    numbers = found.data.objects["mass"].values.astype(int)
    assert found.data.objects["text"].values.tolist() == [f'said "no"\non line {i}' for i in numbers]
    assert list(found.data.lines) == [2 + 2 * i for i in numbers]


def test_packed_files_and_the_width_of_sparse_rows(tmp_path):
    path = tmp_path / "a.svm.gz"
    path.write_bytes(gzip.compress((text_of("svmlight") + "1 1:2 5000:1 # the widest\n").encode()))
    found = thinning.thinned(str(path), Options(format="svmlight"), 100, 0)
    assert found.data.objects.shape == (100, 5000)


def test_errors_name_the_line_of_the_whole_file(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n" * 400 + "0 1:x\n" * 400)
    with pytest.raises(DataFileError, match=r"a.svm:(4|5|6|7|8)\d\d: \"1:x\" is not index:value"):
        thinning.thinned(str(path), Options(format="svmlight"), 50, 0)


@pytest.mark.parametrize("format_", ["csv", "svmlight", "jsonl", "fasta"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_pass_that_was_killed_goes_on_with_the_same_sample(path, format_, packed, tmp_path, monkeypatch):
    name = path(format_)
    if format_ == "csv":  # cells that go on in the next line, and perhaps in the next piece
        text = text_of("csv").replace("red", '"red\nwine"')
        (tmp_path / "a.csv").write_text(text)
    if packed:
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        name = f"{name}.gz"
    options = Options(format=format_, target="y")
    small = streaming.Sizes(piece=1000, head=2000)
    monkeypatch.setattr(thinning, "begin", lambda file, options: streaming.begin(file, options, small))
    expected = thinning.thinned(name, options, 200, 0)
    monkeypatch.setattr(reservoir, "_SECONDS", 0.0)
    real = thinning.pieces

    def killed(*given):
        for place, piece in enumerate(real(*given)):
            if place == 3:
                raise InterruptedError
            yield piece

    kept = reservoir.Kept(tmp_path / "sample" / "state.json", "this pass")
    monkeypatch.setattr(thinning, "pieces", killed)
    for _ in range(3):
        with pytest.raises(InterruptedError):
            thinning.thinned(name, options, 200, 0, kept)
    monkeypatch.setattr(thinning, "pieces", real)
    found = thinning.thinned(name, options, 200, 0, kept)
    assert (found.objects, found.size) == (expected.objects, expected.size)
    assert list(found.data.lines) == list(expected.data.lines)
    assert list(found.data.labels) == list(expected.data.labels)
    monkeypatch.setattr(thinning, "pieces", killed)  # nothing is read once the pass has ended
    again = thinning.thinned(name, options, 200, 0, kept)
    assert list(again.data.lines) == list(expected.data.lines)
    assert reservoir.Kept(tmp_path / "sample" / "state.json", "another pass").found() is None
