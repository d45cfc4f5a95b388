"""The contract of a batch of objects of one kind; reading lists of objects, and quoting objects in messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer._types import Index
from mercer.errors import InputError, InputTypeError, ModelFileError

Arrays = Mapping[str, npt.NDArray[Any]]
_UNKNOWN_BYTES = 1024
"""Assumed bytes of an object that is not stored in arrays: more than most take."""


@dataclass(eq=False, repr=False)
class Objects:
    """A validated batch of objects of one kind: immutable, sliceable, and storable as plain arrays.

    All user input goes through `coerce` once, which refuses bad input; after that, nothing is checked again. Most kinds
    are dataclasses whose fields are arrays with one row per object; the others override the methods that rely on it.
    """

    kind: ClassVar[str]
    """The plural used in messages: 'strings', 'vectors'."""

    @classmethod
    def coerce(cls, raw: Any, *, new: bool = False) -> Self:
        """Parse and validate; `new` means that these objects are to be predicted after training."""
        del new
        return raw if isinstance(raw, cls) else cls.parse(raw)

    @classmethod
    def parse(cls, raw: Any) -> Self:
        """Parse and validate user input; not needed by kinds with their own `coerce`."""
        raise NotImplementedError(f"{cls.__name__} has neither `parse` nor `coerce`.")

    @classmethod
    def of_columns(cls, columns: Arrays) -> Self:
        """The objects in named columns of a table; kinds whose objects span several columns override this."""
        if len(columns) > 1:
            names = tuple(columns)
            raise InputError(f"a kernel on {cls.kind} takes one column; add kernels.on(...) for each of {names}")
        return cls.coerce(next(iter(columns.values())))

    def __len__(self) -> int:
        return int(getattr(self, fields(self)[0].name).shape[0])

    @property
    def nbytes(self) -> int:
        """The approximate number of bytes that the objects take."""
        total = 0
        for field in fields(self):
            value = getattr(self, field.name)
            stored = getattr(value, "data", value) if not hasattr(value, "nbytes") else value  # CSR rows have `data`
            total += getattr(stored, "nbytes", _UNKNOWN_BYTES * len(self))
        return total

    def take(self, index: Index) -> Self:
        """The objects at these positions; a slice gives a view."""
        make: Any = type(self)
        return make(*(getattr(self, field.name)[index] for field in fields(self)))  # type: ignore[no-any-return]

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The objects of several batches, one after another."""
        make: Any = cls
        return make(*(end_to_end([getattr(part, one.name) for part in parts], cls.kind) for one in fields(cls)))  # type: ignore[no-any-return]

    def known(self) -> Self:
        """The objects to fit a kernel to: these, or a sample of them if they do not fit in memory."""
        return self

    def to_arrays(self) -> Arrays:
        """The objects as plain arrays, for model files."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The inverse of `to_arrays`; raises ModelFileError for inconsistent arrays."""
        raise NotImplementedError(f"{cls.__name__} has no `from_arrays`.")


def stored(arrays: Arrays, kind: str, *names: str) -> list[Any]:
    """These arrays of a model file; raises ModelFileError with the name of a missing one."""
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ModelFileError(f"The stored {kind} lack the array {missing[0]!r}.")
    return [arrays[name] for name in names]


def misfit(kind: str, problem: str) -> ModelFileError:
    """The error for stored arrays that contradict each other."""
    return ModelFileError(f"The stored {kind} do not fit together: {problem}.")


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def end_to_end(arrays: Sequence[npt.NDArray[Any]], kind: str) -> npt.NDArray[Any]:
    """Concatenate arrays of the same type; NumPy would convert numbers of different types."""
    if len({(array.dtype, array.shape[1:]) for array in arrays}) > 1:
        found = " and ".join(sorted({f"{array.dtype} {array.shape[1:]}" for array in arrays}))
        raise InputError(f"Batches of {kind} that are stored in different ways cannot be joined: {found}.")
    return np.concatenate(arrays)


def under(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names have this prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def listed(raw: Any, kind: str) -> list[Any]:
    """The items of a list, a tuple, an array, a column of pandas or polars, or a frame with one column.

    Iterators are refused because they can be read only once, and kernels read twice; sets because they have no order.

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
    if is_column(raw):
        raw = raw[:, 0]
    items = list(raw)  # never np.asarray: it splits graphs and sets
    if not items:
        raise InputError(f"Found 0 {kind} while a minimum of 1 is required.")
    return items


def is_column(raw: Any) -> bool:
    """Whether objects are in an array of one column, as returned by `mercer.objects` for scikit-learn's tools."""
    return isinstance(raw, np.ndarray) and raw.dtype.kind == "O" and raw.ndim == 2 and raw.shape[1] == 1


def not_a_list(kind: str, raw: Any, *, single: bool = True) -> InputTypeError:
    """The error for something that is not a list; `single` if it is one object instead of a list."""
    got = f"{'one ' if single else ''}{type(raw).__name__}"
    return InputTypeError(f"Expected a list of {kind}, got {got}. Pass a list, even of one.")


def bad_item(kind: str, position: int, item: Any, hint: str = "") -> InputTypeError:
    """The error for an item of a list that is of another kind; `hint` says what would be accepted."""
    tail = f" {hint}" if hint else ""
    return InputTypeError(
        f"Expected a list of {kind}, but item {position} is {shown(item)} of type {type(item).__name__}.{tail}"
    )


def refuse_masked(array: Any, owner: str = "X") -> None:
    """Refuse masked arrays: NumPy would drop the mask silently, and masked entries would count."""
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
