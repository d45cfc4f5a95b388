"""The items of a list of objects, whatever holds them; and how an item is quoted in messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from mercer.errors import InputError, InputTypeError


def listed(raw: Any, kind: str) -> list[Any]:
    """The items of a list, a tuple, an array, a column of pandas or polars, or a frame with one column.

    Iterators are refused because they can be read once, and kernels read twice; sets because they have no order.

    >>> listed(("CAT", "GAT"), "strings")
    ['CAT', 'GAT']
    """
    refuse_masked(raw)
    single = isinstance(raw, str | bytes | Mapping | AbstractSet)
    if single or not isinstance(raw, Iterable) or (isinstance(raw, np.ndarray) and raw.ndim == 0):
        raise not_a_list(kind, raw, single=single)
    if isinstance(raw, Iterator):
        raise InputTypeError(
            f"Expected a list of {kind}, got {type(raw).__name__}, which can be read only once. Pass list(...) of it."
        )
    if hasattr(raw, "to_numpy"):
        column = np.asarray(raw, dtype=object)
        if column.ndim == 2 and column.shape[1] == 1:
            column = column[:, 0]
        if column.ndim != 1:
            raise InputTypeError(f"Expected a list of {kind}, got {column.shape[1]} columns. Pass one of them.")
        raw = column
    items = list(raw)  # never np.asarray: it takes graphs and sets apart
    if not items:
        raise InputError(f"Found 0 {kind} while a minimum of 1 is required.")
    return items


def not_a_list(kind: str, raw: Any, *, single: bool = True) -> InputTypeError:
    """The error for what is no list; `single` for one object where a list of them is expected."""
    got = f"{'one ' if single else ''}{type(raw).__name__}"
    return InputTypeError(f"Expected a list of {kind}, got {got}. Pass a list, even of one.")


def bad_item(kind: str, position: int, item: Any, hint: str = "") -> InputTypeError:
    """The error for an item of a list that is of another kind; `hint` says what would be accepted."""
    tail = f" {hint}" if hint else ""
    return InputTypeError(
        f"Expected a list of {kind}, but item {position} is {shown(item)} of type {type(item).__name__}.{tail}"
    )


def refuse_masked(array: Any, owner: str = "X") -> None:
    """NumPy would drop the mask silently, and what was hidden would count."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        hidden = np.argwhere(np.ma.getmaskarray(array))
        where = ", ".join(f"{name} {place}" for name, place in zip(("row", "column", "layer"), hidden[0], strict=False))
        count = "the only one" if len(hidden) == 1 else f"the first of {len(hidden):,}"
        raise InputError(
            f"{owner} is a masked array whose entry at {where} is masked, {count}. Fill masked entries, or leave out "
            "the objects that have them; a mask would be ignored silently."
        )


def shown(item: object) -> str:
    """An item as it is quoted in messages."""
    text = repr(item)
    return text if len(text) <= 40 else text[:37] + "..."
