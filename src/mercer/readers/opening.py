"""Opening a file or stdin: unpacked on the way, and refused as soon as it is larger than allowed."""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, final

from mercer.errors import DataFileError
from mercer.readers.options import MIB, Options
from mercer.readers.problems import problem
from mercer.readers.source import Source

STDIN = "-"
_PACKED: dict[str, tuple[Callable[[Any], Any], bytes]] = {
    ".gz": (lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"), b"\x1f\x8b"),
    ".xz": (lzma.LZMAFile, b"\xfd7zXZ\x00"),
    ".bz2": (bz2.BZ2File, b"BZh"),
}
PACKERS = tuple(_PACKED)
_MOST_UNPACKED = 250
"""The largest ratio of unpacked to packed size: 3 to 30 for tables and text, 100 for mostly empty ones ..."""
_UNPACKED_FREELY = 8 * MIB
"""... and content up to this size may have any ratio, because it takes little memory."""
_LONGEST_MAGIC = max(len(magic) for _, magic in _PACKED.values())


def open_source(path: str, options: Options) -> Source:
    """Read a whole file, or stdin for ``-``."""
    with open_stream(path, options) as stream:
        return stream.whole()


@final
class ByteStream:
    """The unpacked bytes of a file, never more than allowed."""

    def __init__(self, name: str, stream: Any, options: Options, size: int = 0) -> None:
        self.name = self._file = name
        self._size = size
        self._options = options
        self._room = options.max_bytes
        self._stream: Any = stream
        self._packed: _Rejoined | None = None
        self._unpacked = 0
        head = b""
        while len(head) < _LONGEST_MAGIC and (more := self._some(_LONGEST_MAGIC - len(head))):
            head += more
        for suffix, (unpack, magic) in _PACKED.items():
            if head.startswith(magic):
                self.name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
                self._packed = _Rejoined(head, stream)
                self._stream, head = unpack(self._packed), b""
                break
        self._pending = head

    def _some(self, most: int) -> bytes:
        try:
            found: bytes = self._stream.read1(most)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            what = "the compressed content is damaged" if self._packed else "cannot be read"
            hint = "Pack it again from the original." if self._packed else "Check the disk and your permissions."
            raise problem(self._file, f"{what}: {getattr(error, 'strerror', None) or error}", hint=hint) from error
        return found

    def read(self, most: int) -> bytes:
        """The next bytes, at most `most`, as soon as there are any; empty at the end."""
        found, self._pending = self._pending, b""
        found = found or self._some(most)
        self._room -= len(found)
        self._unpacked += len(found)
        if self._room < 0:
            raise _too_large(self._file, f"more than {self._options.max_bytes / MIB:,.0f} MiB", self._options)
        if self._packed is not None and self._unpacked > max(_UNPACKED_FREELY, _MOST_UNPACKED * self._packed.taken):
            what = f"unpacks to more than {_MOST_UNPACKED} times its size, as only files made to do harm usually do"
            raise problem(self._file, what, hint="If you trust it, unpack it and give the unpacked file.")
        return found

    def skip_to(self, offset: int) -> None:
        """Continue at this byte of the unpacked content, which must be ahead."""
        if self._packed is None and self._stream.seekable():
            self._stream.seek(offset)
            self._unpacked, self._pending = offset, b""
            return
        while self._unpacked < offset and self.read(min(MIB, offset - self._unpacked)):
            pass

    @property
    def share(self) -> float:
        """The fraction of the file that has been read, for progress; None for a pipe."""
        taken = self._unpacked if self._packed is None else self._packed.taken
        return taken / self._size if self._size else 0.0

    def whole(self, before: bytes = b"") -> Source:
        """The whole file, given the bytes that were read `before`."""
        parts = [before]
        while part := self.read(MIB):
            parts.append(part)
        return Source(self.name, b"".join(parts), self._options.encoding)


class _Rejoined(io.RawIOBase):
    """A stream with its first bytes put back, which were read to recognise the packer."""

    def __init__(self, first: bytes, stream: Any) -> None:
        self._first = first
        self._stream = stream
        self.taken = 0
        """How many bytes were read so far."""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._first:
            size = len(self._first) if size < 0 else size
            found, self._first = self._first[:size], self._first[size:]
        else:
            found = self._stream.read1(size) if size >= 0 else self._stream.read()
        self.taken += len(found)
        return found


@contextlib.contextmanager
def open_stream(path: str, options: Options) -> Iterator[ByteStream]:
    """A file, or stdin for ``-``, for reading piece by piece."""
    if path == STDIN:
        yield ByteStream("stdin", sys.stdin.buffer, options)
        return
    name = os.path.basename(path.rstrip(os.sep)) or path
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISFIFO(found.st_mode):
            raise problem(name, "this is a device or a socket", hint="Give a file, a folder, or - for stdin.")
        if found.st_size > options.max_bytes:
            raise _too_large(name, f"{found.st_size / MIB:,.0f} MiB", options)
        stream = open(path, "rb")  # noqa: SIM115  # closed below; the errors of whoever reads are not about opening
    except DataFileError:
        raise
    except FileNotFoundError as error:
        raise problem(path, "there is no such file", hint=_near(path)) from error
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        what = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise problem(path, what, hint="Check the name and your permissions.") from error
    with stream:
        yield ByteStream(name, stream, options, found.st_size)


def _too_large(name: str, size: str, options: Options) -> Exception:
    allowed = f"{options.max_bytes / MIB:,.0f} MiB"
    return problem(
        name, f"too large: {size}; {allowed} are allowed", hint="Raise the cap with --max-mb, or cut the file."
    )


def _near(path: str) -> str:
    """A hint: a file of nearly the same name, or the content of the folder."""
    folder, base = os.path.split(path)
    try:
        there = sorted(os.listdir(folder or "."))
    except OSError:
        return f"There is no folder {folder!r} either." if folder else ""
    near = difflib.get_close_matches(base, there, n=1)
    if near:
        return f"Did you mean {os.path.join(folder, near[0])}?"
    return f"{folder or 'This folder'} holds {len(there):,} files, none with a similar name."
