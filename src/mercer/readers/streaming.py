"""`stream`: the objects of a file in blocks, so a file of any length takes little memory.

Line-based formats are read piece by piece; the others (arrays, archives, folders, XML) are read whole and returned in
parts.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from mercer.readers.data import Data
from mercer.readers.delimited import Form, delimiter_of, form_of, read_rows
from mercer.readers.formats import FORMATS, detect
from mercer.readers.opening import STDIN, ByteStream, open_stream
from mercer.readers.options import Options
from mercer.readers.reading import check_format, completed, format_of, read, read_source
from mercer.readers.rows import Unfinished, blocks_of, unfinished
from mercer.readers.source import BYTE_ORDER_MARKS, NoObjects, Source, empty


@final
@dataclass(frozen=True)
class Sizes:
    """How much of a file is read at a time."""

    piece: int = 1 << 18
    """Bytes read at a time: larger pieces take more memory, smaller ones call the reader more often."""
    head: int = 1 << 16
    """Bytes from which the format and the form of a table are detected."""
    rows: int = 5000
    """Objects per block of a file that is read whole, so that memory is already used."""


_USUAL = Sizes()


def _after_line(text: bytes) -> int:
    return text.rfind(b"\n") + 1


def _before_header(text: bytes) -> int:
    return text.rfind(b"\n>") + 1


def _after_gap(text: bytes) -> int:
    """After the blank line below a graph; comments between two graphs belong to the second."""
    ends = [match.end() for match in re.finditer(rb"^[ \t]*[^#\s][^\n]*\n[ \t\r]*\n", text, re.MULTILINE)]
    return ends[-1] if ends else 0


_CUTS: dict[str, Callable[[bytes], int]] = {
    "lines": _after_line,
    "records": _before_header,
    "paragraphs": _after_gap,
}
"""Where a piece may end: after the last whole object."""

_Pieces = Iterator[tuple[bytes, bool]]
"""Whole objects as they are written, and whether they are the last."""


def stream(path: str | os.PathLike[str], options: Options, sizes: Sizes = _USUAL) -> Iterator[Data]:
    """Blocks of objects in the order of the file; an error is raised when its block is reached."""
    check_format(options)
    name = os.fspath(path)
    if name != STDIN and os.path.isdir(name):
        yield from _parts(read(name, options), sizes.rows)
        return
    with open_stream(name, options) as file:
        head = b""
        while len(head) < sizes.head and (more := file.read(sizes.piece)):
            head += more
        first = Source(file.name, head[: _after_line(head) or len(head)], options.encoding)
        format_ = None if _is_wide(head, options) else options.format or detect(first)
        cut = None if format_ is None or options.whole_files else _CUTS.get(FORMATS[format_].pieces or "")
        if format_ is None or cut is None:
            source = file.whole(head)
            yield from _parts(read_source(source, format_of(source, options), options), sizes.rows)
            return
        pieces = _pieces(file, head, cut, sizes.piece)
        blocks = _tables(pieces, first, format_, options) if format_ in ("csv", "tsv") else None
        yield from _counted(blocks or _blocks(pieces, file.name, format_, options))


def _is_wide(head: bytes, options: Options) -> bool:
    """Whether characters take several bytes each, so that bytes cannot be searched for line ends."""
    encoding = (options.encoding or "").lower().replace("-", "").replace("_", "")
    marked = any(head.startswith(mark) for mark, name in BYTE_ORDER_MARKS if name != "utf-8-sig")
    return marked or encoding.startswith(("utf16", "utf32"))


def _parts(data: Data, rows: int) -> Iterator[Data]:
    return _counted(data.take(slice(start, start + rows)) for start in range(0, len(data), rows))


def _counted(blocks: Iterator[Data]) -> Iterator[Data]:
    """Blocks with the number of objects before them; only the first has notes."""
    before = 0
    for block in blocks:
        if len(block):
            yield dataclasses.replace(block, before=before, notes=() if before else block.notes)
        before += len(block)


def _pieces(file: ByteStream, head: bytes, cut: Callable[[bytes], int], size: int) -> _Pieces:
    pending, fresh = [head], head
    while more := file.read(size):
        if cut(fresh):  # avoids joining pending pieces while a long object continues
            text = b"".join(pending)
            place = cut(text)
            yield text[:place], False
            pending = [text[place:]]
        pending.append(more)
        fresh = more
    yield b"".join(pending), True


def _blocks(pieces: _Pieces, name: str, format_: str, options: Options) -> Iterator[Data]:
    """Pieces of a file, without those that have no objects; at least one must have some."""
    line, nothing = 1, empty(name)
    fresh = True
    for text, _ in pieces:
        source = Source(name, text, options.encoding, line)
        line += text.count(b"\n")
        try:
            data = read_source(source, format_, options)
        except NoObjects as error:
            nothing = error
            continue
        yield data
        options = _like(data, options) if fresh else options
        fresh = False
    if fresh:
        raise nothing


def _like(data: Data, options: Options) -> Options:
    """Options for the pieces after the first, whose objects are named in the same way."""
    return dataclasses.replace(options, id=data.detail["id"] or "") if "id" in data.detail else options


def _tables(pieces: _Pieces, first: Source, format_: str, options: Options) -> Iterator[Data]:
    """Pieces of one table, all of the form that its first rows have."""
    delimiter, notes = delimiter_of(first, options, format_)
    form: Form | None = None
    carried, line = b"", 1
    for piece, last in pieces:
        carried += piece
        source = Source(first.name, carried, options.encoding, line)
        fresh = form is None
        try:
            if form is None:
                rows = next(blocks_of(source.name, source.text, delimiter, first=line), None)
                if not last and (rows is None or len(rows.rows) < 2):
                    continue  # only blank lines and a header so far
                if rows is None:
                    raise empty(source.name)
                form = form_of(source.name, rows, delimiter, options, notes)
            data = read_rows(source, form, options, format_, notes, fresh=fresh)
        except Unfinished as error:
            if last:
                raise unfinished(source.name, error) from None
            form = None if fresh else form
            continue  # a quoted cell goes on in the next piece
        yield completed(data, options)
        options = _like(data, options) if fresh else options
        line += carried.count(b"\n")
        carried = b""
