"""Declared alphabets: symbols become small codes, and unknown symbols are reported."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._types import Int32, Int64
from mercer.errors import InputError
from mercer.inputs.hashing import LOWEST_NAME, symbol_of
from mercer.inputs.strings import Strings

Alphabet = str | tuple[Hashable, ...]
OUTSIDE = -1
"""The code of a symbol that is not in the alphabet."""
_COMPLEMENTS = dict(zip("ACGTUacgtu", "TGCAAtgcaa", strict=True))


def checked_alphabet(owner: str, alphabet: Any, low: int = 1) -> Alphabet:
    """An alphabet as a string of characters, or a tuple of tokens; without repeats."""
    rule = f"a string or a list of at least {low} different symbols"
    if isinstance(alphabet, bytes) or not isinstance(alphabet, Iterable):
        raise _check.fail(owner, "alphabet", rule, alphabet)
    symbols: Alphabet = alphabet if isinstance(alphabet, str) else tuple(alphabet)
    if len(symbols) < low or len(set(symbols)) != len(symbols):
        raise _check.fail(owner, "alphabet", rule, alphabet)
    return symbols


def symbols_of(alphabet: Alphabet) -> Int64:
    """The symbol that each code of an alphabet stands for."""
    return np.asarray([symbol_of(symbol) for symbol in alphabet], dtype=np.int64)


def encode(sequences: Strings, alphabet: Alphabet, owner: str, *, skip: bool) -> Int32:
    """The position of every symbol in the alphabet; unknown symbols raise an error, or become -1 with `skip`."""
    codes, outside = _places(sequences, symbols_of(alphabet))
    if outside.any():
        if not skip:
            raise _outside(sequences, int(np.flatnonzero(outside)[0]), int(outside.sum()), alphabet, owner)
        codes[outside] = OUTSIDE
    return codes


def known_symbols(sequences: Strings, alphabet: Alphabet | None) -> Int64:
    """The symbols of an alphabet, or, without one, those that occur."""
    if alphabet is None:
        return np.unique(sequences.symbols).astype(np.int64)
    return symbols_of(alphabet)


def encode_known(sequences: Strings, known: Int64, owner: str) -> Int32:
    """The position of every symbol among those that a model knows; any other raises an error."""
    codes, outside = _places(sequences, known)
    if outside.any():
        where = int(np.flatnonzero(outside)[0])
        row, place, shown = _found(sequences, where)
        raise InputError(
            f"String {row} has {shown} at position {place}, a symbol that the model of {owner} does not know "
            f"({int(outside.sum())} in all). Give an alphabet that has it, or train on strings that do."
        )
    return codes


def _places(sequences: Strings, known: Int64) -> tuple[Int32, npt.NDArray[np.bool_]]:
    if not len(known):
        return np.zeros(len(sequences.symbols), dtype=np.int32), np.ones(len(sequences.symbols), dtype=bool)
    order = np.argsort(known)
    place = np.searchsorted(known, sequences.symbols, sorter=order)
    codes = order[np.minimum(place, len(known) - 1)].astype(np.int32)
    return codes, known[codes] != sequences.symbols


def _found(sequences: Strings, where: int) -> tuple[int, int, str]:
    """The string and the position of one symbol, and how it is written."""
    row = int(np.searchsorted(sequences.offsets, where, side="right")) - 1
    symbol = int(sequences.symbols[where])
    return row, where - int(sequences.offsets[row]), repr(chr(symbol)) if symbol < LOWEST_NAME else "a token"


def _outside(sequences: Strings, where: int, count: int, alphabet: Alphabet, owner: str) -> InputError:
    row, place, shown = _found(sequences, where)
    listed = repr(alphabet if len(alphabet) <= 40 else alphabet[:37])
    return InputError(
        f"String {row} has {shown} at position {place}, which is not in the alphabet "
        f"{listed} of {owner} ({count} such symbol{'s' if count > 1 else ''} in all). Extend the alphabet, fold case "
        "with lowercase=True, or, where the kernel has it, use unknown='skip' to leave out every window that "
        "holds such "
        "a symbol (N and the other IUPAC codes, for example)."
    )


def complement_codes(owner: str, alphabet: Alphabet) -> Int32:
    """The code of the complementary base of each symbol of a DNA or RNA alphabet."""
    places = {symbol: place for place, symbol in enumerate(alphabet)}
    partners = [_partner(symbol, places) for symbol in alphabet]
    if any(partner is None for partner in partners):
        raise _check.fail(owner, "alphabet", "one of 'ACGT', 'ACGU', 'acgt', 'acgu' for reverse complements", alphabet)
    return np.asarray(partners, dtype=np.int32)


def _partner(symbol: Hashable, places: dict[Hashable, int]) -> int | None:
    partner = _COMPLEMENTS.get(str(symbol))
    if partner is not None and partner not in places:
        partner = {"T": "U", "t": "u"}.get(partner)
    return None if partner is None else places.get(partner)
