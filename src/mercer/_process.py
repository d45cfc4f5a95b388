"""What is set while we work: who hears Ctrl-C, how many threads BLAS has, which locks are held, context variables.

An exception cannot leave a function that C code calls (a callback of LLVM, a finaliser): Python prints "Exception
ignored" and goes on, and a KeyboardInterrupt raised there is gone for good. Compiling is full of such functions, and
most signals sent while LLVM works arrive in one. So the signal waits until the work is over.

A forked process has the locks of its parent as they were, and only one of its threads: what another thread held would
be held forever. So a fork waits until our locks are free, and the child forgets what other threads were doing.
"""

from __future__ import annotations

# What `signal` wraps: that looks for the name of each handler, which takes ten times as long as all the rest.
import _signal  # type: ignore[import-not-found]
import contextlib
import contextvars
import functools
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar

import threadpoolctl

Value = TypeVar("Value")


@contextlib.contextmanager
def within(variable: contextvars.ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a context variable this value inside the block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def free_when_forking(lock: Any) -> Any:
    """The lock, which no other thread holds at the moment of a fork. A thread may fork while it holds it itself."""
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


_ONE_THREAD = 8192.0
"""No BLAS shares out products of fewer multiplications: OpenBLAS starts at 9,216 with vectors, others later."""
_SHARED_FROM = 768
"""Rows of a matrix whose decomposition gains from threads: eigenvectors of fewer take less than a tenth of a second."""
_Set = Callable[[int], Any]
_guard = free_when_forking(threading.RLock())
_holders = 0
_local = threading.local()
_before: list[tuple[_Set, int]] = []
"""What sets the threads of each BLAS library, and how many it had before it was held to one."""


class interrupt_held_back(contextlib.ContextDecorator):  # noqa: N801  # used like a function
    """An interrupt that comes inside is answered at the end. Only the main thread is ever interrupted."""

    def __enter__(self) -> None:
        self._handler: Any = None
        if threading.current_thread() is not threading.main_thread():
            return
        handler = _signal.getsignal(_signal.SIGINT)
        if not callable(handler):
            return
        self._arrived: list[tuple[int, FrameType | None]] = []
        self._handler = handler
        _signal.signal(_signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._arrived.append((number, frame))

    def __exit__(self, *_: object) -> None:
        if self._handler is None:
            return
        _signal.signal(_signal.SIGINT, self._handler)
        if self._arrived:
            self._handler(*self._arrived[0])

    def _recreate_cm(self) -> interrupt_held_back:
        """A decorated function may be entered by several threads, each with a handler of its own to put back."""
        return interrupt_held_back()


@functools.lru_cache(maxsize=1)
def _libraries(loaded_modules: int) -> list[tuple[Callable[[], int], _Set]]:
    """What tells and sets the number of threads of each BLAS library."""
    # Looking for BLAS libraries takes a millisecond; a new one can only have come with a new module.
    del loaded_modules
    found = threadpoolctl.ThreadpoolController().lib_controllers
    return [_functions(library) for library in found if library.user_api == "blas"]


def _functions(library: Any) -> tuple[Callable[[], int], _Set]:
    """Of OpenBLAS its own functions: what threadpoolctl puts around them takes longer than few kernel values."""
    if library.internal_api == "openblas" and library.threading_layer == "pthreads":
        for name in library.check_symbols:
            tell = getattr(library.dynlib, name, None)
            change = getattr(library.dynlib, name.replace("_get_", "_set_"), None)
            if tell is not None and change is not None:
                return tell, change
    return library.get_num_threads, functools.partial(_set_in_any_thread, library)


def _set_in_any_thread(library: Any, count: int) -> None:
    """Also where another thread has set a limit: threadpoolctl heeds one thread at a time, unless told."""
    give_up_control = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if give_up_control is not None:
        give_up_control(force=True)
    library.set_num_threads(count)
    if give_up_control is not None:
        give_up_control(force=True)


class single_threaded_blas:  # noqa: N801  # used like a function; a generator would cost more than what it guards
    """Hold BLAS to one thread while tiles are computed; the last one out restores what was before.

    Even a single thread of ours does so: BLAS rounds differently with more threads, and results must not depend on
    how many there are. The setting is process-wide, so it is counted: two fits at once must not undo each other's.
    Products of few enough `multiplications` have one thread anyway, and take less time than the setting.
    """

    _outermost = False
    """Whether this one is the first that its thread entered."""

    def __init__(self, multiplications: float = math.inf) -> None:
        self._needed = multiplications > _ONE_THREAD

    def __enter__(self) -> None:
        global _holders
        if not self._needed or getattr(_local, "holds", False):  # this thread does already
            return
        try:
            # Held back: half of this done is a process whose BLAS never has its threads again.
            with interrupt_held_back(), _guard:
                self._outermost = _local.holds = True
                _holders += 1
                if _holders == 1:
                    _before[:] = [(change, tell()) for tell, change in _libraries(len(sys.modules))]
                    for change, _ in _before:
                        change(1)
        except BaseException:  # an interrupt that was held back
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        global _holders
        if not self._outermost:
            return
        with interrupt_held_back(), _guard:
            self._outermost = _local.holds = False
            _holders -= 1
            if _holders == 0:
                _set_threads(_before)


def decomposing(n: int) -> single_threaded_blas:
    """Hold BLAS to one thread while a matrix of n rows is decomposed, if it is small.

    Threads gain little there, and on a busy machine they wait for each other, hundreds of times as long as they work.
    """
    return single_threaded_blas(math.inf if n <= _SHARED_FROM else 0.0)


def _set_threads(wanted: list[tuple[_Set, int]]) -> None:
    for change, count in wanted:
        change(count)


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
