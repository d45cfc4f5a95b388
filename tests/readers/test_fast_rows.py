"""Large plain text through pyarrow: the same as Python's reader, and left to it where it is not plain."""

import numpy as np
import pytest

from mercer.readers import delimited, fast_rows, read

pytest.importorskip("pyarrow")

HEAD = "a,b,c,word,y\n"
ROWS = [f"{n / 7!r},{'' if n % 5 == 0 else n}, {n}e-3 ,{('x', ' y ', 'NA', 'Größe')[n % 4]},{n % 3}" for n in range(60)]


def tables(path, monkeypatch, **options):
    """The same file read by pyarrow and by Python."""
    monkeypatch.setattr(fast_rows, "_LARGE", 0)
    calls = []

    def watched(*given):
        calls.append(fast_rows.plain_columns(*given))
        return calls[-1]

    monkeypatch.setattr(delimited, "plain_columns", watched)
    fast = read(path, **options)
    monkeypatch.setattr(fast_rows, "_LARGE", 1 << 60)
    return fast, read(path, **options), calls[0] is not None


def same(one, other):
    assert list(one.objects) == list(other.objects)
    assert (one.notes, one.labels.tolist(), list(one.lines)) == (other.notes, other.labels.tolist(), list(other.lines))
    for key, column in one.objects.items():
        assert column.kind == other.objects[key].kind
        np.testing.assert_array_equal(column.values, other.objects[key].values)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("head", "options"), [(HEAD, {"target": "y"}), ("", {"target": "-1"}), (HEAD, {"id": "a"})])
def test_the_same_table(tmp_path, monkeypatch, end, head, options):
    path = tmp_path / "t.csv"
    path.write_bytes((head.replace("\n", end) + end.join(ROWS) + end).encode())
    fast, slow, used = tables(path, monkeypatch, **options)
    assert used
    same(fast, slow)


@pytest.mark.parametrize(
    "content",
    [
        HEAD + '"1",2,3,x,0\n' + "\n".join(ROWS),
        HEAD + "\n\n" + "\n".join(ROWS),
        "\ufeff" + HEAD + "\n".join(ROWS),
        HEAD + "\r".join(ROWS),
    ],
)
def test_what_is_not_plain_is_left_to_python(tmp_path, monkeypatch, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())
    fast, slow, used = tables(path, monkeypatch, target="y")
    assert not used
    same(fast, slow)


def test_numbers_that_arrow_does_not_read(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "\n".join(f"+{n},{n % 2}" for n in range(0, 80, 2)))
    fast, slow, used = tables(path, monkeypatch)
    assert used
    same(fast, slow)
