"""The common form of all errors about files: `train.csv:17: column "age": "abc" is not a number`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator

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


@contextlib.contextmanager
def relined(name: str, line_of: Callable[[int], int]) -> Iterator[None]:
    """Convert line numbers in errors about a part of a file to those in the whole file."""
    try:
        yield
    except DataFileError as error:
        found = re.match(re.escape(name) + r":(\d+): ", str(error))
        if found is None:
            raise
        again = type(error)(f"{name}:{line_of(int(found[1]))}: {str(error)[found.end() :]}")
        for note in getattr(error, "__notes__", ()):
            again.add_note(note)
        raise again from error


def quoted(text: object) -> str:
    """A piece of a file, short and on one line."""
    shown = "".join(one if one.isprintable() else " " for one in str(text))
    return f'"{shown}"' if len(shown) <= _LONGEST_QUOTE else f'"{shown[: _LONGEST_QUOTE - 3]}..."'


def reason(error: BaseException) -> str:
    """The error of another library about a file, short and on one line."""
    return " ".join(str(error).split())[:200]


def readable(value: float, digits: int = 3) -> str:
    """A number with this many digits, without an exponent up to a trillion.

    >>> readable(22718.4), readable(0.123456), readable(231545.0, 6)
    ('22,700', '0.123', '231,545')
    """
    rounded = float(f"{value:.{digits}g}")
    if not 1000 <= abs(rounded) < 1e12:
        return f"{value:.{digits}g}"
    whole, point, rest = f"{rounded:,.6f}".partition(".")
    decimals = rest.rstrip("0") if abs(rounded) < 10.0**digits else ""
    return whole + (point + decimals if decimals else "")


def measured(value: float) -> str:
    """A value of a column, with six digits; years have no comma.

    >>> measured(1987.0), measured(231545.0), measured(0.25)
    ('1987', '231,545', '0.25')
    """
    return readable(value, 6) if abs(value) >= 10_000 else f"{value:g}"


def count(number: int, noun: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def some(names: list[str], most: int) -> str:
    """The first of many names, separated by commas."""
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")
