"""The bytes of a file, whatever it is packed in, and the text in them: capped before anything is parsed."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import itertools
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from mercer.errors import DataFileError
from mercer.readers.options import MIB, Options
from mercer.readers.problems import problem

STDIN = "-"
_PACKED: dict[str, tuple[Callable[[Any], Any], bytes]] = {
    ".gz": (lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"), b"\x1f\x8b"),
    ".xz": (lzma.LZMAFile, b"\xfd7zXZ\x00"),
    ".bz2": (bz2.BZ2File, b"BZh"),
}
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHUNK = 1 << 20
_LONGEST_MARK = 6
_BINARY_HEAD = 8192
_LINE_END = re.compile(r"\r\n|\n|\r")


@final
@dataclass(frozen=True)
class Source:
    """A file that has been read: its name, without the suffix of a packer, and its content."""

    name: str
    content: bytes = field(repr=False)
    encoding: str | None = None
    first: int = 1
    """The number of its first line: pieces of a file begin further down."""

    @property
    def suffix(self) -> str:
        return os.path.splitext(self.name)[1].lower()

    @cached_property
    def text(self) -> str:
        """The content as text: UTF-8 unless a byte order mark or the user says otherwise."""
        encoding = self.encoding or next((name for mark, name in MARKS if self.content.startswith(mark)), "utf-8")
        try:
            text = self.content.decode(encoding)
        except LookupError as error:
            raise problem(
                self.name, f"there is no encoding called {encoding!r}", hint="Try utf-8 or latin-1."
            ) from error
        except UnicodeDecodeError as error:
            if b"\0" in self.content[:_BINARY_HEAD]:
                raise binary(self.name, self.content) from error
            line = self.content[: error.start].count(b"\n") + self.first
            raise problem(
                self.name,
                f"not {encoding}: the byte {self.content[error.start]:#04x} is no part of such text",
                line=line,
                hint="Say which encoding it is, for example --encoding latin-1.",
            ) from error
        text = text.removeprefix("\ufeff") if self.first == 1 else text
        if "\0" in text:
            if "\0" in text[:_BINARY_HEAD] and self.first == 1 and "\n" not in text[: text.index("\0")]:
                raise binary(self.name, self.content)
            line = text[: text.index("\0")].count("\n") + self.first
            raise problem(self.name, "a NUL character: this is no text file", line=line)
        return text

    def head(self, most: int) -> list[str]:
        """The first lines."""
        found = []
        at = 0
        for end in itertools.islice(_LINE_END.finditer(self.text), most):
            found.append(self.text[at : end.start()])
            at = end.end()
        if len(found) < most and at < len(self.text):
            found.append(self.text[at:])
        return found

    @property
    def numbered(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers in the file."""
        return enumerate(self.lines, self.first)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; a line end at the end of the file begins no further line."""
        lines = _LINE_END.split(self.text)
        if lines and not lines[-1]:
            lines.pop()
        return lines


def binary(name: str, content: bytes) -> Exception:
    """What to say of content that is neither text nor of a binary format that is read."""
    if content[257:262] == b"ustar":
        return problem(name, "a tar archive", hint="Unpack it: a folder with one folder per class is read.")
    if content.startswith(b"PK\x03\x04"):
        return problem(
            name, "a zip archive without arrays", hint="Unpack it, and give a file or a folder that was in it."
        )
    known = "Binary formats that are read: Parquet, npy, npz; and text packed with gzip, xz or bzip2."
    return problem(name, "neither text nor a binary format that is read", hint=known)


def opened(path: str, options: Options) -> Source:
    """Read a file, or stdin for ``-``; what is larger than allowed, also when unpacked, is refused."""
    with flowing(path, options) as flow:
        return flow.whole()


@final
class Flow:
    """The bytes of a file as they come, unpacked, never more than allowed."""

    def __init__(self, name: str, stream: Any, options: Options) -> None:
        self.name = self._file = name
        self._options = options
        self._room = options.max_bytes
        self._stream: Any = stream
        self._packed = False
        head = b""
        while len(head) < _LONGEST_MARK and (more := self._some(_LONGEST_MARK - len(head))):
            head += more
        for suffix, (unpack, magic) in _PACKED.items():
            if head.startswith(magic):
                self.name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
                self._stream, self._packed, head = unpack(_Rejoined(head, stream)), True, b""
                break
        self._pending = head

    def _some(self, most: int) -> bytes:
        try:
            found: bytes = self._stream.read1(most)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            what = "the compressed content is damaged" if self._packed else "cannot be read"
            raise problem(self._file, f"{what}: {getattr(error, 'strerror', None) or error}") from error
        return found

    def read(self, most: int) -> bytes:
        """Some bytes, at most so many, as soon as there are any; none at the end."""
        found, self._pending = self._pending, b""
        found = found or self._some(most)
        self._room -= len(found)
        if self._room < 0:
            raise _too_large(self._file, f"more than {self._options.max_bytes / MIB:,.0f} MiB", self._options)
        return found

    def whole(self, before: bytes = b"") -> Source:
        """All that is left, after what was taken `before`."""
        parts = [before]
        while part := self.read(_CHUNK):
            parts.append(part)
        return Source(self.name, b"".join(parts), self._options.encoding)


class _Rejoined(io.RawIOBase):
    """A stream with the bytes put back that were read from it to see what it is."""

    def __init__(self, first: bytes, stream: Any) -> None:
        self._first = first
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._first:
            size = len(self._first) if size < 0 else size
            found, self._first = self._first[:size], self._first[size:]
            return found
        got: bytes = self._stream.read1(size) if size >= 0 else self._stream.read()
        return got


@contextlib.contextmanager
def flowing(path: str, options: Options) -> Iterator[Flow]:
    """A file, or stdin for ``-``, to be read piece by piece."""
    if path == STDIN:
        yield Flow("stdin", sys.stdin.buffer, options)
        return
    name = os.path.basename(path.rstrip(os.sep)) or path
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISFIFO(found.st_mode):
            raise problem(name, "neither a file nor a folder that can be read")
        if found.st_size > options.max_bytes:
            raise _too_large(name, f"{found.st_size / MIB:,.0f} MiB", options)
        stream = open(path, "rb")  # noqa: SIM115  # closed below; the errors of whoever reads are not about opening
    except DataFileError:
        raise
    except FileNotFoundError as error:
        raise problem(path, "there is no such file", hint=_near(path)) from error
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise problem(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    with stream:
        yield Flow(name, stream, options)


def _too_large(name: str, size: str, options: Options) -> Exception:
    allowed = f"{options.max_bytes / MIB:,.0f} MiB"
    return problem(
        name, f"too large: {size}, where {allowed} are allowed", hint="Raise the cap with --max-mb, or cut the file."
    )


def _near(path: str) -> str:
    """A file of nearly the same name, or what the folder holds."""
    import difflib

    folder, base = os.path.split(path)
    try:
        there = sorted(os.listdir(folder or "."))
    except OSError:
        return f"There is no folder {folder!r} either." if folder else ""
    near = difflib.get_close_matches(base, there, n=1)
    if near:
        return f"Did you mean {os.path.join(folder, near[0])}?"
    return f"{folder or 'This folder'} holds {len(there):,} others, none of a similar name."
