"""The contract of a batch of objects of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy.typing as npt

from mercer._types import Index
from mercer.errors import InputError, ModelFileError

Arrays = Mapping[str, npt.NDArray[Any]]


class Objects(ABC):
    """A validated batch of objects of one kind: immutable, sliceable, and storable as plain arrays.

    Whatever a user passes goes through `coerce` once, which refuses bad input; past it, nothing is checked again.
    """

    kind: ClassVar[str]
    """The plural used in messages: 'strings', 'vectors'."""

    @classmethod
    def coerce(cls, raw: Any, *, new: bool = False) -> Self:
        """Parse and validate; `new` says that these objects come after training, to be predicted."""
        del new
        return raw if isinstance(raw, cls) else cls.parse(raw)

    @classmethod
    def parse(cls, raw: Any) -> Self:
        """What a user passed, validated; not needed by kinds with a `coerce` of their own."""
        raise NotImplementedError(f"{cls.__name__} has neither `parse` nor `coerce`.")

    @classmethod
    def of_columns(cls, columns: Arrays) -> Self:
        """The objects in named columns of a table; kinds whose objects span several columns override this."""
        if len(columns) > 1:
            names = tuple(columns)
            raise InputError(f"a kernel on {cls.kind} takes one column; add kernels.on(...) for each of {names}")
        return cls.coerce(next(iter(columns.values())))

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, index: Index) -> Self:
        """The objects at these positions; a slice gives a view."""

    @abstractmethod
    def to_arrays(self) -> Arrays:
        """The objects as plain arrays, for model files."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The inverse of `to_arrays`; raises ModelFileError on arrays that do not fit together."""


def stored(arrays: Arrays, kind: str, *names: str) -> list[Any]:
    """These arrays of a model file; one that is missing is named."""
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
