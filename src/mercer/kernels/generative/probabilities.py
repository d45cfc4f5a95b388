"""Tables of probabilities given by users: read once; errors name the wrong row and entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.kernels.features.alphabet import checked_alphabet

Row = tuple[float, ...]
Rows = tuple[Row, ...]
Model = tuple[Float64, Float64, Float64]
"""Start, transitions (a row for each state of the parent) and emissions (a row for each state)."""
MODEL = ("start", "transitions", "emissions")
"""The names of the parts of a model, as parameters and in the state of a kernel."""
EXAMPLE: dict[str, Any] = {
    "alphabet": "ACGT",
    "start": (0.6, 0.4),
    "transitions": ((0.7, 0.3), (0.2, 0.8)),
    "emissions": ((0.5, 0.3, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4)),
}
_TOLERANCE = 1e-6
"""Sums up to this far from 1 come from rounded probabilities and are normalised; others are mistakes."""


def checked_row(owner: str, field: str, value: Any, size: int | None = None) -> Row:
    """One distribution: numbers that are not negative and sum to 1, `size` of them."""
    row = _array(owner, field, value, 1)
    _refuse(owner, field, row, "it")
    if size is not None and len(row) != size:
        raise _check.fail(owner, field, f"probabilities, {size} in a row", value)
    return _scaled(row)


def checked_rows(
    owner: str, field: str, value: Any, columns: int, n_rows: int | None = None, *, positive: bool = False
) -> Rows:
    """A table with a distribution in every row; `positive` if the kernel divides by each entry."""
    rows = _array(owner, field, value, 2)
    n_rows = len(rows) if n_rows is None else n_rows
    if rows.shape != (n_rows, columns):
        raise _check.fail(owner, field, f"a table of {n_rows} rows and {columns} columns", value)
    for number, row in enumerate(rows):
        _refuse(owner, field, row, f"row {number}")
        if positive and (row == 0.0).any():
            where = int(np.flatnonzero(row == 0.0)[0])
            raise ParameterError(
                f"The {field!r} parameter of {owner} must be positive everywhere, but row {number} has the probability "
                f"0 at column {where}. Smooth the estimates: add a little to every count."
            )
    return tuple(_scaled(row) for row in rows)


def check_hidden_model(kernel: Any) -> None:
    """Normalise `start`, `transitions` and `emissions` of a kernel: all given, with its `alphabet`, or none."""
    owner = type(kernel).__name__
    if kernel.alphabet is not None:
        object.__setattr__(kernel, "alphabet", checked_alphabet(owner, kernel.alphabet))
    if all(getattr(kernel, name) is None for name in MODEL):
        return
    missing = [name for name in (*MODEL, "alphabet") if getattr(kernel, name) is None]
    if missing:
        raise _check.fail(owner, missing[0], "given with the rest of the model, or none of it at all", None)
    start = checked_row(owner, "start", kernel.start)
    transitions = checked_rows(owner, "transitions", kernel.transitions, len(start), len(start))
    emissions = checked_rows(owner, "emissions", kernel.emissions, len(kernel.alphabet), len(start))
    for name, value in zip(MODEL, (start, transitions, emissions), strict=True):
        object.__setattr__(kernel, name, value)


def given_model(kernel: Any) -> Model | None:
    """The model given by the parameters of a kernel, if any."""
    return None if kernel.start is None else tuple(np.asarray(getattr(kernel, name)) for name in MODEL)  # type: ignore[return-value]


def _array(owner: str, field: str, value: Any, axes: int) -> Float64:
    rule = "a list of probabilities" if axes == 1 else "a list of rows of probabilities, all of one length"
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise _check.fail(owner, field, rule, value) from None
    if array.ndim != axes or 0 in array.shape:
        raise _check.fail(owner, field, rule, value)
    return array


def _refuse(owner: str, field: str, row: Float64, name: str) -> None:
    if not np.isfinite(row).all() or (row < 0).any():
        where = int(np.flatnonzero(~(np.isfinite(row) & (row >= 0)))[0])
        raise ParameterError(
            f"The {field!r} parameter of {owner} must hold probabilities, but {name} has {row[where]:g} at column "
            f"{where}."
        )
    if abs(row.sum() - 1.0) > _TOLERANCE:
        raise ParameterError(
            f"The {field!r} parameter of {owner} must hold probabilities that sum to 1, but {name} sums to "
            f"{row.sum():.9g}. Divide it by its sum."
        )


def _scaled(row: Float64) -> Row:
    total = float(row.sum())
    return tuple(float(entry) if abs(total - 1.0) < 1e-12 else float(entry) / total for entry in row)
