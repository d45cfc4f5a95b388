"""The one shape of what is wrong with a file: `train.csv:17: column "age": "abc" is not a number`."""

from __future__ import annotations

from mercer.errors import DataFileError

_LONGEST = 60


def problem(
    name: str, message: str, *, line: int | None = None, column: str | None = None, hint: str = ""
) -> DataFileError:
    """The error; the caller raises it. What is to be done goes into its note."""
    where = name if line is None else f"{name}:{line}"
    part = "" if column is None else f"column {quoted(column)}: "
    error = DataFileError(f"{where}: {part}{message}")
    if hint:
        error.add_note(hint)
    return error


def quoted(text: object) -> str:
    """A piece of a file, short and on one line."""
    shown = "".join(one if one.isprintable() else " " for one in str(text))
    return f'"{shown}"' if len(shown) <= _LONGEST else f'"{shown[: _LONGEST - 3]}..."'


def count(number: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
