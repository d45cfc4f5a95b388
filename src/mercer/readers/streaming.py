"""`stream`: the objects of a file in blocks, so a file of any length takes little memory.

Line-based formats are read piece by piece, Parquet, Arrow and npy some rows at a time; the others (archives, folders,
XML) are read whole and returned in parts.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from mercer.readers.batches import IN_BATCHES, batches
from mercer.readers.data import Data
from mercer.readers.delimited import Form, delimiter_of, form_of, read_rows
from mercer.readers.formats import FORMATS, detect
from mercer.readers.headers import without_titles
from mercer.readers.opening import PACKERS, STDIN, ByteStream, open_stream
from mercer.readers.options import Options
from mercer.readers.problems import relined
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
    """Bytes from which the format, delimiter and header are detected."""
    rows: int = 5000
    """Objects per block of a file that is read whole, so that memory is already used."""


_USUAL = Sizes()


def _after_line(text: bytes) -> int:
    return text.rfind(b"\n") + 1


def _before_header(text: bytes) -> int:
    return text.rfind(b"\n>") + 1


def _after_gap(text: bytes) -> int:
    """Split after the blank line below a graph; comments between two graphs belong to the second."""
    ends = [match.end() for match in re.finditer(rb"^[ \t]*[^#\s][^\n]*\n[ \t\r]*\n", text, re.MULTILINE)]
    return ends[-1] if ends else 0


_CUTS: dict[str, Callable[[bytes], int]] = {
    "lines": _after_line,
    "records": _before_header,
    "paragraphs": _after_gap,
}
"""For each way to split: the position after the last whole object."""

_Pieces = Iterator[tuple[bytes, bool]]
"""The text of whole objects, and whether they are the last."""
_Blocks = Iterator[tuple[Data, "Place"]]


@final
@dataclass(frozen=True)
class Place:
    """How far a file has been read: bytes, lines and objects before it. Reading can resume there."""

    offset: int = 0
    line: int = 1
    objects: int = 0


def stream(path: str | os.PathLike[str], options: Options, sizes: Sizes = _USUAL) -> Iterator[Data]:
    """Blocks of objects in the order of the file; an error is raised when its block is reached."""
    return (data for data, _ in stream_from(path, options, sizes))


def stream_from(
    path: str | os.PathLike[str], options: Options, sizes: Sizes = _USUAL, start: Place | None = None
) -> Iterator[tuple[Data, Place]]:
    """The blocks from a place on, each with the place after it."""
    check_format(options)
    name, start = os.fspath(path), start or Place()
    if name != STDIN and os.path.isdir(name):
        yield from _counted(_parts(read(name, options), sizes.rows), start)
        return
    with open_stream(name, options) as file:
        begun = begin(file, options, sizes)
        if begun.format in IN_BATCHES and can_be_mapped(name, options):
            yield from _counted(_batched(name, begun.format, options, sizes.rows, start), start)
            return
        if begun.format is None or begun.cut is None:
            source = file.whole(begun.head)
            whole = read_source(source, format_of(source, options), options)
            yield from _counted(_parts(whole, sizes.rows), start)
            return
        found = pieces(file, begun, sizes.piece, start.offset)
        tables = _tables(found, begun.first, begun.format, options, start) if begun.format in ("csv", "tsv") else None
        yield from _counted(tables or _blocks(found, file.name, begun.format, options, start), start)


@final
@dataclass(frozen=True, eq=False)
class Begun:
    """What the first bytes of a file show."""

    head: bytes
    first: Source
    """The first lines."""
    format: str | None
    """None if characters take several bytes each, so that bytes cannot be searched for line ends."""
    cut: Callable[[bytes], int] | None
    """Where a piece may end; None for files that are read whole."""


def begin(file: ByteStream, options: Options, sizes: Sizes = _USUAL) -> Begun:
    """Look at the first bytes of a file."""
    head = b""
    while len(head) < sizes.head and (more := file.read(sizes.piece)):
        head += more
    first = Source(file.name, head[: _after_line(head) or len(head)], options.encoding)
    format_ = None if _is_wide(head, options) else options.format or detect(first)
    whole = options.whole_files or (format_ == "jsonl" and first.content.lstrip()[:1] == b"[")
    cut = None if format_ is None or whole else _CUTS.get(FORMATS[format_].pieces or "")
    return Begun(head, first, format_, cut)


def can_be_mapped(path: str, options: Options) -> bool:
    """Whether rows of a binary file can be read without the others: it must be a regular file, not compressed, and not
    a Gram matrix.
    """
    return options.format != "gram" and os.path.isfile(path) and not path.lower().endswith(PACKERS)


def _batched(path: str, format_: str, options: Options, rows: int, start: Place) -> _Blocks:
    options = dataclasses.replace(options, format=format_)  # some rows may look like a Gram matrix
    for before, source in batches(path, format_, options, rows, start.line - 1):
        with relined(source.name, before.__add__):
            data = read_source(source, format_, options)
        after = before + 1 + len(data)
        if data.lines is not None:
            data = dataclasses.replace(data, lines=[before + line for line in data.lines])
        yield data, Place(0, after)
        options = options if before else _like(data, options)


def _is_wide(head: bytes, options: Options) -> bool:
    """Whether characters take several bytes each, so that bytes cannot be searched for line ends."""
    encoding = (options.encoding or "").lower().replace("-", "").replace("_", "")
    marked = any(head.startswith(mark) for mark, name in BYTE_ORDER_MARKS if name != "utf-8-sig")
    return marked or encoding.startswith(("utf16", "utf32"))


def _parts(data: Data, rows: int) -> _Blocks:
    return ((data.take(slice(start, start + rows)), Place()) for start in range(0, len(data), rows))


def _counted(blocks: _Blocks, start: Place) -> _Blocks:
    """Blocks with the number of objects before them; only the first has notes."""
    before = start.objects
    for block, place in blocks:
        if len(block):
            notes = () if before else block.notes
            yield (
                dataclasses.replace(block, before=before, notes=notes),
                dataclasses.replace(place, objects=before + len(block)),
            )
        before += len(block)


def pieces(file: ByteStream, begun: Begun, size: int, start: int = 0) -> _Pieces:
    """A file in pieces of about `size` bytes, each of whole objects; those before the byte `start` are left out."""
    head = begun.head[start:]
    if start > len(begun.head):
        file.skip_to(start)
    cut, pending, fresh = begun.cut, [head], head
    assert cut is not None, "a file that is read whole"
    while more := file.read(size):
        if cut(fresh):  # avoids joining pending pieces while a long object continues
            text = b"".join(pending)
            place = cut(text)
            yield text[:place], False
            pending = [text[place:]]
        pending.append(more)
        fresh = more
    yield b"".join(pending), True


def _blocks(pieces: _Pieces, name: str, format_: str, options: Options, start: Place) -> _Blocks:
    """Pieces of a file, without those that have no objects; at least one must have some."""
    line, offset, nothing = start.line, start.offset, empty(name)
    fresh = not start.offset
    for text, _ in pieces:
        source = Source(name, text, options.encoding, line)
        line += text.count(b"\n")
        offset += len(text)
        try:
            data = read_source(source, format_, options)
        except NoObjects as error:
            nothing = error
            continue
        yield data, Place(offset, line)
        options = _like(data, options) if fresh else options
        fresh = False
    if fresh:
        raise nothing


def _like(data: Data, options: Options) -> Options:
    """Options for the pieces after the first, whose objects are named in the same way."""
    return dataclasses.replace(options, id=data.detail["id"] or "") if "id" in data.detail else options


def _tables(pieces: _Pieces, first: Source, format_: str, options: Options, start: Place) -> _Blocks:
    """Pieces of one table, all read in the format detected from its first rows."""
    delimiter, notes = delimiter_of(first, options, format_)
    first = without_titles(first, delimiter, options, [])
    form: Form | None = None
    if start.offset:
        form = form_of(first.name, next(blocks_of(first.name, first.text, delimiter)), delimiter, options, notes)
    carried, line, offset = b"", start.line, start.offset
    for piece, last in pieces:
        carried += piece
        source = Source(first.name, carried, options.encoding, line)
        fresh = form is None
        told = list(notes)
        try:
            if form is None:
                source = without_titles(source, delimiter, options, told)
                rows = next(blocks_of(source.name, source.text, delimiter, first=line), None)
                if not last and (rows is None or len(rows.rows) < 2):
                    continue  # only blank lines and a header so far
                if rows is None:
                    raise empty(source.name)
                form = form_of(source.name, rows, delimiter, options, told)
            data = read_rows(source, form, options, format_, told, fresh=fresh)
        except Unfinished as error:
            if last:
                raise unfinished(source.name, error) from None
            form = None if fresh else form
            continue  # a quoted cell continues in the next piece
        line += carried.count(b"\n")
        offset += len(carried)
        carried = b""
        yield completed(data, options), Place(offset, line)
        options = _like(data, options) if fresh else options
