"""Gram matrices that somebody computed, with the names of the objects where they are given."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.grid import numbers_of
from mercer.readers.labels import is_number
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted

_ASYMMETRY = 1e-6


def is_gram(matrix: Any) -> bool:
    """Whether a matrix can only be one of similarities: square, of some size, and symmetric."""
    square = isinstance(matrix, np.ndarray) and matrix.shape[0] == matrix.shape[1] > 3 and matrix.dtype.kind == "f"
    return square and bool(np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12))


def may_be_gram(rows: list[list[str]]) -> bool:
    """Whether the head of a table repeats its first column, as far as these rows go."""
    return len(rows[0]) > 2 and len(rows) > 2 and rows[0][1 : len(rows)] == [row[0] for row in rows[1:]]


def gram_of_rows(name: str, rows: list[list[str]], lines: list[int], options: Options) -> Data:
    """Names in the first line and column, or numbers alone."""
    ids, columns = None, None
    if not all(is_number(cell) for cell in rows[0][1:]) or not is_number(rows[0][0]):
        columns = [cell.strip() for cell in rows[0][1:]]
        rows, lines = rows[1:], lines[1:]
        ids = [row[0].strip() for row in rows]
        rows = [row[1:] for row in rows]
    matrix = np.empty((len(rows), len(rows[0]) if rows else 0))
    for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
        found = numbers_of(row)
        if found is None or np.isnan(found).any():
            column = next(
                number for number, cell in enumerate(row) if not is_number(cell) or abs(float(cell)) == np.inf
            )
            called = str(column + 1) if columns is None else columns[column]
            raise problem(name, f"{quoted(row[column])} is not a finite number", line=line, column=called)
        matrix[place] = found
    return gram_of(name, matrix, ids, None, options, columns)


def _ordered(name: str, matrix: npt.NDArray[np.float64], ids: list[str], columns: list[str]) -> Any:
    """The columns of a square matrix in the order of its rows."""
    if len(set(ids)) < len(ids):
        doubled = next(key for key in ids if ids.count(key) > 1)
        raise problem(name, f"two objects are called {quoted(doubled)}")
    return matrix if ids == columns else matrix[:, columns_for(name, columns, ids)]


def columns_for(name: str, columns: list[str], wanted: list[str]) -> list[int]:
    """Which columns of a matrix belong to the objects that are wanted, by their names."""
    place = {key: number for number, key in enumerate(columns)}
    absent = [key for key in wanted if key not in place]
    if absent:
        raise problem(
            name,
            f"no column for {count(len(absent), 'object')}, the first {quoted(absent[0])}",
            hint="The head of the file names the objects of the columns: all those of training.",
        )
    return [place[key] for key in wanted]


def gram_of(
    name: str, matrix: Any, ids: list[str] | None, labels: Any, options: Options, columns: list[str] | None = None
) -> Data:
    """A matrix of similarities: square for training, new objects by training objects for prediction."""
    values: npt.NDArray[np.float64] = np.asarray(matrix, dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = (int(place) for place in np.argwhere(~np.isfinite(values))[0])
        raise problem(name, f"entry ({row + 1}, {column + 1}) is not a finite number")
    if options.require_target:
        if values.shape[0] != values.shape[1]:
            shape = f"{values.shape[0]:,} x {values.shape[1]:,}"
            hint = "New objects by training objects are what `mercer predict` takes."
            raise problem(name, f"a Gram matrix for training is square, this one is {shape}", hint=hint)
        if ids is not None and columns is not None:
            values = _ordered(name, values, ids, columns)
        apart = np.abs(values - values.T)
        if apart.max(initial=0.0) > _ASYMMETRY * max(1.0, float(np.abs(values).max(initial=0.0))):
            row, column = divmod(int(apart.argmax()), len(apart))
            one, other = values[row, column], values[column, row]
            where = f"({row + 1}, {column + 1}) and ({column + 1}, {row + 1})"
            raise problem(name, f"not symmetric: the entries {where} are {one:g} and {other:g}")
    text = None if labels is None else [str(item) for item in np.asarray(labels).tolist()]
    found = finished(name, "gram", "gram", values, text, options, ids=ids)
    return found if columns is None else dataclasses.replace(found, detail={"columns": columns})
