"""Numbers for the hashed names of features, in the order in which they were first seen."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import UInt64

_SMALLEST = 1024
"""The capacity of a new table: 24 KiB; it doubles whenever it is full."""
_PIECE = 2**16
"""Names added at a time. Memory is reserved for a whole piece before repeated names are known: larger pieces waste
memory, smaller ones call the compiled loop more often."""


@final
class Vocabulary:
    """A hash table, name -> number, that grows while names are added.

    >>> words = Vocabulary()
    >>> words.add(np.array([7, 5, 7], dtype=np.uint64)).tolist(), words.find(np.array([5, 6], dtype=np.uint64)).tolist()
    ([0, 1, 0], [1, -1])
    """

    def __init__(self) -> None:
        self._names: UInt64 = np.zeros(_SMALLEST, dtype=np.uint64)
        self._slots = np.full(2 * _SMALLEST, -1, dtype=np.int32)
        self._used = 0

    @classmethod
    def of(cls, names: UInt64) -> Self:
        """The vocabulary in which these names, all different, have the numbers 0, 1, ..."""
        vocabulary = cls()
        vocabulary.add(np.ascontiguousarray(names))
        return vocabulary

    def __len__(self) -> int:
        return self._used

    @property
    def names(self) -> UInt64:
        """The names by number."""
        return self._names[: self._used]

    def add(self, names: UInt64) -> Any:
        """The numbers of these names; new ones get the next."""
        numbers = np.empty(len(names), dtype=np.int32)
        for start in range(0, len(names), _PIECE):  # names repeat: do not reserve memory for all at once
            piece = slice(start, start + _PIECE)
            self._make_room(self._used + len(names[piece]))
            self._used = _add(names[piece], self._names, self._slots, self._used, numbers[piece])
        return numbers

    def find(self, names: UInt64) -> Any:
        """The numbers of these names; -1 for unknown ones."""
        numbers = np.empty(len(names), dtype=np.int32)
        _find(names, self._names, self._slots, numbers)
        return numbers

    def _make_room(self, most: int) -> None:
        size = len(self._names)
        while size < most:
            size *= 2
        if size == len(self._names):
            return
        known = self.names
        self._names = np.zeros(size, dtype=np.uint64)
        self._slots = np.full(2 * size, -1, dtype=np.int32)
        self._used = _add(known, self._names, self._slots, 0, np.empty(len(known), dtype=np.int32))


@jit
def _slot(name: Array, known: Array, slots: Array) -> Any:
    """The slot of a name in the table, or the empty slot where it belongs."""
    last = slots.shape[0] - 1
    slot = np.int64((name ^ (name >> np.uint64(32))) & np.uint64(last))
    while slots[slot] >= 0 and known[slots[slot]] != name:
        slot = (slot + 1) & last
    return slot


@jit
def _add(names: Array, known: Array, slots: Array, used: int, numbers: Array) -> int:
    for k in range(names.shape[0]):
        slot = _slot(names[k], known, slots)
        if slots[slot] < 0:
            slots[slot] = used
            known[used] = names[k]
            used += 1
        numbers[k] = slots[slot]
    return used


@jit
def _find(names: Array, known: Array, slots: Array, numbers: Array) -> None:
    for k in range(names.shape[0]):
        numbers[k] = slots[_slot(names[k], known, slots)]
