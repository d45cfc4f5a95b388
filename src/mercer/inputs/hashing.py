"""Names for hashable things that are the same in every process and on every machine.

Python salts the hash of strings, so it cannot name anything that outlives a process. Here a thing is encoded by its
type and content, and the name is a keyless BLAKE2b digest of that encoding.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from mercer.errors import InputTypeError
from mercer.inputs.base import shown

LOWEST_NAME = 2**62
"""Names are in [2^62, 2^63): positive as int64, and different from every Unicode code point."""


MOST_REMEMBERED = 2**18
"""The number of things whose names are remembered, so that features and explanations can be spelt out: some tens of
megabytes at most. Older ones are shown as numbers."""
_REMEMBERED: dict[int, Hashable] = {}
_UNKNOWN = object()


def content_hash(thing: Hashable) -> int:
    """A 62-bit name of a string, number, tuple, frozenset, bytes, None, or any nesting of them.

    Things that Python finds equal have equal names: ``1``, ``1.0`` and ``True`` are one element.

    >>> content_hash(1) == content_hash(1.0), content_hash("1") == content_hash(1)
    (True, False)
    """
    digest = hashlib.blake2b(_encoded(thing), digest_size=8).digest()
    name = LOWEST_NAME | (int.from_bytes(digest, "little") >> 2)
    _REMEMBERED[name] = thing
    if len(_REMEMBERED) > MOST_REMEMBERED:
        with contextlib.suppress(KeyError, RuntimeError):  # another thread forgets the same one, or names something
            del _REMEMBERED[next(iter(_REMEMBERED))]
    return name


def text_of_name(name: int) -> str | None:
    """The thing that a name stands for, as text, if it was named in this process and not too long ago.

    >>> text_of_name(content_hash("dog"))
    'dog'
    """
    thing = _REMEMBERED.get(name, _UNKNOWN)  # at once: another thread may forget it
    return None if thing is _UNKNOWN else str(thing)


def text_of_symbol(symbol: int) -> str:
    """A symbol as text: a character, or the token that it stands for."""
    return (text_of_name(symbol) or f"#{symbol:x}") if symbol >= LOWEST_NAME else chr(symbol)


def text_of_label(code: int) -> str:
    """A label as text: whole numbers are themselves, other codes are shown as what they stand for."""
    return (text_of_name(code) or f"#{code:x}") if code >= LOWEST_NAME else str(code)


def label_code(label: Any) -> int:
    """The code of a label of a node or an edge: whole numbers of 64 bits as they are, text by its name.

    Raises TypeError or OverflowError for anything else.
    """
    if isinstance(label, int | np.integer):
        return int(np.int64(label))
    if isinstance(label, str | tuple):
        return content_hash(label)
    raise TypeError(f"{shown(label)} is not a label")


def symbol_of(token: Hashable) -> int:
    """The symbol of a token: the code point of a single character, the name of anything else.

    So a list of characters is the same sequence as the string that they spell.
    """
    return ord(token) if isinstance(token, str) and len(token) == 1 else content_hash(token)


def type_of(thing: Any) -> str:
    """The family of a token, within which tokens can be equal."""
    if isinstance(thing, bool | int | float | np.bool_ | np.integer | np.floating):
        return "number"
    return "str" if isinstance(thing, str) else type(thing).__name__


def _encoded(thing: Any) -> bytes:
    if isinstance(thing, str):
        return b"s" + thing.encode("utf-8", "surrogatepass")
    if isinstance(thing, bool | int | np.bool_ | np.integer):
        return b"n" + str(int(thing)).encode()
    if isinstance(thing, float | np.floating):
        number = float(thing)
        if math.isnan(number):
            raise InputTypeError("NaN is not equal to itself, so it cannot be a token or an element of a set.")
        return b"n" + (str(int(number)) if number.is_integer() else number.hex()).encode()
    if isinstance(thing, bytes):
        return b"b" + thing
    if thing is None:
        return b"0"
    if isinstance(thing, tuple):
        return b"t" + _joined([_encoded(part) for part in thing])
    if isinstance(thing, frozenset):
        return b"f" + _joined(sorted(_encoded(part) for part in thing))
    raise InputTypeError(
        f"{shown(thing)} of type {type(thing).__name__} has no content that could be compared in another process. "
        "Use strings, numbers, bytes, None, or tuples and frozensets of them."
    )


def _joined(parts: list[bytes]) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)
