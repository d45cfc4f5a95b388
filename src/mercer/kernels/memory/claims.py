"""Who computes which tile, among the threads and processes that share a folder: no two compute the same one.

A process locks one byte of a file for each tile that it computes. The system releases the locks of a process that
ends, however it ends, so a claim never outlives who made it. Where there are no such locks (Windows, some network
drives), threads still exclude each other, and at worst two processes compute the same tile.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import final

from mercer import _deadline
from mercer.errors import TimeLimitError

if sys.platform != "win32":
    import fcntl

_SHORTEST, _LONGEST = 0.001, 0.05
"""Seconds between two looks at a claim of another process: few tiles take less, and Ctrl-C comes in between."""
_claims: dict[str, Claims] = {}
_opening = threading.Lock()


def claims_in(folder: Path) -> Claims:
    """The claims of this process on the tiles of a folder."""
    with _opening:
        return _claims.setdefault(str(folder.absolute()), Claims(folder / "claims"))


@final
class Claims:
    """Use `claims_in`: a process that closes one of several handles of a file loses the locks of all."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._handle = -1
        self._threads: dict[int, threading.Lock] = {}
        self._guard = threading.Lock()

    @contextlib.contextmanager
    def held(self, place: int) -> Iterator[None]:
        """Within the block, no one else holds this place; waits for whoever does, as long as the time limit allows."""
        with self._guard:
            own = self._threads.setdefault(place, threading.Lock())
            handle = self._opened()
        with own:
            locked = handle >= 0 and _locked(handle, place)
            try:
                yield
            finally:
                if locked:
                    with contextlib.suppress(OSError):  # the folder was deleted meanwhile
                        fcntl.lockf(handle, fcntl.LOCK_UN, 1, place)

    def _opened(self) -> int:
        """The handle of the file; a file that was deleted since is created again. Negative if there can be none."""
        if sys.platform == "win32":
            return -1
        if self._handle >= 0:
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(self._handle), os.stat(self._file)):
                    return self._handle
            os.close(self._handle)
        try:
            self._handle = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            self._handle = -1
        return self._handle


def _locked(handle: int, place: int) -> bool:
    """Lock a byte, however long that takes; False on drives without locks."""
    pause = _SHORTEST
    while True:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):  # another process has it
            if _deadline.is_late():
                raise TimeLimitError("Time ran out while another process computed kernel values.") from None
            time.sleep(pause)
            pause = min(2.0 * pause, _LONGEST)
        except OSError:
            return False
        else:
            return True
