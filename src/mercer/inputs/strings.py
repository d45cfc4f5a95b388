"""Strings of characters, held as one array of code points and the offsets of each string in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.base import Arrays, Index, Objects


class Strings(Objects):
    """A batch of strings: code points of all of them in one array, with offsets.

    Symbols are Unicode code points; no normalisation is done (a combining accent is a symbol of its own).

    >>> from mercer.inputs.strings import Strings
    >>> Strings.coerce(["CATTC", "AAAGAGA"]).take(slice(1, 2)).tolist()
    ['AAAGAGA']
    """

    kind: ClassVar[str] = "strings"

    def __init__(self, symbols: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> None:
        self.symbols = symbols
        self.offsets = offsets

    @classmethod
    def coerce(cls, raw: Any, *, new: bool = False) -> Self:
        del new
        if isinstance(raw, cls):
            return raw
        items = _items(raw)
        if not items:
            raise InputError("Found 0 strings while a minimum of 1 is required.")
        for position, item in enumerate(items):
            if not isinstance(item, str):
                hint = " Decode it first: bytes and text are never mixed." if isinstance(item, bytes) else ""
                raise InputTypeError(
                    f"Expected a list of strings, but item {position} is {_shown(item)} "
                    f"of type {type(item).__name__}.{hint}"
                )
        lengths = np.fromiter((len(item) for item in items), dtype=np.int64, count=len(items))
        offsets = np.zeros(len(items) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        encoded = "".join(items).encode("utf-32-le", "surrogatepass")
        return cls(np.frombuffer(encoded, dtype="<i4").astype(np.int32, copy=False), offsets)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> Self:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                offsets = self.offsets[start : stop + 1]
                return type(self)(self.symbols[offsets[0] : offsets[-1]], offsets - offsets[0])
            index = np.arange(start, stop, step)
        lengths = self.lengths[index]
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        shift = np.repeat(self.offsets[:-1][index] - offsets[:-1], lengths)
        return type(self)(self.symbols[np.arange(offsets[-1]) + shift], offsets)

    def tolist(self) -> list[str]:
        """The strings themselves."""
        bounds = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        codes = self.symbols.astype("<i4", copy=False)
        return [codes[start:end].tobytes().decode("utf-32-le", "surrogatepass") for start, end in bounds]

    def to_arrays(self) -> Arrays:
        return {"symbols": self.symbols, "offsets": self.offsets}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        try:
            symbols, offsets = arrays["symbols"], arrays["offsets"]
        except KeyError as error:
            raise ModelFileError(f"The stored strings lack the array {error}.") from error
        ok = (
            symbols.ndim == offsets.ndim == 1
            and symbols.dtype.kind == offsets.dtype.kind == "i"
            and len(offsets) >= 1
            and offsets[0] == 0
            and offsets[-1] == len(symbols)
            and bool((np.diff(offsets) >= 0).all())
            and bool(((symbols >= 0) & (symbols < 0x110000)).all())
        )
        if not ok:
            raise ModelFileError("The stored strings do not fit together: offsets and symbols disagree.")
        return cls(symbols.astype(np.int32), offsets.astype(np.int64))


def _items(raw: Any) -> list[Any]:
    if isinstance(raw, str | bytes):
        raise InputTypeError(
            f"Expected a list of strings, got one {type(raw).__name__}. Pass a list, even for one string."
        )
    if isinstance(raw, np.ndarray) or hasattr(raw, "to_numpy"):
        array = np.asarray(raw, dtype=object)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            raise InputTypeError(f"Expected a list of strings, got an array of shape {array.shape}.")
        return list(array)
    if isinstance(raw, Sequence):
        return list(raw)
    raise InputTypeError(f"Expected a list of strings, got {type(raw).__name__}.")


def _shown(item: object) -> str:
    text = repr(item)
    return text if len(text) <= 40 else text[:37] + "..."
