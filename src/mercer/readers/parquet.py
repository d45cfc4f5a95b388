"""Parquet, through the extra ``tables``; sizes are read from its footer before any column is."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from mercer.errors import MissingExtraError
from mercer.readers.data import Data
from mercer.readers.grid import Cells
from mercer.readers.options import Options
from mercer.readers.problems import problem
from mercer.readers.source import Source
from mercer.readers.tables import kept_as_text, table_of

_PLAIN = ("string", "large_string", "string_view", "floating", "integer", "boolean", "decimal", "null")


def read_parquet(source: Source, options: Options) -> Data:
    """Columns of numbers, booleans and text; nested ones are refused by name."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed. Install it with: pip install 'mercer[tables]'."
        ) from error
    try:
        file = pq.ParquetFile(io.BytesIO(source.content))
        meta = file.metadata
        declared = sum(meta.row_group(number).total_byte_size for number in range(meta.num_row_groups))
        cells = meta.num_rows * meta.num_columns
        if max(declared, 8 * cells) > options.max_bytes or meta.num_columns > options.max_features:
            raise problem(
                source.name,
                f"too large: {meta.num_rows:,} rows of {meta.num_columns:,} columns",
                hint="Raise the cap with --max-mb, or cut the file.",
            )
        for field in file.schema_arrow:
            if field.name in options.drop:
                continue
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            if pa.types.is_temporal(kind):
                raise problem(
                    source.name,
                    f"it is a date or a time ({kind})",
                    column=field.name,
                    hint=f"Turn it into a number, or leave it out with --drop {field.name}.",
                )
            if not any(getattr(pa.types, f"is_{name}")(kind) for name in _PLAIN):
                raise problem(
                    source.name,
                    f"its type is {kind}, which is neither a number nor text",
                    column=field.name,
                    hint=f"Leave it out with --drop {field.name}.",
                )
        table = file.read()
    except pa.ArrowException as error:
        raise problem(source.name, f"no Parquet file that can be read: {' '.join(str(error).split())[:200]}") from error
    columns = {
        name: _cells(source.name, name, table.column(place), options) for place, name in enumerate(table.column_names)
    }
    if len(columns) < table.num_columns:
        raise problem(
            source.name, "two columns have the same name", hint="Rename the columns so that each has a name of its own."
        )
    if not table.num_rows:
        raise problem(source.name, "the file holds no rows")
    return table_of(source.name, "parquet", columns, range(1, table.num_rows + 1), options)


def _cells(file: str, name: str, column: Any, options: Options) -> Cells:
    """Numbers as they are; booleans and text as text, and whatever is wanted as it is written."""
    import pyarrow as pa

    kind = column.type
    if (pa.types.is_floating(kind) or pa.types.is_integer(kind)) and not kept_as_text(name, options):
        found = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        if np.isinf(found).any():
            row = int(np.flatnonzero(np.isinf(found))[0]) + 1
            raise problem(file, "an infinite number", line=row, column=name, hint="Rows are counted from 1.")
        return found
    return [_text(value) for value in column.to_pylist()]


def _text(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)
