"""The header of delimited text: titles above it, names in it, and columns without a name."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping

from mercer.readers.cells import MISSING, Cells, is_number
from mercer.readers.labels import is_missing
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, some
from mercer.readers.rows import Block
from mercer.readers.source import LINE_END, Source
from mercer.readers.tables import TARGETS

_SAMPLE = 200  # rows that tell the header: more cost time on each file, fewer miss rare values
_TITLES = 20  # lines above a header, at most: people write a few, and a longer text is none
_NAMELESS = "\0"
"""What begins the stand-in for the name of a column that has none: no text file has this character."""
_COMMA = re.compile(r"[+-]?\d+,\d+")
_GROUPS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
_UP_TO_THREE = re.compile(r"[+-]?\d{1,3}")


def without_titles(source: Source, delimiter: str, options: Options, notes: list[str]) -> Source:
    """The file with blank lines in place of titles above its header, which fill less than half of the columns.

    Below them, the first line names every column, and all others that are looked at are as long as it is. Anything else
    is left for messages to name.
    """
    if options.header is False:
        return source
    lines = source.head(_SAMPLE)
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return source
    if len(rows) != len(lines):  # a quoted cell has several lines
        return source
    if rows and (not source.text.endswith(("\n", "\r")) or len(lines) == _SAMPLE):
        rows.pop()  # it may be cut off
    above = _above(rows)
    if not above:
        return source
    head = LINE_END.split(source.text, maxsplit=above)[-1]
    many = sum(any(row) for row in rows[:above])
    notes.append(f"{many} {'line' if many == 1 else 'lines'} above the header of the table skipped.")
    return Source(source.name, ("\n" * above + head).encode(), "utf-8", source.first)


def _above(rows: list[list[str]]) -> int:
    """How many lines come before the header; 0 if there are no titles or there is no clear header below them."""
    widths = Counter(len(row) for row in rows if any(row))
    if not widths:
        return 0
    width = widths.most_common(1)[0][0]
    start = next((place for place, row in enumerate(rows) if 2 * _filled(row) > width), 0)
    titles, header, body = rows[:start], rows[start], rows[start + 1 :]
    if not 0 < start <= _TITLES or not body or not any(map(any, titles)):
        return 0
    named = len(header) == _filled(header) == width and not _numbers(header)
    even = {len(row) for row in body if any(row)} <= {width}
    return start if named and even and not any(map(_numbers, titles)) else 0


def _numbers(row: list[str]) -> bool:
    return any(map(is_number, row))


def _filled(row: list[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def is_european(rows: list[list[str]], delimiter: str) -> bool:
    """Whether numbers have decimal commas in some column, and points that can only group thousands in another."""
    if delimiter != ";":
        return False
    commas = points = False
    for column in zip(*rows[1:], strict=True):
        cells = {cell.strip() for cell in column} - MISSING
        commas = commas or bool(cells and all(_COMMA.fullmatch(cell) for cell in cells))
        groups = {cell for cell in cells if _GROUPS.fullmatch(cell)}
        points = points or bool(groups and all(_UP_TO_THREE.fullmatch(cell) for cell in cells - groups))
    return commas and points


def without_nameless(name: str, columns: Mapping[str, Cells], line: int, notes: list[str]) -> dict[str, Cells]:
    """The columns that have names; others must be empty."""
    nameless = {key: int(key[1:]) for key in columns if key.startswith(_NAMELESS)}
    for key, number in nameless.items():
        if not is_missing(columns[key]).all():
            hint = "Name it, or read with --no-header."
            raise problem(name, f"column {number} has no name", line=line, hint=hint)
    if nameless:
        which = some([str(number) for number in nameless.values()], 5)
        plural = len(nameless) > 1
        notes.append(
            f"{'Columns' if plural else 'Column'} {which} {'have' if plural else 'has'} neither a name nor values."
        )
    return {key: cells for key, cells in columns.items() if key not in nameless}


def names_in(name: str, first: Block, options: Options, notes: list[str]) -> tuple[str, ...] | None:
    headed = options.header
    if headed is None:
        headed = _is_known(first.rows[0], options) or _has_header(first.rows)
    if not headed:
        if options.header is None:
            notes.append("The first line is data: columns are called 1, 2, 3 and so on (--header takes it as names).")
        return None
    names = [cell.strip() for cell in first.rows[0]]
    if names and not names[0] and names.count("") == 1:
        names[0] = "row"  # how pandas and R write the names of rows
    names = [cell or f"{_NAMELESS}{place}" for place, cell in enumerate(names, 1)]
    return _told_apart(name, names, first.lines[0], options, notes)


def _told_apart(name: str, names: list[str], line: int, options: Options, notes: list[str]) -> tuple[str, ...]:
    """The names, with numbers behind those that occur before; that of the target must be clear."""
    found: dict[str, None] = {}
    known, seen = set(names), Counter[str]()
    for called in names:
        own = called
        while own in found or (own != called and own in known):
            seen[called] += 1
            own = f"{called} ({seen[called] + 1})"
        wanted = called == options.target or (options.target is None and called.lower() in TARGETS)
        if own != called and wanted:
            what = f"the column name {quoted(called)} occurs {names.count(called)} times"
            raise problem(name, what, line=line, hint="Give each column its own name, or read with --no-header.")
        found[own] = None
    new = [quoted(own) for own, called in zip(found, names, strict=True) if own != called]
    if new:
        notes.append(f"Names of columns occur more than once; they are called {some(new, 5)} from the second time on.")
    return tuple(found)


def _is_known(row: list[str], options: Options) -> bool:
    """Whether a line has the name of a column that the user or the model mentions."""
    named = (options.only, options.categories, options.text, options.numbers, dict(options.styles))
    return any(cell.strip() in keys for keys in named for cell in row)


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first line has words above numbers, or names that never occur in the columns below them."""
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
    """Whether some cell of the first line is shorter or longer than all below it, or is a usual name."""
    known = {"label", "target", "class", "text", "smiles", "sequence", "id", "name", "y"}
    if known & {cell.lower() for cell in first}:
        return True
    differs = 0
    for cell, column in zip(first, columns, strict=True):
        lengths = [len(other.strip()) for other in column]
        differs += not min(lengths) <= len(cell) <= max(lengths)
    return differs > 0
