"""Atomic replacement of files, and changes that no two processes make at the same moment."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO

from mercer.errors import ModelFileError

if sys.platform != "win32":
    import fcntl

_SECONDS_TO_LOCK = 5.0
"""A younger file of another writer may not be locked yet."""


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file at `path` when the block ends without an error.

    It is written next to the target, so the last step is a rename within one file system; until then, the old file is
    intact. Permissions of the old file are kept, and a symbolic link stays a link.
    """
    name = os.fsdecode(path)
    if "\0" in name:
        raise ModelFileError(f"Cannot save to {name!r}: no file can have that name.")
    target = os.path.realpath(name)
    try:
        mode = _mode(target)
        folder, base = os.path.split(target)
        _sweep(folder, base)
        beside = os.path.join(folder, f".{base[:100]}.{secrets.token_hex(8)}.tmp")
        try:  # around the opening, too: an interrupt may come as soon as the file is there
            with open(beside, "xb") as stream:  # a new file gets the permissions that the user's umask gives
                _lock(stream)
                if mode is not None:
                    os.chmod(beside, mode)  # before there is anything to read
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                stream.close()  # Windows renames closed files only
                os.replace(beside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
        _sync_folder(folder)
    except OSError as error:
        raise ModelFileError(
            f"Cannot save to {name!r}: {error.strerror or error}. What was there before is intact; choose a folder "
            "that exists, can be written to and has room."
        ) from error


@contextlib.contextmanager
def alone(path: str | os.PathLike[str]) -> Iterator[None]:
    """Inside the block, no other process or thread is in a block with the same path, a file that is made for this.

    Where files cannot be locked (Windows, some network file systems) nobody is kept out.
    """
    with open(path, "ab") as stream:
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                fcntl.flock(stream.fileno(), fcntl.LOCK_EX)  # until the file is closed
        yield


def _sweep(folder: str, base: str) -> None:
    """Remove the leftovers of killed writers of the same file; a running writer holds a lock."""
    leftover = re.compile(rf"\.{re.escape(base[:100])}\.[0-9a-f]{{16}}\.tmp")
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        for name in filter(leftover.fullmatch, os.listdir(folder)):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError), open(path, "rb") as stream:
                if time.time() - os.stat(path).st_mtime > _SECONDS_TO_LOCK and _lock(stream):
                    os.unlink(path)


def _lock(stream: BinaryIO) -> bool:
    """Lock the file while it is open; returns whether nobody else had it."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # it is locked, or the file system has no locks
        return False
    return True


def _mode(target: str) -> int | None:
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise ModelFileError(f"Cannot save to {target!r}: it is a folder. Add a file name.")
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError(f"Cannot save to {target!r}: it is a device or a pipe, which a file must not replace.")
    if not os.access(target, os.W_OK):
        raise ModelFileError(f"Cannot save to {target!r}: the file there is write-protected.")
    return stat.S_IMODE(found.st_mode)


def _sync_folder(folder: str) -> None:
    """Make the rename survive a power failure, if the system can synchronise folders."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
