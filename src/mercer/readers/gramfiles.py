"""Gram matrices that somebody computed, with the names of the objects where they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.labels import is_number
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted

if TYPE_CHECKING:
    from mercer.readers.delimited import Grid

_ASYMMETRY = 1e-6


def is_gram(matrix: Any) -> bool:
    """Whether a matrix can only be one of similarities: square, of some size, and symmetric."""
    square = isinstance(matrix, np.ndarray) and matrix.shape[0] == matrix.shape[1] > 3 and matrix.dtype.kind == "f"
    return square and bool(np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12))


def looks_like_gram(grid: Grid) -> bool:
    """Whether the head of a table repeats its first column."""
    return len(grid.rows) == len(grid.rows[0]) > 2 and grid.rows[0][1:] == [row[0] for row in grid.rows[1:]]


def gram_of_grid(name: str, grid: Grid, options: Options) -> Data:
    """Names in the first line and column, or numbers alone."""
    rows, lines = grid.rows, grid.lines
    ids: list[str] | None = None
    if not all(is_number(cell) for cell in rows[0][1:]) or not is_number(rows[0][0]):
        rows, lines = rows[1:], lines[1:]
        ids = [row[0].strip() for row in rows]
        rows = [row[1:] for row in rows]
    matrix = np.empty((len(rows), len(rows[0]) if rows else 0))
    for place, (row, line) in enumerate(zip(rows, lines, strict=True)):
        for column, cell in enumerate(row):
            if not is_number(cell):
                raise problem(name, f"{quoted(cell)} is not a number", line=line, column=str(column + 1))
            matrix[place, column] = float(cell)
    return gram_of(name, matrix, ids, None, options)


def gram_of(name: str, matrix: Any, ids: list[str] | None, labels: Any, options: Options) -> Data:
    """A matrix of similarities: square for training, new objects by training objects for prediction."""
    values: npt.NDArray[np.float64] = np.asarray(matrix, dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = (int(place) for place in np.argwhere(~np.isfinite(values))[0])
        raise problem(name, f"entry ({row + 1}, {column + 1}) is not a finite number")
    if options.require_target:
        if values.shape[0] != values.shape[1]:
            raise problem(name, f"a Gram matrix for training is square, this one has the shape {values.shape}")
        apart = np.abs(values - values.T)
        if apart.max(initial=0.0) > _ASYMMETRY * max(1.0, float(np.abs(values).max(initial=0.0))):
            row, column = divmod(int(apart.argmax()), len(apart))
            one, other = values[row, column], values[column, row]
            where = f"({row + 1}, {column + 1}) and ({column + 1}, {row + 1})"
            raise problem(name, f"not symmetric: the entries {where} are {one:g} and {other:g}")
    text = None if labels is None else [str(item) for item in np.asarray(labels).tolist()]
    return finished(name, "gram", "gram", values, text, options, ids=ids)
