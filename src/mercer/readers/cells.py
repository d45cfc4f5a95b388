"""Cells of a table: numbers, missing values, or text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mercer._types import Float64

Cells = Sequence[str] | Float64
"""A column as in a file: numbers, with NaN for missing ones, if it contains nothing else; otherwise text."""

MISSING = frozenset(("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "none", "?", "#N/A", "<NA>"))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def is_number(text: str) -> bool:
    """Whether this is a number as people write it."""
    return _NUMBER.fullmatch(text.strip()) is not None


def is_finite(text: str) -> bool:
    """Whether this is a number that fits in a float."""
    return is_number(text) and abs(float(text)) != np.inf


def numbers_of(cells: Sequence[str]) -> Float64 | None:
    """The cells as finite numbers, NaN if missing; None if any cell is something else."""
    try:
        found = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return _one_by_one(cells)
    # Python reads "1_000" and "nan" too, which people do not write as numbers.
    sound = bool(np.isfinite(found).all()) and "_" not in "".join(cells)
    return found if sound else _one_by_one(cells)


def _one_by_one(cells: Sequence[str]) -> Float64 | None:
    found = np.empty(len(cells))
    for place, cell in enumerate(cells):
        text = cell.strip()
        if text in MISSING:
            found[place] = np.nan
        elif is_finite(text):
            found[place] = float(text)
        else:
            return None
    return found
