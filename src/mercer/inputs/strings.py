"""Strings of characters and sequences of tokens, as one array of symbols with the offset of each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer._types import Int64
from mercer.errors import InputTypeError
from mercer.inputs.base import Arrays, bad_item, listed, misfit, shown, stored
from mercer.inputs.hashing import LOWEST_NAME, symbol_of, type_of
from mercer.inputs.ragged import RaggedObjects, fit_together, offsets_of


@dataclass(eq=False, repr=False)
class Strings(RaggedObjects):
    """A batch of strings, or of sequences of hashable tokens: symbols of all of them in one array, with offsets.

    The symbols of a string are its Unicode code points (int32); a combining accent is a symbol of its own, and a lone
    surrogate is one too. The symbols of a sequence of tokens are names made of the content of each token (int64), the
    same in every process; single characters keep their code points, so ``list("CAT")`` equals ``"CAT"``.

    >>> from mercer.inputs.strings import Strings
    >>> Strings.coerce(["CATTC", "AAAGAGA"]).take(slice(1, 2)).tolist()
    ['AAAGAGA']
    >>> len(Strings.coerce([["to", "be"], ["or", "not"]]))
    2
    """

    kind: ClassVar[str] = "strings"

    symbols: npt.NDArray[Any]
    offsets: Int64

    @classmethod
    def parse(cls, raw: Any) -> Self:
        items = _items(raw)
        if isinstance(items[0], list | tuple | np.ndarray):
            return cls.of_tokens(items)
        for position, item in enumerate(items):
            if not isinstance(item, str):
                raise bad_item(cls.kind, position, item, _hint(item))
        return cls.of_text(items)

    @classmethod
    def of_text(cls, texts: Sequence[str]) -> Self:
        """Each character of each string is a symbol."""
        encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
        return cls(np.frombuffer(encoded, dtype="<i4").astype(np.int32), offsets_of(len(text) for text in texts))

    @classmethod
    def of_tokens(cls, sequences: Sequence[Sequence[Hashable]]) -> Self:
        """Each token of each sequence is a symbol."""
        names: dict[tuple[str, Hashable], int] = {}
        symbols: list[int] = []
        family: str | None = None
        for position, tokens in enumerate(sequences):
            if not isinstance(tokens, list | tuple | np.ndarray) or getattr(tokens, "shape", None) == ():
                raise InputTypeError(
                    f"Expected sequences of tokens like item 0, but item {position} is {shown(tokens)} of type "
                    f"{type(tokens).__name__}. Strings and lists of tokens are never mixed."
                )
            for place, token in enumerate(tokens):
                own = type_of(token)
                family = family or own
                if own != family:
                    raise InputTypeError(
                        f"Tokens must all have the same type: item {position} holds {shown(token)} of type "
                        f"{type(token).__name__} at position {place}, where tokens before it are of type {family}."
                    )
                try:
                    name = names.get((own, token))
                    if name is None:
                        name = names[own, token] = symbol_of(token)
                except TypeError as error:
                    raise InputTypeError(
                        f"Tokens must be hashable, but item {position} holds {shown(token)} of type "
                        f"{type(token).__name__} at position {place}: {error}"
                    ) from error
                symbols.append(name)
        return cls(np.asarray(symbols, dtype=np.int64), offsets_of(len(tokens) for tokens in sequences))

    @property
    def of_characters(self) -> bool:
        """Whether these are strings, rather than sequences of tokens."""
        return self.symbols.dtype == np.int32

    def tolist(self) -> list[Any]:
        """The strings themselves; for sequences of tokens, lists of the names of their tokens."""
        bounds = list(zip(self.offsets[:-1], self.offsets[1:], strict=True))
        if not self.of_characters:
            return [self.symbols[start:end].tolist() for start, end in bounds]
        codes = self.symbols.astype("<i4", copy=False)
        return [codes[start:end].tobytes().decode("utf-32-le", "surrogatepass") for start, end in bounds]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        symbols, offsets = stored(arrays, cls.kind, "symbols", "offsets")
        tokens = symbols.dtype == np.int64
        ok = symbols.dtype.kind == "i" and fit_together(offsets, symbols)
        if not ok or not bool((((symbols >= 0) & (symbols < 0x110000)) | (symbols >= LOWEST_NAME)).all()):
            raise misfit(cls.kind, "offsets and symbols disagree")
        return cls(np.array(symbols, dtype=np.int64 if tokens else np.int32), offsets.astype(np.int64))


def _items(raw: Any) -> list[Any]:
    if isinstance(raw, np.ndarray):
        if raw.ndim == 2 and raw.shape[1] == 1:
            raw = raw[:, 0]
        if raw.ndim != 1:
            raise InputTypeError(f"Expected a list of strings, got an array of shape {raw.shape}.")
    return listed(raw, "strings")


def _hint(item: object) -> str:
    if isinstance(item, bytes):
        return "Decode it first: bytes and text are never mixed."
    return "Strings and lists of tokens are never mixed." if isinstance(item, list | tuple | np.ndarray) else ""
