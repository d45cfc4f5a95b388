"""The common form of all errors about files: `train.csv:17: column "age": "abc" is not a number`."""

from __future__ import annotations

from mercer.errors import DataFileError

_LONGEST_QUOTE = 60  # characters of a file shown in a message: more would hide what the message says


def problem(
    name: str, message: str, *, line: int | None = None, column: str | None = None, hint: str = ""
) -> DataFileError:
    """The error, for the caller to raise; `hint` says what to do and becomes its note."""
    where = name if line is None else f"{name}:{line}"
    part = "" if column is None else f"column {quoted(column)}: "
    error = DataFileError(f"{where}: {part}{message}")
    if hint:
        error.add_note(hint)
    return error


def quoted(text: object) -> str:
    """A piece of a file, short and on one line."""
    shown = "".join(one if one.isprintable() else " " for one in str(text))
    return f'"{shown}"' if len(shown) <= _LONGEST_QUOTE else f'"{shown[: _LONGEST_QUOTE - 3]}..."'


def reason(error: BaseException) -> str:
    """The error of another library about a file, short and on one line."""
    return " ".join(str(error).split())[:200]


def count(number: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some(names: list[str], most: int) -> str:
    """The first of many names, separated by commas."""
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")
