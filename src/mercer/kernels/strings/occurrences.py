"""Where the features of a string lie in it, and how they are spelt."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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


def word_of(symbols: Iterable[int | None]) -> str:
    """Symbols as a word, tokens with spaces between them, and a dot where any symbol will do."""
    listed = list(symbols)
    between = " " if any(symbol is not None and symbol >= LOWEST_NAME for symbol in listed) else ""
    return between.join("." if symbol is None else text_of_symbol(symbol) for symbol in listed)
