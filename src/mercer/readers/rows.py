"""The rows of delimited text in blocks, and their columns, converted to numbers if every cell is one."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.readers.cells import Cells, numbers_of
from mercer.readers.problems import count, problem
from mercer.readers.source import LINE_END

_ROWS = 500  # few enough to stay in the processor's cache between splitting and conversion
_LONGEST_CELL = 10_000_000  # characters; Python's own 131,072 are too few for genomes, and no limit would be unsafe
_QUOTES = "Close every quote, and double the quotes inside a quoted cell."


@final
@dataclass(frozen=True, eq=False)
class Block:
    """Some rows, all equally long, and the line of the file that each starts on."""

    rows: list[list[str]]
    lines: Sequence[int]


class Unfinished(Exception):
    """Raised if the text ends inside a quoted cell, which starts on the given line."""


def blocks_of(
    name: str, text: str, delimiter: str, *, first: int = 1, like: tuple[int, int] | None = None
) -> Iterator[Block]:
    """The rows of a text whose first line has the number `first`; blank lines are skipped.

    Every row must be as long as the first one, or have the width in `like`, which also names the line with that width.
    A quote that is still open at the end raises `Unfinished`.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    start = first
    while True:
        rows: list[list[str]] = []
        failure = None
        before = reader.line_num
        try:
            rows.extend(itertools.islice(reader, _ROWS))  # rows before a failure stay in the list
        except csv.Error as error:
            failure = error
        even = failure is None and reader.line_num - before == len(rows)
        lines: Sequence[int] = range(start, start + len(rows)) if even else _lines(rows, start)
        start = start + (reader.line_num - before)
        if rows:
            like = like or next(((len(row), line) for row, line in zip(rows, lines, strict=True) if _full(row)), None)
        if like is not None:
            block = _checked(name, rows, lines, *like)
            if block.rows:
                yield block
        if failure is not None:
            where = (lines[-1] + _height(rows[-1])) if rows else start - (reader.line_num - before)
            if "unexpected end" in str(failure):
                raise Unfinished(where)
            raise problem(name, str(failure), line=where, hint=_QUOTES)
        if not rows:
            return


def unfinished(name: str, error: Unfinished) -> Exception:
    """The error to show for a quote that is open at the end of the file."""
    return problem(name, "a quote is never closed", line=error.args[0], hint=_QUOTES)


def _checked(name: str, rows: list[list[str]], lines: Sequence[int], width: int, model: int) -> Block:
    if width > 1 and set(map(len, rows)) <= {width}:
        return Block(rows, lines)
    kept: list[list[str]] = []
    places: list[int] = []
    for row, line in zip(rows, lines, strict=True):
        if _full(row):
            if len(row) != width:
                raise problem(
                    name,
                    f"{count(len(row), 'column')}, but line {model} has {width:,}",
                    line=line,
                    hint="Quote cells that contain the delimiter, or set the delimiter with --delimiter.",
                )
            kept.append(row)
            places.append(line)
    return Block(kept, places)


def _full(row: list[str]) -> bool:
    return len(row) > 1 or (len(row) == 1 and bool(row[0].strip()))


def _lines(rows: list[list[str]], start: int) -> list[int]:
    """The line that each row starts on, if cells contain line ends."""
    found = []
    for row in rows:
        found.append(start)
        start += _height(row)
    return found


def _height(row: list[str]) -> int:
    return 1 + sum(len(LINE_END.findall(cell)) for cell in row)


def columns_of(blocks: Iterator[Block], words: set[int], width: int) -> tuple[dict[int, Cells], list[int], set[int]]:
    """Columns by position, the lines of the rows, and which columns have text below numbers.

    The numbers of the latter are discarded: the caller reads them again as `words`, columns that are kept as text.
    """
    numbers: dict[int, list[Float64]] = {place: [] for place in range(width) if place not in words}
    texts: dict[int, list[str]] = {place: [] for place in words}
    turned: set[int] = set()
    lines: list[int] = []
    for block in blocks:
        lines.extend(block.lines)
        for place, cells in enumerate(zip(*block.rows, strict=True)):
            if place in texts:
                texts[place].extend(cells)
            elif place in numbers:
                found = numbers_of(cells)
                if found is not None:
                    numbers[place].append(found)
                    continue
                if numbers.pop(place):
                    turned.add(place)
                else:
                    texts[place] = list(cells)
    columns: dict[int, Cells] = {place: np.concatenate(parts) for place, parts in numbers.items() if parts}
    return columns | texts, lines, turned
