"""What is set for the whole process while we work: who hears Ctrl-C, how many threads BLAS has, which locks are held.

An exception cannot leave a function that C code calls (a callback of LLVM, a finaliser): Python prints "Exception
ignored" and goes on, and a KeyboardInterrupt raised there is gone for good. Compiling is full of such functions, and
most signals sent while LLVM works arrive in one. So the signal waits until the work is over.

A forked process has the locks of its parent as they were, and only one of its threads: what another thread held would
be held for ever. So a fork waits until our locks are free, and the child forgets what other threads were doing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import threadpoolctl


def free_when_forking(lock: Any) -> Any:
    """The lock, which no other thread holds at the moment of a fork. A thread may fork while it holds it itself."""
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


_guard = free_when_forking(threading.RLock())
_holders = 0
_local = threading.local()
_before: list[tuple[Any, int]] = []
"""BLAS libraries, and the threads that each had before it was held to one."""


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


@functools.lru_cache(maxsize=1)
def _libraries(loaded_modules: int) -> list[Any]:
    # Looking for BLAS libraries takes a millisecond; a new one can only have come with a new module.
    del loaded_modules
    found = threadpoolctl.ThreadpoolController().lib_controllers
    return [library for library in found if library.user_api == "blas"]


@contextlib.contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread while tiles are computed; the last one out restores what was before.

    Even a single thread of ours does so: BLAS rounds differently with more threads, and results must not depend on
    how many there are. The setting is process-wide, so it is counted: two fits at once must not undo each other's.
    """
    global _holders
    if getattr(_local, "holds", False):  # this thread does already
        yield
        return
    try:
        # Held back: half of this done is a process whose BLAS never has its threads again.
        with interrupt_held_back(), _guard:
            _local.holds = True
            _holders += 1
            if _holders == 1:
                _before[:] = [(library, library.get_num_threads()) for library in _libraries(len(sys.modules))]
                _set_threads([(library, 1) for library, _ in _before])
        yield
    finally:
        with interrupt_held_back(), _guard:
            if getattr(_local, "holds", False):
                _local.holds = False
                _holders -= 1
                if _holders == 0:
                    _set_threads(_before)


def _set_threads(wanted: list[tuple[Any, int]]) -> None:
    """Also where another thread has set a limit: threadpoolctl heeds one thread at a time, unless told."""
    give_up_control = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if give_up_control is not None:
        give_up_control(force=True)
    for library, count in wanted:
        library.set_num_threads(count)
    if give_up_control is not None:
        give_up_control(force=True)


def _forget_other_threads() -> None:
    """In a forked process, where only the thread that forked goes on."""
    global _holders
    still = int(getattr(_local, "holds", False))
    if _holders > still:
        _holders = still
        if not still:
            _set_threads(_before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
