"""`stream`: the objects of a file in blocks, so that a file of any length takes little memory.

Formats made of lines are read piece by piece; the others (arrays, archives, folders, XML) are read whole and handed
out in parts.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator

from mercer.readers.data import Data
from mercer.readers.delimited import Form, delimiter_of, form_of, read_rows
from mercer.readers.detect import detect
from mercer.readers.formats import FORMATS
from mercer.readers.opening import STDIN, ByteStream, open_stream
from mercer.readers.options import Options
from mercer.readers.reading import completed, format_of, read, read_source
from mercer.readers.rows import Unfinished, blocks_of, unfinished
from mercer.readers.source import BYTE_ORDER_MARKS, Source, empty

_PIECE = 1 << 18  # bytes read at a time: larger pieces take more memory, smaller ones call the reader more often
_HEAD = 1 << 16  # bytes that must show the format and the form of a table
_ROWS = 5000  # objects per block of a file that is read whole; the reader's memory is spent already


def _after_line(text: bytes) -> int:
    return text.rfind(b"\n") + 1


def _before_header(text: bytes) -> int:
    return text.rfind(b"\n>") + 1


def _after_gap(text: bytes) -> int:
    ends = [match.end() for match in re.finditer(rb"\n[ \t\r]*\n", text)]
    return ends[-1] if ends else 0


_CUTS: dict[str, Callable[[bytes], int]] = {
    "lines": _after_line,
    "records": _before_header,
    "paragraphs": _after_gap,
}
"""Where a piece may end: after the last whole object."""


def stream(path: str | os.PathLike[str], options: Options) -> Iterator[Data]:
    """Blocks of objects in the order of the file; an error is raised when its block is reached."""
    name = os.fspath(path)
    if name != STDIN and os.path.isdir(name):
        yield from _parts(read(name, options))
        return
    with open_stream(name, options) as file:
        head = b""
        while len(head) < _HEAD and (more := file.read(_PIECE)):
            head += more
        first = Source(file.name, head[: _after_line(head) or len(head)], options.encoding)
        format_ = None if _is_wide(head, options) else options.format or detect(first)
        pieces = None if format_ is None else FORMATS[format_].pieces
        if format_ is None or pieces is None:
            source = file.whole(head)
            yield from _parts(read_source(source, format_of(source, options), options))
        elif format_ in ("csv", "tsv"):
            yield from _counted(_tables(file, head, first, format_, options))
        else:
            sources = (Source(file.name, *piece) for piece in _pieces(file, head, _CUTS[pieces], options.encoding))
            yield from _counted(read_source(source, format_, options) for source in sources if source.content.strip())


def _is_wide(head: bytes, options: Options) -> bool:
    """Whether characters take several bytes each, so that bytes cannot be searched for line ends."""
    encoding = (options.encoding or "").lower().replace("-", "").replace("_", "")
    marked = any(head.startswith(mark) for mark, name in BYTE_ORDER_MARKS if name != "utf-8-sig")
    return marked or encoding.startswith(("utf16", "utf32"))


def _parts(data: Data) -> Iterator[Data]:
    for start in range(0, len(data), _ROWS):
        yield data.part(start, start + _ROWS)


def _counted(blocks: Iterator[Data]) -> Iterator[Data]:
    """Blocks that know how many objects came before them; only the first has notes."""
    before = 0
    for block in blocks:
        if len(block):
            yield dataclasses.replace(block, before=before, notes=() if before else block.notes)
        before += len(block)


def _pieces(
    file: ByteStream, head: bytes, cut: Callable[[bytes], int], encoding: str | None = None
) -> Iterator[tuple[bytes, str | None, int]]:
    """Whole objects, their encoding, and the number of their first line."""
    pending, line = [head], 1
    fresh = head
    while True:
        place = cut(b"".join(pending)) if cut(fresh) else 0
        if place:
            text = b"".join(pending)
            yield text[:place], encoding, line
            line += text.count(b"\n", 0, place)
            pending = [text[place:]]
        fresh = file.read(_PIECE)
        if not fresh:
            break
        pending.append(fresh)
    if rest := b"".join(pending):
        yield rest, encoding, line


def _tables(file: ByteStream, head: bytes, first: Source, format_: str, options: Options) -> Iterator[Data]:
    """Pieces of one table, all of the form that its first rows have."""
    delimiter, notes = delimiter_of(first, options, format_)
    form: Form | None = None
    carried, line = b"", 1
    for piece, last in _ahead(piece for piece, _, _ in _pieces(file, head, _after_line)):
        carried += piece
        source = Source(file.name, carried, options.encoding, line)
        fresh = form is None
        try:
            if form is None:
                rows = next(blocks_of(source.name, source.text, delimiter, first=line), None)
                if not last and (rows is None or len(rows.rows) < 2):
                    continue  # nothing but blank lines and a header so far
                if rows is None:
                    raise empty(file.name)
                form = form_of(source.name, rows, delimiter, options, notes)
            data = read_rows(source, form, options, format_, notes, fresh=fresh)
        except Unfinished as error:
            if last:
                raise unfinished(file.name, error) from None
            form = None if fresh else form
            continue  # a quoted cell goes on in the next piece
        yield completed(data, options)
        options = dataclasses.replace(options, id=data.detail["id"] or "") if fresh else options
        line += carried.count(b"\n")
        carried = b""


def _ahead(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Pieces, and whether each is the last."""
    held: bytes | None = None
    for piece in pieces:
        if held is not None:
            yield held, False
        held = piece
    if held is not None:
        yield held, True
