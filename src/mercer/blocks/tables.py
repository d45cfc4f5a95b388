"""Columns of a table as a block: objects, targets and weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer._check import did_you_mean
from mercer.errors import DataFileError
from mercer.inputs.blocks import Block


def block_of(name: str, columns: Mapping[str, Any], target: str | None, weight: str | None) -> Block:
    """Rows of numbers if all columns are numeric, else the columns by name."""
    for asked in (target, weight):
        if asked is not None and asked not in columns:
            raise DataFileError(f"{name}: there is no column {asked!r}. {did_you_mean(asked, columns)}")
    others = {key: np.asarray(values) for key, values in columns.items() if key not in (target, weight)}
    if not others:
        raise DataFileError(f"{name}: no column is left to learn from")
    y = None if target is None else np.asarray(columns[target])
    weights = None if weight is None else np.asarray(columns[weight], dtype=np.float64)
    return Block(_objects(others), y if y is None or y.dtype.kind != "O" else y.astype(np.str_), weights)


def _objects(columns: Mapping[str, Any]) -> Any:
    if not all(values.dtype.kind in "fiub" for values in columns.values()):
        return columns
    single = all(values.dtype == np.float32 for values in columns.values())
    return np.column_stack([values.astype(np.float32 if single else np.float64) for values in columns.values()])
