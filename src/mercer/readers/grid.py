"""Rows of delimited text in blocks, and their columns: as numbers at once where every cell is one."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.readers.labels import MISSING, is_number
from mercer.readers.problems import count, problem

Cells = Sequence[str] | Float64
"""A column as it stands in a file: text; or numbers, NaN where one is missing, if it holds nothing else."""

_ROWS = 500  # few enough to stay in the processor's cache between splitting and conversion
_LONGEST_CELL = 10_000_000
_LINE_END = re.compile(r"\r\n|\n|\r")


@final
@dataclass(frozen=True, eq=False)
class Block:
    """Some rows, all equally long, and the line of the file that each starts on."""

    rows: list[list[str]]
    lines: Sequence[int]


class Unfinished(Exception):
    """The text ends inside a quoted cell."""


def blocks_of(
    name: str, text: str, delimiter: str, *, first: int = 1, like: tuple[int, int] | None = None
) -> Iterator[Block]:
    """The rows of a text whose first line has the number `first`.

    Every row must be as long as the first one, or as `like` says: a width, and the line that has it. Blank lines are
    skipped. What is wrong is told with its line; a quote that is still open at the end is `Unfinished`.
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
            raise problem(name, str(failure), line=where, hint="Quotes inside a quoted cell are doubled.")
        if not rows:
            return


def unfinished(name: str, line: object) -> Exception:
    return problem(
        name, "a quote is never closed", line=int(str(line)), hint="Quotes inside a quoted cell are doubled."
    )


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
                    f"{count(len(row), 'column')}, where line {model} has {width:,}",
                    line=line,
                    hint="A cell that holds the delimiter needs quotes; --delimiter says what it is.",
                )
            kept.append(row)
            places.append(line)
    return Block(kept, places)


def _full(row: list[str]) -> bool:
    return len(row) > 1 or (len(row) == 1 and bool(row[0].strip()))


def _lines(rows: list[list[str]], start: int) -> list[int]:
    """Where each row starts, if some have line ends in their cells."""
    found = []
    for row in rows:
        found.append(start)
        start += _height(row)
    return found


def _height(row: list[str]) -> int:
    return 1 + sum(len(_LINE_END.findall(cell)) for cell in row)


def numbers_of(cells: Sequence[str]) -> Float64 | None:
    """The cells as finite numbers, NaN where one is missing; None if one is anything else."""
    try:
        found = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return _one_by_one(cells)
    # Python reads "1_000" and "nan" too, which people do not write as numbers.
    sound = bool(np.isfinite(found).all()) and "_" not in "".join(cells)
    return found if sound else _one_by_one(cells)


def _one_by_one(cells: Sequence[str]) -> Float64 | None:
    found = np.empty(len(cells))
    for place, cell in enumerate(cells):
        text = cell.strip()
        if text in MISSING:
            found[place] = np.nan
        elif is_number(text) and abs(value := float(text)) != np.inf:
            found[place] = value
        else:
            return None
    return found


def columns_of(blocks: Iterator[Block], words: set[int], width: int) -> tuple[dict[int, Cells], list[int], set[int]]:
    """Columns by their place, the lines of the rows, and which columns turned out to hold more than numbers.

    Of the latter the first blocks are gone: who still has the text reads them again, as `words`, which are never taken
    for numbers.
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
