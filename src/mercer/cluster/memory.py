"""The memory of a worker while one of our tasks runs.

Dask starts workers with MALLOC_TRIM_THRESHOLD_, so that they give memory back to the system at once. With it, the GNU C
library takes every array of more than 128 kB from the system anew, page by page, which makes training on features a
fifth slower. Without it, the library learns to keep memory that is used again and again. So it is told to do that until
the task is over.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_TRIM, _MMAP = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
_NUMBERS = {_TRIM: -1, _MMAP: -3}
"""The numbers of `mallopt` for these variables."""
_USUAL = {_TRIM: 2**17, _MMAP: 2**17}
_KEEPING = {_TRIM: 2**26, _MMAP: 2**25}
"""The most that the library sets by itself in a process without these variables."""
_SECONDS = 0.1
"""How long tasks must have run for their memory to be looked through: that takes some milliseconds."""

_guard = threading.Lock()
_running = 0
_began = 0.0


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Inside the block, freed memory is used again; at the end of a long one it goes back to the system.

    Of several at the same time, the last one ends it.
    """
    global _running, _began
    library = _library()
    if library is None:
        yield
        return
    with _guard:
        _running += 1
        if _running == 1:
            _set(library.mallopt, _KEEPING)
            _began = time.monotonic()
    try:
        yield
    finally:
        with _guard:
            _running -= 1
            if not _running:
                _set(library.mallopt, {name: _asked(name) for name in _NUMBERS})
                if time.monotonic() - _began >= _SECONDS:
                    library.malloc_trim(0)


def _set(mallopt: Callable[[int, int], int], values: Mapping[str, int]) -> None:
    for name, value in values.items():
        mallopt(_NUMBERS[name], value)


def _asked(name: str) -> int:
    value = os.environ.get(name, "")
    return int(value) if value.isdigit() else _USUAL[name]


@functools.cache
def _library() -> Any:
    """The GNU C library, if memory is given back at once; None where there is nothing to change."""
    if _TRIM not in os.environ or not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "gnu_get_libc_version") else None
