"""Rows of different lengths, concatenated in flat arrays with the offset of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mercer._types import Index, Int64
from mercer.inputs.base import Objects, end_to_end


def offsets_of(lengths: Iterable[int] | npt.NDArray[Any]) -> Int64:
    """Where each row starts, and where the last one ends.

    >>> offsets_of([2, 0, 3])
    array([0, 2, 2, 5])
    """
    sizes = np.asarray(lengths if isinstance(lengths, np.ndarray) else list(lengths), dtype=np.int64)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def take_rows(index: Index, offsets: Int64, *arrays: npt.NDArray[Any]) -> tuple[Any, ...]:
    """The rows at these positions of each flat array, with their offsets last; a slice gives views."""
    if isinstance(index, slice) and index.step in (None, 1):
        start, stop, _ = index.indices(len(offsets) - 1)
        bounds = offsets[start : max(start, stop) + 1]
        return (*(array[bounds[0] : bounds[-1]] for array in arrays), bounds - bounds[0])
    bounds = offsets_of(np.diff(offsets)[index])
    source = np.arange(bounds[-1]) + np.repeat(offsets[:-1][index] - bounds[:-1], np.diff(bounds))
    return (*(array[source] for array in arrays), bounds)


def fit_together(offsets: npt.NDArray[Any], *arrays: npt.NDArray[Any]) -> bool:
    """Whether stored offsets split flat arrays of one length into rows."""
    return (
        offsets.ndim == 1
        and offsets.dtype.kind == "i"
        and len(offsets) >= 1
        and offsets[0] == 0
        and bool((np.diff(offsets) >= 0).all())
        and all(array.ndim == 1 and len(array) == offsets[-1] for array in arrays)
    )


class RaggedObjects(Objects):
    """Objects of different lengths: the parts of all of them concatenated, with the offset of each.

    Kinds are dataclasses with `offsets` among their fields; the other fields have one row per part.
    """

    offsets: Int64
    """The parts of object i are ``offsets[i]:offsets[i + 1]``."""

    @property
    def lengths(self) -> Int64:
        """How many parts each object has: symbols, moments, elements or nodes."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> Self:
        names = [field.name for field in fields(self) if field.name != "offsets"]
        *parts, offsets = take_rows(index, self.offsets, *(getattr(self, name) for name in names))
        make: Any = type(self)
        return make(offsets=offsets, **dict(zip(names, parts, strict=True)))  # type: ignore[no-any-return]

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        names = [field.name for field in fields(cls) if field.name != "offsets"]
        arrays = {name: end_to_end([getattr(part, name) for part in parts], cls.kind) for name in names}
        make: Any = cls
        return make(offsets=joined_offsets(parts), **arrays)  # type: ignore[no-any-return]


def joined_offsets(parts: Sequence[RaggedObjects]) -> Int64:
    """The offsets of concatenated batches."""
    return offsets_of(np.concatenate([part.lengths for part in parts]))
