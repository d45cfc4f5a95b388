"""Precomputed Gram matrices, with the names of the objects if the file has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.readers.cells import is_finite, is_number, numbers_of
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted
from mercer.readers.source import empty

_ASYMMETRY = 1e-6  # relative to the largest entry: rounding to six digits in a text file passes, mistakes do not


def is_gram(matrix: Any) -> bool:
    """Whether a matrix can only be one of similarities: square, larger than 3 by 3, and symmetric."""
    square = isinstance(matrix, np.ndarray) and matrix.shape[0] == matrix.shape[1] > 3 and matrix.dtype.kind == "f"
    return square and bool(np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12))


def may_be_gram(rows: list[list[str]]) -> bool:
    """Whether the header of a table repeats its first column, as far as these rows show."""
    return len(rows[0]) > 2 and len(rows) > 2 and rows[0][1 : len(rows)] == [row[0] for row in rows[1:]]


def gram_of_rows(name: str, rows: list[list[str]], lines: list[int], options: Options) -> Data:
    """A Gram matrix from rows of cells: names in the first row and column, or numbers only."""
    ids, columns = None, None
    if not all(map(is_number, rows[0])):
        columns = [cell.strip() for cell in rows[0][1:]]
        ids = [row[0].strip() for row in rows[1:]]
        rows, lines = [row[1:] for row in rows[1:]], lines[1:]
    if not rows:
        raise empty(name, "a header and no rows", "Write one row per object.")
    matrix = np.empty((len(rows), len(rows[0])))
    for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
        found = numbers_of(row)
        if found is None or np.isnan(found).any():
            wrong = next(number for number, cell in enumerate(row) if not is_finite(cell))
            column = str(wrong + 1) if columns is None else columns[wrong]
            hint = "Every entry of a Gram matrix must be a number."
            raise problem(name, f"{quoted(row[wrong])} is not a finite number", line=line, column=column, hint=hint)
        matrix[place] = found
    return gram_of(name, matrix, options, ids=ids, columns=columns)


def columns_for(name: str, columns: list[str], wanted: list[str]) -> list[int]:
    """The columns of a matrix that belong to the wanted objects, by name."""
    place = {key: number for number, key in enumerate(columns)}
    absent = [key for key in wanted if key not in place]
    if absent:
        what = f"no column for {count(len(absent), 'object')}, the first {quoted(absent[0])}"
        hint = "The header of the file must name the object of each column, including all training objects."
        raise problem(name, what, hint=hint)
    return [place[key] for key in wanted]


def gram_of(
    name: str,
    matrix: Any,
    options: Options,
    *,
    ids: list[str] | None = None,
    columns: list[str] | None = None,
    labels: npt.NDArray[np.str_] | None = None,
) -> Data:
    """A matrix of similarities: square for training, new objects by training objects for prediction."""
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        what = f"a Gram matrix of numbers is needed; this is {matrix.dtype} of shape {matrix.shape}"
        raise problem(name, what, hint="Save one row and one column of numbers per object.")
    values: Float64 = np.asarray(matrix, dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = (int(place) + 1 for place in np.argwhere(~np.isfinite(values))[0])
        hint = "Every entry of a Gram matrix must be a number."
        raise problem(name, f"entry ({row}, {column}) is not a finite number", hint=hint)
    if options.require_target:
        values = _for_training(name, values, ids, columns)
    detail = {} if columns is None else {"columns": columns}
    return Data(name, "gram", "gram", values, labels, "label", ids, detail=detail)


def _for_training(name: str, values: Float64, ids: list[str] | None, columns: list[str] | None) -> Float64:
    """A square, symmetric matrix, its columns in the order of its rows."""
    if values.shape[0] != values.shape[1]:
        what = f"a Gram matrix for training is square; this one is {values.shape[0]:,} x {values.shape[1]:,}"
        raise problem(name, what, hint="`mercer predict` takes new objects by training objects.")
    if ids is not None and columns is not None:
        if len(set(ids)) < len(ids):
            repeated = next(key for key in ids if ids.count(key) > 1)
            raise problem(name, f"two objects are called {quoted(repeated)}", hint="Give each its own name.")
        values = values if ids == columns else values[:, columns_for(name, columns, ids)]
    apart = np.abs(values - values.T)
    if apart.max(initial=0.0) > _ASYMMETRY * max(1.0, float(np.abs(values).max(initial=0.0))):
        row, column = divmod(int(apart.argmax()), len(apart))
        where = f"({row + 1}, {column + 1}) and ({column + 1}, {row + 1})"
        what = f"not symmetric: the entries {where} are {values[row, column]:g} and {values[column, row]:g}"
        raise problem(name, what, hint="A kernel is symmetric; replace K by (K + K.T) / 2 if the difference is noise.")
    return values
