"""Declared alphabets: symbols become small codes, and what is outside is answered."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer.errors import InputError
from mercer.inputs.hashing import LOWEST_NAME, symbol_of
from mercer.inputs.strings import Strings

Codes = npt.NDArray[np.int32]
Alphabet = str | tuple[Hashable, ...]
OUTSIDE = -1
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


def encode(sequences: Strings, alphabet: Alphabet, owner: str, *, skip: bool) -> Codes:
    """The place of every symbol in the alphabet; symbols outside are an error, or with `skip` are -1."""
    known = np.asarray([symbol_of(symbol) for symbol in alphabet], dtype=np.int64)
    order = np.argsort(known)
    place = np.searchsorted(known, sequences.symbols, sorter=order)
    codes = order[np.minimum(place, len(known) - 1)].astype(np.int32)
    outside = known[codes] != sequences.symbols
    if outside.any():
        if not skip:
            raise _outside(sequences, int(np.flatnonzero(outside)[0]), int(outside.sum()), alphabet, owner)
        codes[outside] = OUTSIDE
    return codes


def _outside(sequences: Strings, where: int, count: int, alphabet: Alphabet, owner: str) -> InputError:
    row = int(np.searchsorted(sequences.offsets, where, side="right")) - 1
    symbol = int(sequences.symbols[where])
    shown = repr(chr(symbol)) if symbol < LOWEST_NAME else "a token"
    listed = repr(alphabet if len(alphabet) <= 40 else alphabet[:37])
    return InputError(
        f"String {row} has {shown} at position {where - int(sequences.offsets[row])}, which is not in the alphabet "
        f"{listed} of {owner} ({count} such symbol{'s' if count > 1 else ''} in all). Extend the alphabet, fold case "
        "with lowercase=True, or, where the kernel has it, use unknown='skip' to leave out every window that "
        "holds such "
        "a symbol (N and the other IUPAC codes, for example)."
    )


def complement_codes(owner: str, alphabet: Alphabet) -> Codes:
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
