"""Dates and times as numbers that kernels compare: days, with their fractions."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.inputs.vectors import Vectors

_DAY = 86_400_000_000
"""Microseconds."""


def days(column: Any) -> Vectors:
    """Days since the first of January 1970 of each date or time, in one column of numbers.

    Dates are those of NumPy, pandas, polars and `datetime`, or text such as ``"2026-11-18 05:30"``. To compare both
    seasons and trends, use a sum: ``on("when", Periodic(period=365.25), as_="days") + on("when", RBF(1e-6),
    as_="days")``; a week has the period 7, the time of day the period 1.

    >>> days(["1970-01-02", "1970-01-03T12:00"]).values
    array([[1. ],
           [2.5]])
    """
    raw = column.to_numpy() if hasattr(column, "to_numpy") else column
    values = np.asarray(raw)
    numbers = values if values.dtype.kind in "biufc" else [one for one in values.flat if isinstance(one, Number)]
    if len(numbers):
        raise InputError(
            f"these are not dates, but numbers, such as {numbers[0]!s}, and nothing says what they count. Compare them "
            "as numbers (leave out as_='days'), or make dates of them: pandas.to_datetime(column, unit='s')."
        )
    try:
        found = values.astype("datetime64[us]")
    except (TypeError, ValueError) as error:
        raise InputError(
            f"these are not dates: {error}. Dates are those of NumPy, pandas and datetime, or text such as 2026-11-18 "
            "05:30, all without time zones."
        ) from error
    if found.ndim != 1:
        raise InputError(f"dates must be in one column, got shape {found.shape}")
    missing = np.flatnonzero(np.isnat(found))
    if len(missing):
        raise InputError(f"row {int(missing[0])} holds no date. Fill it in, or drop the row.")
    return Vectors.coerce((found.astype(np.int64) / _DAY)[:, None])
