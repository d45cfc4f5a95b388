"""Memory for large matrices, kept from one fit to the next.

Fresh memory is expensive: the system has to find, clear and map every page, and on a virtual machine the host does so
once more. That can cost more than the kernel values that are written there, up to some seconds per GiB. So the last
large blocks are kept after use, but marked as free: the system takes their pages back as soon as it is short of memory.
"""

from __future__ import annotations

import _thread
import contextlib
import math
import mmap
import time
import weakref
from collections import deque
from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.gram.budget import MIB

SMALLEST = 8 * MIB
"""Below this size, fresh memory costs little, and the allocator keeps it itself."""
LARGEST = 640 * MIB
"""Above this size, filling a matrix takes far longer than getting its memory."""
KEPT = 2
"""Blocks that are kept: room for a matrix and one copy of it. More would be held for matrices that never come."""
_ROUND = 2 * MIB  # the size of a huge page
_WASTE = 2
"""How many times as large as a matrix its block may be. With more, small matrices would use up large blocks."""

_kept: deque[mmap.mmap] = deque(maxlen=KEPT)
"""Appending drops the oldest, whose memory goes back. Every operation on it is atomic: blocks return from finalisers,
which may run at any moment, even between two lines of `_taken`, so no lock may be held.
"""
_lent: dict[int, weakref.ref[_Lease]] = {}
"""What waits for the end of leases, and holds their pages: a weak reference that nobody holds would not be called."""


def empty(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Like `numpy.empty`, but reuses a kept block of memory if there is one of the right size."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if not SMALLEST <= size <= LARGEST or not hasattr(mmap, "MADV_FREE"):
        return np.empty(shape, dtype=dtype)
    return np.asarray(_Lease(_taken(size) or _fresh(size), shape, dtype))


class _Lease:
    """The base of an array and of all its views; when the last of them is gone, the pages are returned."""

    def __init__(self, pages: mmap.mmap, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "shape": shape,
            "typestr": dtype.str,
            "data": (np.frombuffer(pages, dtype=np.uint8).ctypes.data, False),
            "version": 3,
        }
        returning = _returning(pages)
        next(returning)
        _lent[id(pages)] = weakref.ref(self, returning.send)


def _returning(pages: mmap.mmap) -> Generator[None, weakref.ref[_Lease], None]:
    """Give pages back when the end of their lease is sent.

    An interrupt that arrived during a long call of LAPACK is often raised in the first line of Python after it: here,
    where it would be lost, as no exception leaves a finaliser. A function would meet it before its first line; a
    generator is resumed inside its `try`, and raises the interrupt again.
    """
    try:
        yield
        with contextlib.suppress(OSError):  # a system without this call: then the memory is simply kept
            pages.madvise(mmap.MADV_FREE)
    except KeyboardInterrupt:
        _thread.start_new_thread(_interrupt_later, ())
    _lent.pop(id(pages), None)  # first: as soon as they are kept, another thread may take them, with a lease of its own
    _kept.append(pages)
    yield


def _interrupt_later() -> None:
    time.sleep(0.001)  # the finaliser is over by then
    _thread.interrupt_main()


def _taken(size: int) -> mmap.mmap | None:
    """The smallest kept block that is large enough, unless it wastes much; blocks that are too small are dropped."""
    large_enough = None
    for pages in sorted(_kept, key=len):
        try:
            if len(pages) < size:
                _kept.remove(pages)
            elif len(pages) <= _WASTE * size + _ROUND:
                _kept.remove(pages)
                large_enough = pages
                break
        except ValueError:  # another thread was faster
            continue
    return large_enough


def _fresh(size: int) -> mmap.mmap:
    pages = mmap.mmap(-1, -(-size // _ROUND) * _ROUND, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a system may define the name without supporting it
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages
