"""CSV and TSV: the delimiter, the header and the quoting are found out; ragged lines and doubled names are errors."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from mercer.readers.data import Data
from mercer.readers.grid import Block, Cells, Unfinished, blocks_of, columns_of, unfinished
from mercer.readers.labels import MISSING, is_number
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_SAMPLE = 200


@final
@dataclass(frozen=True)
class Form:
    """How a table is written, as its first rows tell."""

    delimiter: str
    names: tuple[str, ...]
    headed: bool
    line: int
    """Where its first row stands."""


def read_csv(source: Source, options: Options) -> Data:
    return _read(source, options, format_="csv")


def read_tsv(source: Source, options: Options) -> Data:
    return _read(source, options, format_="tsv")


def read_gram(source: Source, options: Options) -> Data:
    return _read(source, options, format_="gram")


def _read(source: Source, options: Options, *, format_: str) -> Data:
    """A table from text, columns typed; a square one whose head repeats its first column is a Gram matrix."""
    from mercer.readers.gram_files import gram_of_rows, may_be_gram

    delimiter = delimiter_of(source, options, format_)
    try:
        first = next(blocks_of(source.name, source.text, delimiter), None)
        if first is None:
            raise problem(source.name, "the file is empty")
        if format_ == "gram" or (options.format is None and may_be_gram(first.rows)):
            whole = list(blocks_of(source.name, source.text, delimiter))
            rows = [row for block in whole for row in block.rows]
            if format_ == "gram" or len(rows) == len(rows[0]):
                return gram_of_rows(source.name, rows, [line for block in whole for line in block.lines], options)
        notes = (
            []
            if format_ == "tsv" or delimiter == ","
            else [f"Columns are separated by a {DELIMITERS.get(delimiter, repr(delimiter))}."]
        )
        form = form_of(source.name, first, delimiter, options, notes)
        return read_rows(source, form, options, format_, notes, fresh=True)
    except Unfinished as error:
        raise unfinished(source.name, error) from None


def form_of(name: str, first: Block, delimiter: str, options: Options, notes: list[str]) -> Form:
    """The names of the columns: as the first row says, or numbers."""
    names = _names(name, first, options, notes)
    width = len(first.rows[0])
    if width > options.max_features:
        raise problem(
            name, f"{width:,} columns, more than {options.max_features:,}", hint="Raise the cap with --max-features."
        )
    if width == 1 and options.delimiter is not None:
        raise problem(
            name,
            f"{quoted(delimiter)} separates nothing in it",
            line=first.lines[0],
            hint="Leave --delimiter out: it is found out.",
        )
    numbers = tuple(str(number) for number in range(1, width + 1))
    return Form(delimiter, numbers if names is None else names, names is not None, first.lines[0])


def read_rows(
    source: Source, form: Form, options: Options, format_: str, notes: Sequence[str] = (), *, fresh: bool
) -> Data:
    """The table in a file, or (unless `fresh`) in a piece from further down."""
    from mercer.readers.tables import kept_as_text, table_of

    words = {place for place, key in enumerate(form.names) if kept_as_text(key, options)}

    def parsed(words: set[int]) -> tuple[dict[int, Cells], list[int], set[int]]:
        like = (len(form.names), form.line)
        blocks = blocks_of(source.name, source.text, form.delimiter, first=source.first, like=like)
        return columns_of(_body(blocks) if fresh and form.headed else blocks, words, len(form.names))

    found, lines, turned = parsed(words)
    if turned:  # words below numbers: what is wrong, or which kind it is, needs the text of all
        again, _, _ = parsed(words | turned)
        found |= {place: again[place] for place in turned}
    if fresh and not lines:
        raise problem(source.name, "a header and no rows", line=form.line)
    columns = {key: found.get(place, ()) for place, key in enumerate(form.names)}
    return table_of(source.name, format_, columns, lines, options, notes)


def _body(blocks: Iterator[Block]) -> Iterator[Block]:
    """All rows but the first."""
    for number, block in enumerate(blocks):
        body = block if number else Block(block.rows[1:], block.lines[1:])
        if body.rows:
            yield body


def delimiter_of(source: Source, options: Options, format_: str = "csv") -> str:
    """What separates the columns: as given, a tab for TSV, else whatever splits the first lines most evenly."""
    if options.delimiter is not None:
        if len(options.delimiter) != 1:
            raise problem(source.name, f"a delimiter is one character, not {quoted(options.delimiter)}")
        return options.delimiter
    if format_ == "tsv":
        return "\t"
    best, most = ",", (0.0, 0)
    for mark in DELIMITERS:
        widths = [len(row) for row in _parsed_sample(source, mark)]
        if not widths:
            continue
        width, times = Counter(widths).most_common(1)[0]
        if width > 1 and (times / len(widths), width) > most:
            best, most = mark, (times / len(widths), width)
    return best


def _parsed_sample(source: Source, mark: str) -> list[list[str]]:
    head = "\n".join(source.head(_SAMPLE))
    try:
        return [row for row in csv.reader(io.StringIO(head), delimiter=mark, skipinitialspace=True) if row]
    except csv.Error:
        return []


def _names(name: str, first: Block, options: Options, notes: list[str]) -> tuple[str, ...] | None:
    headed = _has_header(first.rows) if options.header is None else options.header
    if not headed:
        if options.header is None:
            notes.append("The first line is data: columns are called 1, 2, 3 and so on (--header says otherwise).")
        return None
    names = [cell.strip() for cell in first.rows[0]]
    if names and not names[0] and names.count("") == 1:
        names[0] = "row"  # how pandas and R write the names of rows
    for place, cell in enumerate(names):
        if not cell:
            raise problem(
                name, f"column {place + 1} has no name", line=first.lines[0], hint="Name it, or read with --no-header."
            )
    doubled = [cell for cell, times in Counter(names).items() if times > 1]
    if doubled:
        raise problem(
            name,
            f"the column name {quoted(doubled[0])} occurs {names.count(doubled[0])} times",
            line=first.lines[0],
            hint="Rename the columns so that each has a name of its own, or read with --no-header.",
        )
    return tuple(names)


def _has_header(rows: list[list[str]]) -> bool:
    """A first line of words over columns of numbers; or of names that never occur in the columns under them."""
    first, rest = [cell.strip() for cell in rows[0]], rows[1 : _SAMPLE + 1]
    if any(is_number(cell) for cell in first):
        return False
    if not rest:
        return True
    columns = list(zip(*rest, strict=True))
    below = [all(is_number(cell) or cell.strip() in MISSING for cell in column) for column in columns]
    if any(below) or len(set(first)) < len(first):
        return any(below)
    recurs = sum(cell in {other.strip() for other in column} for cell, column in zip(first, columns, strict=True))
    return recurs == 0 and _looks_named(first, columns)


def _looks_named(first: list[str], columns: list[tuple[str, ...]]) -> bool:
    """Whether the first line differs in kind from what is below: shorter or longer than every cell of some column."""
    known = {"label", "target", "class", "text", "smiles", "sequence", "id", "name", "y"}
    if known & {cell.lower() for cell in first}:
        return True
    differs = 0
    for cell, column in zip(first, columns, strict=True):
        lengths = [len(other.strip()) for other in column]
        differs += not min(lengths) <= len(cell) <= max(lengths)
    return differs > 0
