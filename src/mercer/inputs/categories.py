"""Rows of categories: colours, sizes, codes, anything that is either equal or not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer._types import UInt64
from mercer.errors import InputError, InputTypeError
from mercer.inputs.base import Arrays, Objects, misfit, read_only, refuse_masked


@dataclass(eq=False, repr=False)
class Categories(Objects):
    """A matrix whose rows are the objects and whose entries are categories: text, whole numbers, numbers, booleans.

    Entries are equal if they are equal in Python: ``1 == 1.0 == True``, but ``1 != "1"``. Each is stored as a 64-bit
    hash of itself, so batches agree without a shared list of categories, and new objects may have unseen categories.
    Missing values (None, NaN) are refused, because it is unknown whether two of them are equal.

    >>> from mercer.inputs.categories import Categories
    >>> rows = Categories.coerce([["red", 1], ["blue", 1]])
    >>> (rows.codes[0] == rows.codes[1]).tolist()
    [False, True]
    """

    kind: ClassVar[str] = "categories"

    codes: UInt64

    @classmethod
    def parse(cls, raw: Any) -> Self:
        values = _matrix(raw)
        names = [f"column {number}" for number in range(values.shape[1])]
        return cls._of(names, [values[:, number] for number in range(values.shape[1])])

    @classmethod
    def of_columns(cls, columns: Arrays) -> Self:
        return cls._of([f"column {name!r}" for name in columns], list(columns.values()))

    @classmethod
    def _of(cls, names: list[str], columns: list[npt.NDArray[Any]]) -> Self:
        if not columns or not len(columns[0]):
            shape = (len(columns[0]) if columns else 0, len(columns))
            raise InputError(f"Found categories of shape {shape} while at least 1 row and 1 column are required.")
        codes = np.empty((len(columns[0]), len(columns)), dtype=np.uint64)
        for number, (name, column) in enumerate(zip(names, columns, strict=True)):
            codes[:, number] = _codes(name, column)
        return cls(read_only(codes))

    @property
    def n_columns(self) -> int:
        return int(self.codes.shape[1])

    def to_arrays(self) -> Arrays:
        # Model files contain only signed integers; the bits are the same.
        return {"codes": self.codes.view(np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        codes = arrays.get("codes")
        if codes is None or codes.ndim != 2 or codes.dtype != np.int64 or 0 in codes.shape:
            raise misfit(cls.kind, "a matrix of 64-bit codes is needed")
        return cls(read_only(np.ascontiguousarray(codes).view(np.uint64)))


def _matrix(raw: Any) -> npt.NDArray[Any]:
    if isinstance(raw, str | bytes):
        raise InputTypeError(f"Expected rows of categories, got one {type(raw).__name__}. Pass a list of rows.")
    refuse_masked(raw)
    try:
        # A list goes through objects: NumPy would turn the mixed row ["a", 1] into text.
        values = raw if isinstance(raw, np.ndarray) else np.asarray(raw, dtype=object)
    except ValueError as error:
        raise InputTypeError(
            f"Expected rows of categories of equal length, but their lengths differ: {error}"
        ) from error
    if values.ndim != 2:
        raise InputError(
            f"Expected a 2D array of categories, one row per object, got shape {values.shape}. "
            "For one category per object, pass [[value] for value in values]."
        )
    return values


def _codes(name: str, column: npt.NDArray[Any]) -> UInt64:
    seen: dict[Any, int] = {}
    codes = np.empty(len(column), dtype=np.uint64)
    for row, value in enumerate(column.tolist()):
        try:
            code = seen.get(value)
        except TypeError:  # a list or a set, which is not hashable
            code = None
        if code is None:
            code = _code(value, row, name)
            seen[value] = code
        codes[row] = code
    return codes


def _code(value: Any, row: int, name: str) -> int:
    if _is_missing(value):
        raise InputError(
            f"The category at row {row}, {name} is missing ({value!r}). Drop the row, or replace missing "
            "values by a category of their own, such as 'missing'."
        )
    if isinstance(value, str):
        key = b"text " + value.encode("utf-8", "surrogatepass")
    elif isinstance(value, Integral | np.bool_):
        key = f"whole {int(value)}".encode()
    elif isinstance(value, Real):
        number = float(value)
        key = f"whole {int(number)}".encode() if number.is_integer() else f"real {number!r}".encode()
    else:
        raise InputTypeError(
            f"The category at row {row}, {name} is of type {type(value).__name__}; categories are text, numbers or "
            "booleans. Convert it to text first."
        )
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":  # pandas.NA answers no comparison
        return True
    return not isinstance(value, np.ndarray) and bool(value != value)
