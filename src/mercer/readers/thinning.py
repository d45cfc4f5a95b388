"""`thinned`: a random sample of the objects of a file of any size, read like a small file.

One pass picks the text of objects (lines, records, rows), and the reader of the format reads these. So kinds of
columns, labels and useless columns are detected as in any file, from objects in all its parts.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._progress import reporting
from mercer._types import Indices
from mercer.readers import batches
from mercer.readers.data import Data
from mercer.readers.delimited import Form, delimiter_of, form_of
from mercer.readers.opening import ByteStream, open_stream
from mercer.readers.options import Options
from mercer.readers.problems import relined
from mercer.readers.reading import read_source
from mercer.readers.reservoir import Kept, Reservoir, as_bytes, as_text
from mercer.readers.rows import Unfinished, blocks_of
from mercer.readers.source import Source
from mercer.readers.streaming import Begun, begin, pieces

_PIECE = 1 << 22
"""Bytes searched for objects at a time: a few megabytes, which Python's built-in functions search at a gigabyte per
second."""
_INDEX = re.compile(rb"(\d+):[^\s#]*[ \t\r]*(?:#[^\n]*)?$", re.MULTILINE)
"""Matches the last feature of a line of svmlight."""
_RECORD = re.compile(rb"(?<=\n)(?=>)")


@final
@dataclass(frozen=True, eq=False)
class Thinned:
    """Some objects of a file, and the options to read all of it in the same way."""

    data: Data
    """The objects in the order of the file, with their line numbers; objects without names are named by their position
    in the file."""
    options: Options
    """The options, with the detected format, delimiter and header."""
    objects: int
    """The number of objects in the file."""
    size: int
    """The unpacked size of the file in bytes."""


def thinned(path: str, options: Options, most: int, seed: int, kept: Kept | None = None) -> Thinned:
    """A uniform random sample of the objects; the same for the same file and seed.

    `options` must name the format: one that is read in batches, by lines or by records. With `kept`, a pass that was
    killed goes on from what is written there.
    """
    assert options.format is not None
    if options.format in batches.IN_BATCHES:
        return _of_rows(path, options.format, options, most, seed)
    with open_stream(path, options) as file:
        begun = begin(file, options)
        form = _form(begun, options) if options.format in ("csv", "tsv") else None
        seen = _Seen(Reservoir(most, seed), options.format, headed=form is not None and form.headed)
        _see(seen, file, begun, kept)
    if form is not None:
        options = dataclasses.replace(options, delimiter=form.delimiter, header=form.headed)
    found = sorted(seen.drawn.kept, key=lambda one: one[0])
    source, lines = _together([*seen.head, *found], file.name, options)
    data = _read(source, options, lines, np.array([place for place, _, _ in found], dtype=np.intp))
    return Thinned(_widened(data, seen.widest), options, seen.drawn.seen, seen.size)


def _see(seen: _Seen, file: ByteStream, begun: Begun, kept: Kept | None) -> None:
    """Look at all of a file, or at what an earlier pass has not seen of it."""
    before = None if kept is None else kept.found()
    if before is not None:
        seen.resume(before)
    if before is not None and before["done"]:
        return
    with reporting("Sampling the file") as report:
        for piece, last in pieces(file, begun, _PIECE, seen.size):
            seen.add(piece, last=last)
            report(file.share)
            if kept is not None and (last or kept.is_due()):
                kept.write({**seen.told(), "done": last})


@final
class _Seen:
    """What has been seen of a file so far."""

    def __init__(self, drawn: Reservoir, format_: str, *, headed: bool) -> None:
        self.drawn, self._format, self._headed = drawn, format_, headed
        self._line, self._carried = 1, b""
        self.size, self.widest = 0, 0
        self.head: list[tuple[int, int, bytes]] = []

    def add(self, piece: bytes, *, last: bool) -> None:
        """The next bytes of the file."""
        text = self._carried + piece
        starts, parts, self._carried = _objects(text, self._format, self._line, last=last)
        self._line += text.count(b"\n") - self._carried.count(b"\n")
        self.size += len(piece)
        if self._headed and not self.head and parts:
            self.head = [(0, starts[0], parts[0])]
            starts, parts = starts[1:], parts[1:]
        if self._format == "svmlight":
            self.widest = max(self.widest, *map(int, _INDEX.findall(text)), 0)
        self.drawn.offer(starts, parts)

    def told(self) -> dict[str, Any]:
        """All of this, as numbers and text: bytes are told by their numbers, as characters."""
        return {
            "line": self._line,
            "carried": self._carried.decode("latin-1"),
            "size": self.size,
            "widest": self.widest,
            "head": as_text(self.head),
            "drawn": self.drawn.told(),
        }

    def resume(self, told: dict[str, Any]) -> None:
        """Go on from there."""
        self._line, self._carried = told["line"], told["carried"].encode("latin-1")
        self.size, self.widest = told["size"], told["widest"]
        self.head = as_bytes(told["head"])
        self.drawn.resume(told["drawn"])


def _of_rows(path: str, format_: str, options: Options, most: int, seed: int) -> Thinned:
    rows, each = batches.rows_in(path, format_)
    places = np.sort(np.random.default_rng(seed).choice(rows, size=min(most, rows), replace=False))
    data = _read(batches.chosen(path, format_, options, places), options, places + 1, places)
    return Thinned(data, options, rows, int(rows * each))


def _form(begun: Begun, options: Options) -> Form:
    """Detect the format of a table from its first lines, once for the whole file."""
    assert options.format is not None
    first = begun.first
    delimiter, notes = delimiter_of(first, options, options.format)
    try:
        rows = next(blocks_of(first.name, first.text, delimiter), None)
    except Unfinished:  # a quoted cell longer than the head of the file
        rows = None
    if rows is None:
        return Form(delimiter, (), bool(options.header), 1)
    return form_of(first.name, rows, delimiter, options, notes)


def _objects(text: bytes, format_: str, line: int, *, last: bool) -> tuple[Sequence[int], list[bytes], bytes]:
    """The objects in a piece of a file, their first lines, and the rest, which belongs to the next piece."""
    if format_ == "fasta":
        return (*_records(text, line), b"")
    parts = text.split(b"\n")
    starts, rest = list(range(line, line + len(parts))), b""
    if format_ in ("csv", "tsv") and b'"' in text:
        starts, parts, rest = _unbroken(starts, parts, last=last)
    comment = b"#" if format_ == "svmlight" else b"\n"  # with which no line begins
    full = [place for place, part in enumerate(parts) if part.strip() and not part.startswith(comment)]
    if len(full) < len(parts):
        starts, parts = [starts[place] for place in full], [parts[place] for place in full]
    return starts, parts, rest


def _records(text: bytes, line: int) -> tuple[list[int], list[bytes]]:
    """The records of FASTA; comments at the beginning of old files belong to no record."""
    parts = _RECORD.split(text)
    starts = line + np.cumsum([0, *(part.count(b"\n") for part in parts)])
    full = [place for place, part in enumerate(parts) if part.startswith(b">")]
    return [int(starts[place]) for place in full], [parts[place] for place in full]


def _unbroken(starts: list[int], parts: list[bytes], *, last: bool) -> tuple[list[int], list[bytes], bytes]:
    """Lines, joined if the line end is within quotes."""
    odd = np.cumsum([part.count(b'"') for part in parts]) % 2
    firsts = np.concatenate([[0], 1 + np.flatnonzero(odd[:-1] == 0)])
    rows = [b"\n".join(parts[low:high]) for low, high in zip(firsts, [*firsts[1:], len(parts)], strict=True)]
    kept = [starts[place] for place in firsts]
    if not odd[-1] or last:
        return kept, rows, b""
    return kept[:-1], rows[:-1], rows[-1]


def _together(found: Sequence[tuple[int, int, bytes]], name: str, options: Options) -> tuple[Source, Indices]:
    """A file of these objects, and the line number of each of its lines in the whole file."""
    lines: list[int] = []
    for _, line, part in found:
        lines += range(line, line + part.count(b"\n") + (not part.endswith(b"\n")))
    content = b"".join(part if part.endswith(b"\n") else part + b"\n" for _, _, part in found)
    return Source(name, content, options.encoding), np.array(lines, dtype=np.intp)


def _read(source: Source, options: Options, lines: Indices, places: Indices) -> Data:
    """The objects of a thinned file, with line and object numbers of the whole file."""
    assert options.format is not None

    def line_of(line: int) -> int:
        return int(lines[min(line, len(lines)) - 1])

    with relined(source.name, line_of):
        data = read_source(source, options.format, options)
    more: dict[str, Any] = {} if data.lines is None else {"lines": [line_of(line) for line in data.lines]}
    if data.ids is None and len(data) == len(places):
        more["ids"] = [str(place + 1) for place in places]
    return dataclasses.replace(data, **more)


def _widened(data: Data, widest: int) -> Data:
    """Sparse rows with as many columns as any row of the file needs."""
    if data.format != "svmlight":
        return data
    import scipy.sparse as sp

    matrix = data.objects
    width = max(matrix.shape[1], widest - int(data.detail["first"]) + 1)
    wide = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))
    return dataclasses.replace(data, objects=wide)
