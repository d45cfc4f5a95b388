"""Where the features of a string lie in it, and how they are spelt."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from mercer._types import Float64, Int64, UInt64
from mercer.inputs.hashing import LOWEST_NAME, text_of_symbol
from mercer.inputs.strings import Strings
from mercer.kernels.features.occurrences import Occurrences


def at_places(
    sequence: Strings,
    names: UInt64,
    values: Float64,
    places: Int64,
    sizes: Int64,
    spell: Callable[[int], str] | None = None,
) -> Occurrences:
    """The occurrences at these places of one string, spelt by the symbols there if not otherwise."""

    def as_read(k: int) -> str:
        return word_of(sequence.symbols[places[k, : sizes[k]]].tolist())

    parts = tuple(text_of_symbol(symbol) for symbol in sequence.symbols.tolist())
    return Occurrences(parts, names, values, places, sizes, as_read if spell is None else spell)


def of_words(
    sequence: Strings, names: UInt64, values: Float64, shortest: int, longest: int, *, placed: bool = False
) -> Occurrences:
    """The words of these lengths, those that begin at one place after those before it; with their place if `placed`."""
    length = len(sequence.symbols)
    pairs = [(start, q) for start in range(length) for q in range(shortest, min(longest, length - start) + 1)]
    starts, sizes = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    behind = np.arange(longest)[None, :]
    places = np.where(behind < sizes[:, None], starts[:, None] + behind, 0)

    def with_place(k: int) -> str:
        return f"{word_of(sequence.symbols[starts[k] : starts[k] + sizes[k]].tolist())}@{starts[k]}"

    return at_places(sequence, names, values, places, sizes, with_place if placed else None)


def word_of(symbols: Iterable[int | None]) -> str:
    """Symbols as a word, tokens with spaces between them, and a dot where any symbol will do."""
    listed = list(symbols)
    between = " " if any(symbol is not None and symbol >= LOWEST_NAME for symbol in listed) else ""
    return between.join("." if symbol is None else text_of_symbol(symbol) for symbol in listed)
