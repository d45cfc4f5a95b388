"""Large, plain delimited text through pyarrow, if installed: the same columns, several times faster."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.readers.cells import MISSING, Cells, numbers_of
from mercer.readers.source import BYTE_ORDER_MARKS, Source

_LARGE = 1 << 22  # bytes: below, Python's reader takes less time than importing pyarrow ...
_LARGE_PIECE = 1 << 16  # ... and the same for one of many pieces of a file
_NOT_PLAIN = (b'"', b"\n\n", b"\n\r\n")
_NUMBER = r"^[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*$"


def plain_columns(source: Source, delimiter: str, width: int, skip: int, words: set[int]) -> dict[int, Cells] | None:
    """The columns by position; None if the text is small or not plain, so that Python's reader must read it.

    Plain text has no quotes or blank lines, is in UTF-8, and has one row per line. The first `skip` lines are not rows,
    and the columns at the positions in `words` are kept as text.
    """
    content = source.content
    if len(content) < (_LARGE if source.first == 1 else _LARGE_PIECE) or any(mark in content for mark in _NOT_PLAIN):
        return None
    if not _is_utf8(source) or importlib.util.find_spec("pyarrow") is None:
        return None
    import pyarrow as pa
    import pyarrow.csv as pc

    names = [str(place) for place in range(width)]
    try:
        table = pc.read_csv(
            io.BytesIO(content),
            read_options=pc.ReadOptions(column_names=names, skip_rows=skip, use_threads=source.first == 1),
            parse_options=pc.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            convert_options=pc.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=True
            ),
        )
    except pa.ArrowException:  # Python's reader reports any error with its line
        return None
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    if table.num_rows != lines - skip:
        return None
    return {place: _cells(table.column(place), as_text=place in words) for place in range(width)}


def _is_utf8(source: Source) -> bool:
    named = (source.encoding or "utf-8").lower().replace("-", "").replace("_", "")
    marked = any(source.content.startswith(mark) for mark, _ in BYTE_ORDER_MARKS)
    return named == "utf8" and not marked and b"\r" not in source.content.replace(b"\r\n", b"")


def _cells(column: Any, *, as_text: bool) -> Cells:
    """Numbers if every cell is one or is missing, else text."""
    found = None if as_text else _numbers(column)
    if found is not None:
        return found
    texts: list[str] = [text.lstrip(" ") for text in column.to_pylist()]
    if as_text:
        return texts
    found = numbers_of(texts)
    return texts if found is None else found


def _numbers(column: Any) -> Float64 | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(trimmed, value_set=pa.array(sorted(MISSING)))
    if not pc.all(pc.or_(pc.match_substring_regex(column, _NUMBER), missing)).as_py():
        return None
    try:
        values = pc.cast(pc.if_else(missing, pa.scalar(None, pa.string()), trimmed), pa.float64())
    except pa.ArrowException:  # for example a plus sign, which Arrow does not read
        return None
    found = np.asarray(values.to_numpy())
    return None if np.isinf(found).any() else found.astype(np.float64)
