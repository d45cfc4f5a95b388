"""Time series: sequences of vectors of any lengths."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from mercer._types import Float64, Int64
from mercer.errors import DataWarning, InputError, ModelFileError
from mercer.inputs.base import Arrays, bad_item, listed, misfit, read_only, refuse_masked, stored
from mercer.inputs.ragged import RaggedObjects, fit_together, offsets_of


@dataclass(eq=False, repr=False)
class Series(RaggedObjects):
    """A batch of time series with the same number of channels and any lengths: all moments in one array, with offsets.

    A series is a list of numbers, or an array of shape (length, channels). An array of shape (series, length) or
    (series, length, channels) is a batch of series of equal length.

    >>> from mercer.inputs.series import Series
    >>> Series.coerce([[0.0, 1.0, 2.0], [0.0, 2.0]]).lengths
    array([3, 2])
    """

    kind: ClassVar[str] = "time series"

    values: Float64
    """All moments, one row each."""
    offsets: Int64

    @classmethod
    def parse(cls, raw: Any) -> Self:
        parts = [_moments(item, position) for position, item in enumerate(_items(raw))]
        channels = parts[0].shape[1]
        for position, part in enumerate(parts):
            if part.shape[1] != channels:
                raise InputError(
                    f"Time series must have the same number of channels, but series {position} has {part.shape[1]} "
                    f"and series 0 has {channels}. A series is of shape (length, channels): transpose those that are "
                    "not."
                )
        values = np.ascontiguousarray(np.concatenate(parts))
        return cls(read_only(values), offsets_of(len(part) for part in parts))

    @classmethod
    def of_columns(cls, columns: Arrays) -> Self:
        """One column contains series; several columns of numbers are the moments of one series, in order."""
        if len(columns) == 1:
            return super().of_columns(columns)
        for name, column in columns.items():
            if column.dtype.kind not in "fiub":
                raise InputError(f"several columns are the moments of a series, but {name!r} does not hold numbers")
        return cls.coerce(np.column_stack([column.astype(np.float64) for column in columns.values()]))

    @property
    def channels(self) -> int:
        return int(self.values.shape[1])

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        values, offsets = stored(arrays, cls.kind, "values", "offsets")
        flat = values.ndim == 2 and values.dtype == np.float64 and values.shape[1] > 0
        if not flat or not fit_together(offsets, values[:, 0]) or not (np.diff(offsets) > 0).all():
            raise misfit(cls.kind, "offsets and values disagree")
        if not np.isfinite(values).all():
            raise ModelFileError("The stored time series hold values that are not finite.")
        return cls(read_only(np.ascontiguousarray(values)), offsets.astype(np.int64))


def refuse_other_channels(series: Series, channels: int) -> None:
    """Refuse new series whose number of channels differs from training."""
    if series.channels != channels:
        raise InputError(f"These time series have {series.channels} channels, those of training have {channels}.")


def _items(raw: Any) -> list[Any]:
    if hasattr(raw, "to_numpy") and np.ndim(frame := np.asarray(raw)) == 2:
        raw = frame  # a series in each row
    if isinstance(raw, np.ndarray) and raw.dtype != object and raw.ndim not in (2, 3):
        raise InputError(
            f"Expected a list of time series, or an array of shape (series, length) or (series, length, channels), got "
            f"shape {raw.shape}. For one series pass [series]."
        )
    if isinstance(raw, np.ndarray) and raw.ndim == 3 and raw.shape[2] > raw.shape[1] > 0:
        n, length, channels = raw.shape
        warnings.warn(
            f"An array of shape {raw.shape} is read as (series, length, channels): {n} series of length {length} with "
            f"{channels} channels. If it is (series, channels, length), as in some libraries, pass "
            "X.transpose(0, 2, 1); a list of the series, list(X), is taken as it is.",
            DataWarning,
            stacklevel=2,
        )
    return listed(raw, "time series")


def _moments(item: Any, position: int) -> Float64:
    refuse_masked(item, f"Series {position}")
    try:
        values = np.asarray(item)
        if values.dtype.kind not in "fiub":
            values = values.astype(np.float64) if values.dtype == object else np.asarray(None, dtype=object)
    except (TypeError, ValueError):
        values = np.asarray(None, dtype=object)
    if values.dtype.kind not in "fiub" or values.ndim not in (1, 2):
        hint = "A series is a list of numbers, or an array of shape (length, channels)."
        raise bad_item("time series", position, item, hint)
    moments = values.reshape(len(values), -1).astype(np.float64) if len(values) else values.reshape(0, 1)
    if 0 in moments.shape:
        raise InputError(f"Series {position} is empty; a time series has at least one moment and one channel.")
    bad = ~np.isfinite(moments)
    if bad.any():
        moment, channel = np.argwhere(bad)[0]
        raise InputError(
            f"Series {position} holds {moments[moment, channel]} at moment {moment}, channel {channel}. Fill it in, or "
            "cut it off: series may have different lengths, so none needs padding."
        )
    return np.asarray(moments, dtype=np.float64)
