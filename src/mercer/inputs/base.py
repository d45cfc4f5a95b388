"""The contract of a batch of objects of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy.typing as npt

from mercer._types import Index
from mercer.errors import InputError

Arrays = Mapping[str, npt.NDArray[Any]]


class Objects(ABC):
    """A validated batch of objects of one kind: immutable, sliceable, and storable as plain arrays.

    Whatever a user passes goes through `coerce` once, which answers bad input; past it, nothing is checked again.
    """

    kind: ClassVar[str]
    """The plural used in messages: 'strings', 'vectors'."""

    @classmethod
    @abstractmethod
    def coerce(cls, raw: Any, *, new: bool = False) -> Self:
        """Parse and validate; `new` says that these objects come after training, to be predicted."""

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


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view
