"""The conformance suite of readers: every format, on well-formed files and on everything that can be wrong with one."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import itertools
import lzma
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mercer.errors import DataFileError
from mercer.inputs.vectors import Vectors
from mercer.readers.data import Data
from mercer.readers.formats import FORMATS
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.readers.streaming import Sizes, stream
from mercer.testing.checks import Check, named, require, run_all
from mercer.testing.file_samples import FileSample, file_samples

Change = Callable[[bytes], bytes] | bytes
"""What is done to the content of a file, or of every file in a folder; or other content in its place."""

_SMALL = (Sizes(piece=64, head=200, rows=3), Sizes(piece=150, head=300, rows=7))
_PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
_PILE = 30  # repetitions of one line: more than a small piece holds


def reader_checks(sample: FileSample) -> Iterator[Check]:
    """Every property that the reader of a format promises, as named checks; the format is looked up in `FORMATS`."""
    if sample.folder:
        return _folder_checks(sample)
    return _binary_checks(sample) if sample.binary else _text_checks(sample)


def check_reader(sample: FileSample) -> None:
    """Run every check of `reader_checks`; AssertionError lists those that fail."""
    run_all(str(sample), reader_checks(sample))


def objects(sample: FileSample) -> None:
    """A well-formed file gives its objects, labels and lines; its format is detected where it can be."""
    data = _read(sample)
    require(data.format == sample.format, f"the format is said to be {data.format}")
    _require_same(sample, data, "the file")
    if sample.labels is not None:
        found = [] if data.labels is None else np.asarray(data.labels).tolist()
        require(found == list(sample.labels), f"the labels are {found[:5]}, not {sample.labels[:5]}")
    if sample.lines is not None:
        require(list(data.lines or ()) == list(sample.lines), "objects are said to be on other lines")


def pieces(sample: FileSample) -> None:
    """Streamed, a file gives the same objects under the same names; only the first block has notes."""
    whole = _read(sample, require_target=False)
    for sizes in _SMALL:
        blocks = _streamed(sample, sizes=sizes)
        require(len(blocks) > 1, "the file is not cut into pieces")
        _require_joined(whole, blocks)
        require(not any(block.notes for block in blocks[1:]), "notes are repeated")


def ignored(sample: FileSample) -> None:
    """Blank lines and comments change nothing but the lines that objects are on, even where they fill whole pieces."""
    everywhere = (0, len(sample.parts) // 2, len(sample.parts))
    cases = [*itertools.product(sample.ignored, everywhere), *((line, 0) for line in sample.ignored_first)]
    for line, place in cases:
        content = b"".join([*sample.parts[:place], line * _PILE, *sample.parts[place:]])
        what = f"{_PILE} lines {line!r} at {place} of {len(sample.parts)}"
        whole = _read(sample, content, require_target=False)
        _require_same(sample, whole, what)
        _require_joined(whole, _streamed(sample, content), what)
        if sample.lines is not None:
            before = b"".join(sample.parts[:place]).count(b"\n")
            wanted = [number + _PILE * (number > before) for number in sample.lines]
            require(list(whole.lines or ()) == wanted, f"{what}: objects are said to be on other lines")


def packed(sample: FileSample) -> None:
    """Files compressed with gzip, bzip2 or xz give the same objects; damaged ones and zip archives are refused."""
    for ending, pack in _PACKERS.items():
        _require_same(sample, _read(sample, pack, ending=ending), f"packed as {ending}")
        if not sample.folder:
            _require_refused(sample, pack(sample.content)[:-9], what=f"cut {ending}", ending=ending)
    _require_refused(sample, _zipped, ending=".zip", what="a zip archive")


def line_ends(sample: FileSample) -> None:
    """Lines may end as on Windows or old Macs, and the last needs no line end."""
    for end in (b"\r\n", b"\r"):
        data = _read(sample, sample.content.replace(b"\n", end))
        _require_same(sample, data, f"lines ending in {end!r}")
        if sample.lines is not None:
            require(list(data.lines or ()) == list(sample.lines), f"lines ending in {end!r} are counted differently")
    windows = _streamed(sample, sample.content.replace(b"\n", b"\r\n"))
    _require_joined(_read(sample, require_target=False), windows, "lines ending in \\r\\n")
    _require_same(sample, _read(sample, sample.content.rstrip(b"\n")), "a last line without an end")


def encodings(sample: FileSample) -> None:
    """A byte order mark or the user gives the encoding; an invalid byte is reported with its line."""
    for encoding in ("utf-8-sig", "utf-16"):
        _require_same(sample, _read(sample, sample.content.decode().encode(encoding)), encoding)
    latin = _read(sample, sample.content.decode().encode("latin-1"), encoding="latin-1")
    _require_same(sample, latin, "latin-1")
    _require_refused(sample, what="an unknown encoding", encoding="nonsense")
    line = sample.content.count(b"\n") + 1
    for method in (_read, _streamed):
        _require_refused(sample, sample.content + b"\xff\n", line, "a wrong byte", method=method)
        _require_refused(sample, sample.content + b"\0\n", line, "a NUL", method=method)


def empty(sample: FileSample) -> None:
    """A file without objects is refused, whole or streamed, whatever format is given."""
    contents = [b"", b"\n \n"] if not sample.binary else [b""]
    contents += [line * _PILE for line in (*sample.ignored, *sample.ignored_first) if not sample.binary]
    settings: tuple[dict[str, Any], ...] = ({}, {"format": sample.format})
    for content, method, given in itertools.product(contents, (_read, _streamed), settings):
        _require_refused(sample, content, what=f"a file of {content[:20]!r}", method=method, **given)


def cut_off(sample: FileSample) -> None:
    """A file that ends too early is refused, or gives its first objects; only the last of them may be cut."""
    content = sample.content
    for size in range(len(content) // 20, len(content) - 1, len(content) // 13):
        what = f"the first {size} bytes"
        try:
            data = _read(sample, content[:size])
        except Exception:
            _require_refused(sample, content[:size], what=what)
            continue
        require(not sample.binary, f"{what} are read without an error")
        found = plain(data)
        require(len(found) <= len(sample.objects), f"{what} hold more objects than the file")
        require(found[:-1] == list(sample.objects[: len(found) - 1]), f"{what} hold other objects than the file")


def damaged(sample: FileSample) -> None:
    """Content of another format, and bytes of no format, are read as something or refused; nothing else happens."""
    noise = np.random.default_rng(0).integers(0, 256, 3000, dtype=np.uint8).tobytes()
    others = [other.content for other in file_samples() if other.format != sample.format and other.parts]
    flipped = bytearray(sample.content)
    for place in range(7, len(flipped), len(flipped) // 9):
        flipped[place] ^= 0x55
    for content in (*others, noise, b"\0" * 500, bytes(flipped), sample.content[:200] + noise):
        what = f"a file of {content[:20]!r}"
        for method in (_read, _streamed):
            try:
                method(sample, content, format=sample.format)
            except Exception:
                _require_refused(sample, content, what=what, method=method, format=sample.format)


def broken(sample: FileSample) -> None:
    """Mistakes are reported with their line, whole or streamed."""
    if sample.broken is None:
        return
    last, number = sample.broken
    line = sample.content.count(b"\n") + number
    for method in (_read, _streamed):
        _require_refused(sample, sample.content + last, line, f"{last!r} at the end", method=method)


def places(sample: FileSample) -> None:
    """A missing file, a file instead of a folder (or the reverse) and one beyond the size cap are refused."""
    given = {**sample.settings, "format": sample.format}
    with tempfile.TemporaryDirectory() as folder:
        absent = os.path.join(folder, "absent.csv")
        _require_error(lambda: read(absent, **given), ["absent.csv"], "a missing file")
        other = os.path.join(folder, "there")
        if FORMATS[sample.format].folder:
            _write(other, b"1 2 3\n")
        else:
            os.mkdir(other)
        for method in (read, _listed):
            _require_error(
                functools.partial(method, other, **given), ["there"], "a file instead of a folder, or the reverse"
            )
    _require_refused(sample, what="a file beyond the cap", max_bytes=10)


_SHARED = (objects, packed, places)
_folder_checks = named("reader", *_SHARED)
_binary_checks = named("reader", *_SHARED, pieces, empty, cut_off, damaged)
_text_checks = named("reader", *_SHARED, pieces, empty, cut_off, damaged, ignored, line_ends, encodings, broken)


def plain(data: Data) -> list[Any]:
    """The objects as plain values that can be compared: see `FileSample.objects`."""
    if data.kind == "table":
        columns = {name: column.values.tolist() for name, column in data.objects.items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if data.kind == "graphs":
        return [data.objects.adjacency(number).tolist() for number in range(len(data))]
    if data.kind in ("vectors", "gram"):
        rows = Vectors(data.objects).dense()
        return [{column: value for column, value in enumerate(row) if value} for row in rows.tolist()]
    return list(data.objects)


def _read(sample: FileSample, change: Change = bytes, *, ending: str = "", **settings: Any) -> Data:
    with tempfile.TemporaryDirectory() as folder:
        return read(_written(sample, folder, change, ending), **{**sample.settings, **settings})


def _streamed(
    sample: FileSample, change: Change = bytes, *, ending: str = "", sizes: Sizes = _SMALL[0], **settings: Any
) -> list[Data]:
    with tempfile.TemporaryDirectory() as folder:
        return _listed(
            _written(sample, folder, change, ending),
            sizes=sizes,
            **{**sample.settings, "require_target": False, **settings},
        )


def _listed(path: str, *, sizes: Sizes = _SMALL[0], **settings: Any) -> list[Data]:
    return list(stream(path, Options(**settings), sizes))


def _written(sample: FileSample, folder: str, change: Change, ending: str) -> str:
    """Write the file or folder; returns its path."""
    path = os.path.join(folder, sample.name)
    files = {os.path.join(sample.name, name): content for name, content in sample.folder.items()}
    for name, content in (files or {sample.name: sample.content}).items():
        _write(os.path.join(folder, name) + ending, change if isinstance(change, bytes) else change(content))
    return path if files else path + ending


def _write(path: str, content: bytes) -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    return path


def _zipped(content: bytes) -> bytes:
    packed_content = io.BytesIO()
    with zipfile.ZipFile(packed_content, "w") as archive:
        archive.writestr("inside.txt", content)
    return packed_content.getvalue()


def _require_same(sample: FileSample, data: Data, what: str) -> None:
    found = plain(data)
    require(len(found) == len(data) == len(sample.objects), f"{what}: {len(found)} objects, not {len(sample.objects)}")
    pairs = zip(found, sample.objects, strict=True)
    wrong = next((place for place, (got, wanted) in enumerate(pairs) if got != wanted), None)
    if wrong is not None:
        require(False, f"{what}: object {wrong} is {found[wrong]!r}, not {sample.objects[wrong]!r}")


def _require_joined(whole: Data, blocks: list[Data], what: str = "the file") -> None:
    """Blocks together must be the whole file, with the same names and lines."""
    joined = [one for block in blocks for one in plain(block)]
    require(joined == plain(whole), f"{what}: streamed objects differ from those of the whole file")
    names = [block.name_of(place) for block in blocks for place in range(len(block))]
    require(names == [whole.name_of(place) for place in range(len(whole))], f"{what}: streamed names differ")
    if whole.lines is not None:
        lines = [line for block in blocks for line in block.lines or ()]
        require(lines == list(whole.lines), f"{what}: streamed lines differ")


def _require_refused(
    sample: FileSample,
    change: Change = bytes,
    line: int | None = None,
    what: str = "",
    *,
    method: Callable[..., Any] = _read,
    **settings: Any,
) -> None:
    names = [os.path.splitext(os.path.basename(name))[0] for name in (sample.name, *sample.folder)]
    where = [sample.name] if not sample.folder else names
    _require_error(lambda: method(sample, change, **settings), where, f"{what}, {method.__name__.strip('_')}", line)


def _require_error(call: Callable[[], object], names: list[str], what: str, line: int | None = None) -> None:
    """The call must raise Mercer's own error, which names the file and the line and says what to do."""
    try:
        call()
    except DataFileError as error:
        message = str(error)
        require(any(name in message for name in names), f"{what}: the message does not name the file: {message}")
        require(line is None or f":{line}:" in message, f"{what}: the message does not name line {line}: {message}")
        require(any(getattr(error, "__notes__", ())), f"{what}: the message does not say what to do: {message}")
        return
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__} instead of an error of Mercer: {error}") from error
    require(False, f"{what}: read without an error")
