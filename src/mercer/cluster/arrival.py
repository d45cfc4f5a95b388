"""What came over the network, as if it had been made here.

Dask reads a message into one piece of memory, and the arrays in it are rarely aligned. Unaligned arrays take other code
paths (NumPy works through them in buffers, Numba compiles every loop again for them), which are slower and round
differently. So each value that arrives is copied once, to aligned memory.
"""

from __future__ import annotations

import importlib
import weakref
from typing import Any

import numpy as np

_ALIGNED = 16
"""Bytes by which the memory of every array is aligned that NumPy makes."""
_copies: dict[int, tuple[Any, Any]] = {}
"""What was made of values that tasks share, by identity: a weak reference, and the copy (None where none is needed)."""


def arrived(value: Any) -> tuple[Any, int]:
    """A value with all its arrays aligned, and how many bytes it takes when it is sent."""
    protocol: Any = importlib.import_module("distributed.protocol.serialize")  # has no types
    try:
        header, frames = protocol.pickle_dumps(value)
    except Exception:  # it cannot be sent, and did not come
        return value, 0
    body, *buffers = [memoryview(frame) for frame in frames]
    size = body.nbytes + sum(buffer.nbytes for buffer in buffers)
    if all(map(_is_aligned, buffers)):
        return value, size
    return protocol.pickle_loads(header, [body, *map(_copied, buffers)]), size


def shared(value: Any) -> Any:
    """The same for a value that many tasks take: looked through once, as long as it lives."""
    known = _copies.get(id(value))
    if known is not None and known[0]() is value:
        return value if known[1] is None else known[1]
    made, _ = arrived(value)
    name = id(value)
    try:
        reference = weakref.ref(value, lambda _: _copies.pop(name, None))
    except TypeError:  # numbers, lists: small, or made for this task alone
        return made
    _copies[name] = reference, None if made is value else made
    return made


def _is_aligned(buffer: memoryview) -> bool:
    return not buffer.nbytes or np.frombuffer(buffer, dtype=np.uint8).ctypes.data % _ALIGNED == 0


def _copied(buffer: memoryview) -> memoryview:
    if _is_aligned(buffer):
        return buffer
    return np.frombuffer(buffer, dtype=np.uint8).copy().data
