"""Packed files: read as they are, refused as soon as they turn out to be bombs."""

import bz2
import gzip
import json
import lzma
import tracemalloc

import pytest

from mercer.errors import DataFileError
from mercer.readers.opening import _UNPACKED_FREELY, open_source
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.readers.streaming import stream
from mercer.readers.tables import LONGEST_NAME

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lambda content: lzma.compress(content, preset=0)}
ROWS = b"1,2,p\n" * (_UNPACKED_FREELY // 6 + 200_000)


@pytest.mark.parametrize("packer", PACKERS)
def test_bombs_are_refused(tmp_path, packer):
    path = tmp_path / f"bomb.csv.{packer}"
    path.write_bytes(PACKERS[packer](b"a,b,y\n" + ROWS))
    assert path.stat().st_size * 250 < len(ROWS)
    for how in (lambda: open_source(str(path), Options()), lambda: list(stream_lengths(path))):
        with pytest.raises(DataFileError, match="unpacks to more than 250 times its size") as told:
            how()
        assert told.value.__notes__ == ["If you trust it, unpack it and give the unpacked file."]


def stream_lengths(path):
    """What is read until the refusal; few rows at a time, since each costs time here."""
    from mercer.readers.opening import open_stream

    with open_stream(str(path), Options()) as file:
        while part := file.read(1 << 20):
            yield len(part)


def test_a_bomb_takes_no_more_memory_than_is_free_to_all(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"\0" * (4 * _UNPACKED_FREELY)))
    tracemalloc.start()
    try:
        with pytest.raises(DataFileError):
            open_source(str(path), Options())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * _UNPACKED_FREELY


def test_small_files_may_be_packed_as_tightly_as_they_like(tmp_path):
    path = tmp_path / "same.csv.bz2"
    path.write_bytes(bz2.compress(b"a,b,y\n" + b"1,2,p\n3,4,q\n" * 20_000))
    assert path.stat().st_size * 250 < 12 * 20_000
    assert len(read(path, target="y")) == 40_000
    assert sum(len(block) for block in stream(path, Options(target="y"))) == 40_000


def test_one_long_line_is_told_soon(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("a" * 11_000_000)
    with pytest.raises(DataFileError, match=r"line.csv:1: field larger than field limit"):
        read(path)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_names_of_columns_have_an_end(tmp_path, ending):
    """Nobody means a name of megabytes: it used to be copied into kernels and models until these were too large."""
    for length, place in ((LONGEST_NAME, None), (LONGEST_NAME + 1, 1)):
        path, long = tmp_path / f"{length}.{ending}", "a" * length
        rows = [json.dumps({long: n, "b": n % 3, "y": n % 2}) for n in range(9)]
        text = f"{long},b,y\n" + "1,2,0\n2,3,1\n" * 9 if ending == "csv" else "\n".join(rows)
        path.write_text(text)
        if place is None:
            assert set(read(path, target="y").objects) >= {"b"}
        else:
            with pytest.raises(DataFileError, match="column 1 has a name of 10,001 characters, more than 10,000"):
                read(path, target="y")


def test_wide_tables_are_refused_before_their_columns_are_made(tmp_path):
    path = tmp_path / "wide.csv"
    names = ",".join(f"c{number}" for number in range(200_001))
    path.write_text(f"{names}\n" + ",".join("1" for _ in range(200_001)) + "\n")
    with pytest.raises(DataFileError, match="200,001 columns, more than 200,000") as told:
        read(path, target="c0")
    assert "--max-features" in told.value.__notes__[0]
