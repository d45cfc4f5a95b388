"""CSV and TSV: detects the delimiter, the header and decimal commas; ragged rows are errors."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from mercer.readers.cells import Cells
from mercer.readers.data import Data
from mercer.readers.fast_rows import plain_columns
from mercer.readers.gram_files import gram_of_rows, may_be_gram
from mercer.readers.headers import is_european, names_in, without_nameless, without_titles
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.rows import Block, Unfinished, blocks_of, columns_of, unfinished
from mercer.readers.source import Source, empty
from mercer.readers.tables import check_width, kept_as_text, table_of

_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_SAMPLE = 200  # rows used to detect the delimiter: more cost time on each file, fewer miss rare values


@final
@dataclass(frozen=True)
class Form:
    """The format of a table."""

    delimiter: str
    names: tuple[str, ...]
    headed: bool
    line: int
    """The line of its first row."""
    european: bool = False
    """Whether numbers have decimal commas, and points between thousands."""


def read_csv(source: Source, options: Options) -> Data:
    """A table separated by commas, tabs, semicolons or bars."""
    return _read(source, options, "csv")


def read_tsv(source: Source, options: Options) -> Data:
    """A table separated by tabs."""
    return _read(source, options, "tsv")


def read_gram(source: Source, options: Options) -> Data:
    """A Gram matrix as text."""
    return _read(source, options, "gram")


def _read(source: Source, options: Options, format_: str) -> Data:
    """A table, or a Gram matrix if requested or if the table is square with a header that repeats its first column."""
    delimiter, notes = delimiter_of(source, options, format_)
    source = without_titles(source, delimiter, options, notes)
    try:
        first = next(blocks_of(source.name, source.text, delimiter), None)
        if first is None:
            raise empty(source.name)
        if format_ == "gram" or (options.format is None and may_be_gram(first.rows)):
            blocks = list(blocks_of(source.name, source.text, delimiter))
            rows = [row for block in blocks for row in block.rows]
            if format_ == "gram" or len(rows) == len(rows[0]):
                return gram_of_rows(source.name, rows, [line for block in blocks for line in block.lines], options)
        form = form_of(source.name, first, delimiter, options, notes)
        return read_rows(source, form, options, format_, notes, fresh=True)
    except Unfinished as error:
        raise unfinished(source.name, error) from None


def form_of(name: str, first: Block, delimiter: str, options: Options, notes: list[str]) -> Form:
    """Detect the format of a table from its first rows; its columns are named by its header, or numbered."""
    names = names_in(name, first, options, notes)
    width = len(first.rows[0])
    check_width(name, width, options)
    if width == 1 and options.delimiter is not None:
        what = f"the delimiter {quoted(delimiter)} does not occur in it"
        raise problem(name, what, line=first.lines[0], hint="Leave --delimiter out: Mercer detects it.")
    numbers = tuple(str(number) for number in range(1, width + 1))
    european = not options.decimal_comma and is_european(first.rows, delimiter)
    if european:
        notes.append("Numbers are written with decimal commas, and points between thousands.")
    return Form(delimiter, numbers if names is None else names, names is not None, first.lines[0], european)


def read_rows(
    source: Source, form: Form, options: Options, format_: str, notes: Sequence[str] = (), *, fresh: bool
) -> Data:
    """The table in a whole file or in a piece of it; the first piece, with the header, is `fresh`."""
    options = dataclasses.replace(options, decimal_comma=True) if form.european else options
    words = {place for place, key in enumerate(form.names) if kept_as_text(key, options)}
    notes = list(notes)

    def table(columns: dict[str, Cells], lines: Sequence[int]) -> Data:
        named = without_nameless(source.name, columns, form.line, notes)
        return table_of(source.name, format_, named, lines, options, notes)

    def parsed(words: set[int]) -> tuple[dict[int, Cells], list[int], set[int]]:
        like = (len(form.names), form.line)
        blocks = blocks_of(source.name, source.text, form.delimiter, first=source.first, like=like)
        return columns_of(_body(blocks) if fresh and form.headed else blocks, words, len(form.names))

    skip = int(fresh and form.headed)
    plain = _plain(source, form, skip, words, fresh=fresh)
    if plain is not None:
        columns = {key: plain[place] for place, key in enumerate(form.names)}
        lines: Sequence[int] = range(source.first + skip, source.first + skip + len(plain[0]))
        return table(columns, lines)
    found, lines, turned = parsed(words)
    if turned:  # all its text is needed to detect the kind of a column, or an error
        again, _, _ = parsed(words | turned)
        found |= {place: again[place] for place in turned}
    if fresh and not lines:
        raise problem(source.name, "a header and no rows", line=form.line, hint="Add rows, or read with --no-header.")
    return table({key: found.get(place, ()) for place, key in enumerate(form.names)}, lines)


def _plain(source: Source, form: Form, skip: int, words: set[int], *, fresh: bool) -> dict[int, Cells] | None:
    """Columns that are read fast, if the text allows it and nothing is above the header."""
    blank_above = fresh and form.line != 1
    return None if blank_above else plain_columns(source, form.delimiter, len(form.names), skip, words)


def table_of_rows(
    name: str, format_: str, rows: list[list[str]], lines: Sequence[int], options: Options, notes: list[str]
) -> Data:
    """The table in rows of equal length that another reader found."""
    block = Block(rows, lines)
    form = form_of(name, block, "", dataclasses.replace(options, delimiter=None), notes)
    words = {place for place, key in enumerate(form.names) if kept_as_text(key, options)}
    body = list(_body(iter([block]))) if form.headed else [block]
    if not body:
        raise problem(name, "a header and no rows", line=form.line, hint="Add rows, or read with --no-header.")
    found, kept, _ = columns_of(iter(body), words, len(form.names))
    columns = {key: found[place] for place, key in enumerate(form.names)}
    return table_of(name, format_, without_nameless(name, columns, form.line, notes), kept, options, notes)


def _body(blocks: Iterator[Block]) -> Iterator[Block]:
    """All rows but the first."""
    for number, block in enumerate(blocks):
        body = block if number else Block(block.rows[1:], block.lines[1:])
        if body.rows:
            yield body


def delimiter_of(source: Source, options: Options, format_: str) -> tuple[str, list[str]]:
    """What separates the columns, and what to tell the user about it.

    It is the one given, a tab for TSV, or else the one that splits the first lines most evenly.
    """
    if options.delimiter is not None:
        if len(options.delimiter) != 1 or options.delimiter in '\r\n"':
            what = f"the delimiter must be one character, not {quoted(options.delimiter)}"
            raise problem(source.name, what, hint="Leave --delimiter out: Mercer detects it.")
        delimiter = options.delimiter
    elif format_ == "tsv":
        return "\t", []
    else:
        delimiter = max(_DELIMITERS, key=lambda mark: _evenness(source, mark))
    known = _DELIMITERS.get(delimiter, repr(delimiter))
    return delimiter, [] if delimiter == "," else [f"Columns are separated by a {known}."]


def _evenness(source: Source, mark: str) -> tuple[float, int]:
    """The fraction of the first rows that have the most common number of columns, and that number."""
    head = "\n".join(source.head(_SAMPLE))
    try:
        widths = [len(row) for row in csv.reader(io.StringIO(head), delimiter=mark, skipinitialspace=True) if row]
    except csv.Error:
        return 0.0, 0
    width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
    return (times / len(widths), width) if width > 1 else (0.0, 0)
