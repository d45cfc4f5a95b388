"""`stream`: the objects of a file in blocks, so that a file of any length takes little memory.

Formats made of lines are read piece by piece. The others (arrays, archives, folders, XML) are read whole and handed
out in parts.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator

from mercer.readers.data import Data
from mercer.readers.delimited import DELIMITERS, Form, delimiter_of, form_of, read_rows
from mercer.readers.detect import detect
from mercer.readers.grid import Unfinished, blocks_of, unfinished
from mercer.readers.options import Options
from mercer.readers.problems import problem
from mercer.readers.reading import of_source, read
from mercer.readers.smiles import sound
from mercer.readers.source import MARKS, STDIN, Flow, Source, flowing

_PIECE = 1 << 18
_HEAD = 1 << 16
_ROWS = 5000
_TABLES = ("csv", "tsv")
_WIDE = ("utf16", "utf32")


def _after_line(text: bytes) -> int:
    return text.rfind(b"\n") + 1


def _before_header(text: bytes) -> int:
    return text.rfind(b"\n>") + 1


def _after_gap(text: bytes) -> int:
    ends = [match.end() for match in re.finditer(rb"\n[ \t\r]*\n", text)]
    return ends[-1] if ends else 0


_CUTS: dict[str, Callable[[bytes], int]] = {
    "csv": _after_line,
    "tsv": _after_line,
    "text": _after_line,
    "labelled-text": _after_line,
    "trees": _after_line,
    "jsonl": _after_line,
    "smiles": _after_line,
    "svmlight": _after_line,
    "fasta": _before_header,
    "edges": _after_gap,
}
"""Where a piece of each format may end: behind the last whole object."""


def stream(path: str | os.PathLike[str], options: Options) -> Iterator[Data]:
    """Blocks of objects in the order of the file; errors come when the block that has them does."""
    name = os.fspath(path)
    if name != STDIN and os.path.isdir(name):
        yield from _parts(read(name, options))
        return
    with flowing(name, options) as flow:
        head = b""
        while len(head) < _HEAD and (more := flow.read(_PIECE)):
            head += more
        encoding = (options.encoding or "").lower().replace("-", "").replace("_", "")
        wide = encoding.startswith(_WIDE) or any(head.startswith(mark) for mark, kind in MARKS if kind != "utf-8-sig")
        cut = _after_line(head) or len(head)
        first = Source(flow.name, head[:cut], options.encoding)
        format_ = options.format or ("" if wide else detect(first, options))
        if wide or format_ not in _CUTS:
            source = flow.whole(head)
            yield from _parts(of_source(source, options.format or detect(source, options), options))
        elif format_ in _TABLES:
            yield from _offset(_tables(flow, head, first, format_, options))
        else:
            pieces = (
                of_source(Source(flow.name, piece, options.encoding, line), format_, options)
                for piece, line in _pieces(flow, head, _CUTS[format_])
                if piece.strip()
            )
            yield from _offset(pieces)


def _parts(data: Data) -> Iterator[Data]:
    for start in range(0, len(data), _ROWS):
        yield data.part(start, start + _ROWS)


def _offset(blocks: Iterator[Data]) -> Iterator[Data]:
    """Blocks that know how many objects came before them; what was said once is not said again."""
    before = 0
    for block in blocks:
        if len(block):
            yield dataclasses.replace(block, before=before, notes=() if before else block.notes)
        before += len(block)


def _pieces(flow: Flow, head: bytes, cut: Callable[[bytes], int]) -> Iterator[tuple[bytes, int]]:
    """Whole objects, and the number of their first line."""
    pending, line = [head], 1
    fresh = head
    while True:
        place = cut(b"".join(pending)) if cut(fresh) else 0
        if place:
            text = b"".join(pending)
            yield text[:place], line
            line += text.count(b"\n", 0, place)
            pending = [text[place:]]
        fresh = flow.read(_PIECE)
        if not fresh:
            break
        pending.append(fresh)
    if rest := b"".join(pending):
        yield rest, line


def _tables(flow: Flow, head: bytes, first: Source, format_: str, options: Options) -> Iterator[Data]:
    """Pieces of one table, all of the form that its first rows have."""
    notes: list[str] = []
    delimiter = delimiter_of(first, options, format_)
    if format_ == "csv" and delimiter != ",":
        notes.append(f"Columns are separated by a {DELIMITERS.get(delimiter, repr(delimiter))}.")
    form: Form | None = None
    carried, line = b"", 1
    for piece, last in _ahead(piece for piece, _ in _pieces(flow, head, _after_line)):
        carried += piece
        source = Source(flow.name, carried, options.encoding, line)
        fresh = form is None
        try:
            if form is None:
                rows = next(blocks_of(source.name, source.text, delimiter, first=line), None)
                if not last and (rows is None or len(rows.rows) < 2):
                    continue  # nothing but blank lines and a head so far
                if rows is None:
                    raise problem(flow.name, "the file is empty")
                form = form_of(source.name, rows, delimiter, options, notes)
            data = read_rows(source, form, options, format_, notes, fresh=fresh)
        except Unfinished as error:
            if last:
                raise unfinished(flow.name, error) from None
            form = None if fresh else form
            continue  # a quoted cell goes on in the next piece
        yield sound(data, options)
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
