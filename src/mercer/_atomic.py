"""Replacing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO

from mercer.errors import ModelFileError


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file at `path` when the block ends well.

    It is written beside the target, so that the last step is one rename within a file system; whatever happens before,
    the old file is intact. Permissions of the old file are kept, and a symbolic link stays a link.
    """
    name = os.fsdecode(path)
    if "\0" in name:
        raise ModelFileError(f"Cannot save to {name!r}: no file can have that name.")
    target = os.path.realpath(name)
    try:
        mode = _mode(target)
        folder, base = os.path.split(target)
        beside = os.path.join(folder, f".{base[:100]}.{secrets.token_hex(8)}.tmp")
        with open(beside, "xb") as stream:  # a new file gets the permissions that the user's umask gives
            try:
                if mode is not None:
                    os.chmod(beside, mode)  # before there is anything to read
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                stream.close()  # Windows renames closed files only
                os.replace(beside, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    stream.close()
                with contextlib.suppress(OSError):
                    os.unlink(beside)
                raise
        _sync_folder(folder)
    except OSError as error:
        raise ModelFileError(
            f"Cannot save to {name!r}: {error.strerror or error}. What was there before is intact; choose a folder "
            "that exists, can be written to and has room."
        ) from error


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
    """Make the rename itself survive a power cut, where the system lets folders be synchronised."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
