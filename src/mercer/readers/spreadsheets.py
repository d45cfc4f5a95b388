"""Excel and OpenDocument spreadsheets, through the extra ``excel``."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

from mercer._check import did_you_mean
from mercer.errors import missing_extra
from mercer.readers.data import Data
from mercer.readers.delimited import table_of_rows
from mercer.readers.extents import refuse_far_cells
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, reason, some
from mercer.readers.source import Source, empty

_PANIC = "PanicException"
"""The error raised by bugs in the library that reads spreadsheets; it is not derived from `Exception`."""


def read_spreadsheet(source: Source, options: Options) -> Data:
    """The table on one sheet: the first that is not empty, or the one named; titles above its header are skipped."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise missing_extra("A spreadsheet", "python-calamine", "excel") from error
    refuse_far_cells(source, options.max_bytes)
    try:
        book: Any = calamine.CalamineWorkbook.from_filelike(io.BytesIO(source.content))
        sheets = {name: book.get_sheet_by_name(name).to_python() for name in _wanted(source.name, book, options)}
    except BaseException as error:
        if not isinstance(error, calamine.CalamineError) and type(error).__name__ != _PANIC:
            raise
        what = f"not a spreadsheet that can be read: {reason(error)}"
        raise problem(source.name, what, hint="Is it damaged, or protected by a password? Save it again.") from error
    full = {name: rows for name, rows in sheets.items() if rows}
    if not full:
        raise empty(source.name, "no sheet holds anything")
    name, cells = next(iter(full.items()))
    notes = []
    if len(full) > 1:
        others = some([quoted(other) for other in full if other != name], 5)
        notes.append(f"The sheet {quoted(name)} is read; --sheet chooses another: {others}.")
    rows, lines = _rows(cells, notes)
    return table_of_rows(source.name, "excel", rows, lines, options, notes)


def _rows(cells: list[list[Any]], notes: list[str]) -> tuple[list[list[str]], list[int]]:
    """The header and the rows below it as text, with their lines; empty rows and columns are left out."""
    rows = [[_text(cell) for cell in row] for row in cells]
    start = _header(rows)
    if start:
        notes.append(f"{start} lines above the header of the table are skipped.")
    kept = [place for place in range(len(rows[0])) if any(row[place] for row in rows[start:])]
    lines = [place for place in range(start, len(rows)) if any(rows[place])]
    return [[rows[line][place] for place in kept] for line in lines], [line + 1 for line in lines]


def _wanted(name: str, book: Any, options: Options) -> list[str]:
    names: list[str] = list(book.sheet_names)
    if options.sheet is None:
        return names
    if options.sheet not in names:
        hint = f"{did_you_mean(options.sheet, names)} Sheets: {some(names, 20)}.".strip()
        raise problem(name, f"there is no sheet {quoted(options.sheet)} (--sheet)", hint=hint)
    return [options.sheet]


def _header(rows: list[list[str]]) -> int:
    """How many rows of titles come before the header: those that fill less than half of the columns."""
    width = len(rows[0])
    filled = (place for place, row in enumerate(rows) if sum(map(bool, row)) > width / 2)
    return next(filled, 0)


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, dt.timedelta):
        return repr(cell.total_seconds())
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)
