"""Parquet and Feather, through the extra ``tables``; sizes are checked before columns are read."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.errors import missing_extra
from mercer.readers.cells import Cells
from mercer.readers.data import Data
from mercer.readers.frames import text_of
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, reason
from mercer.readers.source import Source
from mercer.readers.tables import check_width, kept_as_text, table_of

_PLAIN = ("string", "large_string", "string_view", "floating", "integer", "boolean", "decimal", "null", "temporal")
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}


def read_parquet(source: Source, options: Options) -> Data:
    """Columns of numbers, dates, booleans and text; others are refused by name."""
    with _arrow("Parquet", source.name):
        import pyarrow.parquet as pq

        file = pq.ParquetFile(io.BytesIO(source.content))
        _check_size(source.name, file.metadata, options)
        _check_types(source.name, file.schema_arrow, options)
        table = file.read()
        table.validate(full=True)  # Arrow trusts lengths and offsets otherwise
    return _table(source.name, "parquet", table, options)


def read_feather(source: Source, options: Options) -> Data:
    """A Feather file: Arrow's own format, in batches of rows."""
    with _arrow("Feather", source.name):
        import pyarrow as pa
        import pyarrow.ipc as ipc

        file = ipc.open_file(io.BytesIO(source.content))
        check_width(source.name, len(file.schema), options)
        _check_types(source.name, file.schema, options)
        batches, room = [], options.max_bytes
        for number in range(file.num_record_batches):
            batches.append(file.get_batch(number))
            batches[-1].validate(full=True)  # Arrow trusts lengths and offsets otherwise
            room -= batches[-1].nbytes
            if room < 0:
                raise problem(source.name, "too large once unpacked", hint="Raise the cap with --max-mb.")
        table = pa.Table.from_batches(batches, file.schema)
    return _table(source.name, "feather", table, options)


@contextlib.contextmanager
def _arrow(format_: str, name: str) -> Iterator[None]:
    """Inside the block, errors of Arrow become errors about the file."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise missing_extra(format_, "pyarrow", "tables") from error
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last of names of columns
        what = f"not a {format_} file that can be read: {reason(error)}"
        raise problem(name, what, hint="Is it damaged? Write it again.") from error


def _table(name: str, format_: str, table: Any, options: Options) -> Data:
    columns = {key: _cells(name, key, table.column(place), options) for place, key in enumerate(table.column_names)}
    if len(columns) < table.num_columns:
        raise problem(name, "two columns have the same name", hint="Give each column its own name.")
    if not table.num_rows:
        raise problem(name, "the file holds no rows", hint="Check that whatever wrote it has finished.")
    return table_of(name, format_, columns, range(1, table.num_rows + 1), options)


def _check_types(name: str, schema: Any, options: Options) -> None:
    for field in schema:
        if field.name not in options.drop:
            _check_type(name, field)


def _check_size(name: str, meta: Any, options: Options) -> None:
    check_width(name, meta.num_columns, options)
    declared = sum(meta.row_group(number).total_byte_size for number in range(meta.num_row_groups))
    cells = meta.num_rows * meta.num_columns
    if max(declared, 8 * cells) > options.max_bytes:
        what = f"too large: {meta.num_rows:,} rows of {meta.num_columns:,} columns"
        raise problem(name, what, hint="Raise the cap with --max-mb, or cut the file.")


def _check_type(name: str, field: Any) -> None:
    import pyarrow as pa

    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if not any(getattr(pa.types, f"is_{plain}")(kind) for plain in _PLAIN):
        hint = f"Convert it to numbers or text, or leave it out with --drop {shlex.quote(field.name)}."
        raise problem(name, f"its type is {kind}, neither a number nor text", column=field.name, hint=hint)


def _cells(file: str, name: str, column: Any, options: Options) -> Cells:
    """Numbers as they are; dates, booleans, text, and columns requested as text, as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in options.drop:
        return [""] * len(column)
    kind = column.type
    if pa.types.is_duration(kind):
        ticks = column.cast(pa.int64()).cast(pa.float64(), safe=False)  # in whole microseconds, long ones would wrap
        column = pc.multiply(ticks, _MICROSECONDS[kind.unit])
        kind = column.type
    if (pa.types.is_floating(kind) or pa.types.is_integer(kind)) and not kept_as_text(name, options):
        found = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        if np.isinf(found).any():
            row = int(np.flatnonzero(np.isinf(found))[0]) + 1
            raise problem(file, "an infinite number", line=row, column=name, hint="Rows are counted from 1.")
        return found
    try:
        return [_text(value) for value in column.to_pylist()]
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise _no_date(file, name, column) from error


def _no_date(file: str, name: str, column: Any) -> Exception:
    """The error for dates: Arrow allows any year and time zone, Python only some."""
    hint = f"Correct it, or leave the column out with --drop {shlex.quote(name)}."
    zone = getattr(column.type, "tz", None)
    for row, value in enumerate(column, 1):
        try:
            value.as_py()
        except (ValueError, OverflowError):
            what = f"{value.value} in {column.type} is not a date between the years 1 and 9999"
            what += f", or {quoted(zone)} is not a time zone" if zone else ""
            return problem(file, what, line=row, column=name, hint=hint)
    return problem(file, f"values of {column.type} that cannot be written as text", column=name, hint=hint)


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, dt.date | dt.time) else text_of(value)
