"""CSV and TSV: the delimiter, the header and the quoting are found out; ragged lines and doubled names are errors."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from typing import final

from mercer.readers.data import Data
from mercer.readers.labels import MISSING, is_number
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted
from mercer.readers.source import Source

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_SAMPLE = 200
_LONGEST_CELL = 10_000_000


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """Cells as text, and the line of the file that each row starts on."""

    rows: list[list[str]]
    lines: list[int]


def read_csv(source: Source, options: Options) -> Data:
    return _read(source, options, format_="csv")


def read_tsv(source: Source, options: Options) -> Data:
    return _read(source, options, format_="tsv")


def read_gram(source: Source, options: Options) -> Data:
    return _read(source, options, format_="gram")


def _read(source: Source, options: Options, *, format_: str) -> Data:
    """A table from text, columns typed; a square one whose head repeats its first column is a Gram matrix."""
    from mercer.readers.gramfiles import gram_of_grid, looks_like_gram
    from mercer.readers.tables import table_of

    delimiter = delimiter_of(source, options, format_)
    grid = grid_of(source, delimiter)
    if format_ == "gram" or (options.format is None and looks_like_gram(grid)):
        return gram_of_grid(source.name, grid, options)
    notes = (
        []
        if format_ == "tsv" or delimiter == ","
        else [f"Columns are separated by a {DELIMITERS.get(delimiter, repr(delimiter))}."]
    )
    names, body, lines = _headed(source.name, grid, options, notes)
    width = len(names)
    if width > options.max_features:
        raise problem(
            source.name,
            f"{width:,} columns, more than {options.max_features:,}",
            hint="Raise the cap with --max-features.",
        )
    columns = {name: [row[place] for row in body] for place, name in enumerate(names)}
    return table_of(source.name, format_, columns, lines, options, notes)


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
    head = "\n".join(source.lines[:_SAMPLE])
    try:
        return [row for row in csv.reader(io.StringIO(head), delimiter=mark, skipinitialspace=True) if row]
    except csv.Error:
        return []


def grid_of(source: Source, delimiter: str) -> Grid:
    """All cells; every row must be as long as the first."""
    rows: list[list[str]] = []
    lines: list[int] = []
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(source.text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    start = 1
    try:
        for row in reader:
            if row and (len(row) > 1 or row[0].strip()):
                if rows and len(row) != len(rows[0]):
                    raise problem(
                        source.name,
                        f"{count(len(row), 'column')}, where line {lines[0]} has {len(rows[0]):,}",
                        line=start,
                        hint="A cell that holds the delimiter needs quotes; --delimiter says what it is.",
                    )
                rows.append(row)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        reason = "a quote is never closed" if "unexpected end" in str(error) else str(error)
        raise problem(source.name, reason, line=start, hint="Quotes inside a quoted cell are doubled.") from error
    if not rows:
        raise problem(source.name, "the file is empty")
    return Grid(rows, lines)


def _headed(name: str, grid: Grid, options: Options, notes: list[str]) -> tuple[list[str], list[list[str]], list[int]]:
    headed = _has_header(grid.rows) if options.header is None else options.header
    if not headed:
        if options.header is None:
            notes.append("The first line is data: columns are called 1, 2, 3 and so on (--header says otherwise).")
        return [str(number) for number in range(1, len(grid.rows[0]) + 1)], grid.rows, grid.lines
    names = [cell.strip() for cell in grid.rows[0]]
    if names and not names[0] and names.count("") == 1:
        names[0] = "row"  # how pandas and R write the names of rows
    for place, cell in enumerate(names):
        if not cell:
            raise problem(
                name, f"column {place + 1} has no name", line=grid.lines[0], hint="Name it, or read with --no-header."
            )
    doubled = [cell for cell, times in Counter(names).items() if times > 1]
    if doubled:
        raise problem(
            name,
            f"the column name {quoted(doubled[0])} occurs {names.count(doubled[0])} times",
            line=grid.lines[0],
            hint="Rename the columns so that each has a name of its own, or read with --no-header.",
        )
    if len(grid.rows) == 1:
        raise problem(name, "a header and no rows", line=grid.lines[0])
    return names, grid.rows[1:], grid.lines[1:]


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
