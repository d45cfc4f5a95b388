"""Ctrl-C, held back where Python would lose it.

An exception cannot leave a function that C code calls (a callback of LLVM, a finaliser): Python prints "Exception
ignored" and goes on, and a KeyboardInterrupt raised there is gone for good. Compiling is full of such functions, and
most signals sent while LLVM works arrive in one. So the signal waits until the work is over.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def interrupt_held_back() -> Iterator[None]:
    """An interrupt that comes inside is answered at the end. Only the main thread is ever interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if arrived:
            handler(*arrived[0])
