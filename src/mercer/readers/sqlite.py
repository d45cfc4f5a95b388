"""Tables of SQLite databases. Views and triggers are never run, nor any functions but SQLite's harmless ones."""

from __future__ import annotations

import sqlite3
from typing import Any

from mercer._check import did_you_mean
from mercer.readers.data import Data
from mercer.readers.frames import cells_of, text_of
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, reason, some
from mercer.readers.source import Source, empty
from mercer.readers.tables import check_width, kept_as_text, table_of

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql LIKE 'CREATE TABLE%'"
)
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)


def read_sqlite(source: Source, options: Options) -> Data:
    """The only table of a database, or the one named."""
    if not source.content:
        raise empty(source.name)
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(source.content)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, options.max_bytes)
        connection.execute("PRAGMA trusted_schema = OFF")
        names = [row[0] for row in connection.execute(_TABLES)]
        table = _table(source.name, names, options)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
        cursor = connection.execute(f'SELECT * FROM "{table.replace(chr(34), chr(34) * 2)}"')
        keys = [column[0] for column in cursor.description]
        check_width(source.name, len(keys), options)
        rows = cursor.fetchall()
    except (sqlite3.Error, OverflowError, UnicodeError) as error:  # the last two for names that are not text
        what = f"not a database that can be read: {reason(error)}"
        raise problem(source.name, what, hint="Is it damaged, or still being written?") from error
    finally:
        connection.close()
    if not rows:
        raise problem(source.name, f"the table {quoted(table)} has no rows", hint="Name another with --sheet.")
    columns = {
        key: _cells(source.name, key, values, options)
        for key, values in zip(keys, zip(*rows, strict=True), strict=True)
    }
    return table_of(source.name, "sqlite", columns, range(1, len(rows) + 1), options)


def _table(name: str, names: list[str], options: Options) -> str:
    if options.sheet in names:
        return str(options.sheet)
    if options.sheet is None and len(names) == 1:
        return names[0]
    if not names:
        raise problem(name, "the database holds no tables", hint="Is it the right file?")
    known = f"Tables: {some(names, 20)}."
    if options.sheet is None:
        raise problem(name, f"which of its {len(names)} tables?", hint=f"Name it with --sheet. {known}")
    hint = f"{did_you_mean(options.sheet, names)} {known}".strip()
    raise problem(name, f"there is no table {quoted(options.sheet)} (--sheet)", hint=hint)


def _cells(name: str, key: str, values: tuple[Any, ...], options: Options) -> Any:
    if any(isinstance(value, bytes) for value in values):
        hint = f"Leave it out with --drop {quoted(key)}, or store numbers or text."
        if key in options.drop:
            return ["" for _ in values]
        raise problem(name, "binary content, neither numbers nor text", column=key, hint=hint)
    return [text_of(value) for value in values] if kept_as_text(key, options) else cells_of(list(values))
