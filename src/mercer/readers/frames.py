"""Data frames and mappings of columns, read like the columns of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.inputs.tables import frame_columns
from mercer.readers.cells import Cells
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.reading import completed
from mercer.readers.tables import kept_as_text, table_of


def read_frame(frame: Any, options: Options, name: str = "the table") -> Data:
    """The table that a file with these columns would give."""
    columns = {str(key): cells_of(values) for key, values in columns_in(frame).items()}
    columns = {key: _as_text(cells) if kept_as_text(key, options) else cells for key, cells in columns.items()}
    length = len(next(iter(columns.values()), ()))
    return completed(table_of(name, "frame", columns, range(1, length + 1), options), options)


def columns_in(frame: Any) -> Mapping[str, Any]:
    """The columns of a data frame or a mapping by their names."""
    return frame if isinstance(frame, Mapping) else frame_columns(frame)


def cells_of(values: Any) -> Cells:
    """A column as it would be in a file: numbers as they are, anything else as text."""
    array = np.asarray(values) if isinstance(values, np.ndarray) or hasattr(values, "dtype") else _objects(values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind == "M":
        texts = np.datetime_as_string(array.astype("datetime64[s]")).tolist()
        return ["" if text == "NaT" else text for text in texts]
    if array.dtype.kind == "O" and all(_is_number(value) for value in array):
        return np.array([np.nan if value is None else float(value) for value in array], dtype=np.float64)
    return [text_of(value) for value in array.tolist()]


def _objects(values: Any) -> npt.NDArray[Any]:
    """A list as it is: NumPy would turn the mixed column ["a", 1] into text."""
    column = np.empty(len(values), dtype=object)
    column[:] = list(values)
    return column


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | np.number) and not isinstance(value, bool))


def _as_text(cells: Cells) -> Cells:
    return [text_of(value) for value in cells.tolist()] if isinstance(cells, np.ndarray) else cells


def text_of(value: Any) -> str:
    """One cell as text; empty for the missing values of any library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if value != value else str(int(value)) if value.is_integer() else repr(value)
    return value if isinstance(value, str) else str(value)
