"""The bytes of a file, whatever it is packed in, and the text in them: capped before anything is parsed."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import re
import stat
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, final

from mercer.errors import DataFileError
from mercer.readers.options import MIB, Options
from mercer.readers.problems import problem

STDIN = "-"
_PACKED = {".gz": (gzip.open, b"\x1f\x8b"), ".xz": (lzma.open, b"\xfd7zXZ\x00"), ".bz2": (bz2.open, b"BZh")}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINE_END = re.compile(r"\r\n|\n|\r")


@final
@dataclass(frozen=True)
class Source:
    """A file that has been read: its name, without the suffix of a packer, and its content."""

    name: str
    content: bytes = field(repr=False)
    encoding: str | None = None

    @property
    def suffix(self) -> str:
        return os.path.splitext(self.name)[1].lower()

    @cached_property
    def text(self) -> str:
        """The content as text: UTF-8 unless a byte order mark or the user says otherwise."""
        encoding = self.encoding or next((name for mark, name in _MARKS if self.content.startswith(mark)), "utf-8")
        try:
            text = self.content.decode(encoding)
        except LookupError as error:
            raise problem(
                self.name, f"there is no encoding called {encoding!r}", hint="Try utf-8 or latin-1."
            ) from error
        except UnicodeDecodeError as error:
            line = self.content[: error.start].count(b"\n") + 1
            raise problem(
                self.name,
                f"not {encoding}: the byte {self.content[error.start]:#04x} is no part of such text",
                line=line,
                hint="Say which encoding it is, for example --encoding latin-1.",
            ) from error
        text = text.removeprefix("\ufeff")
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise problem(self.name, "a NUL character: this is no text file", line=line)
        return text

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; a line end at the end of the file begins no further line."""
        lines = _LINE_END.split(self.text)
        if lines and not lines[-1]:
            lines.pop()
        return lines


def opened(path: str, options: Options) -> Source:
    """Read a file, or stdin for ``-``; what is larger than allowed, also when unpacked, is refused."""
    if path == STDIN:
        return Source(
            "stdin", _unpacked("stdin", _bounded(sys.stdin.buffer, "stdin", options), options)[1], options.encoding
        )
    name = os.path.basename(path.rstrip(os.sep)) or path
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISFIFO(found.st_mode):
            raise problem(name, "neither a file nor a folder that can be read")
        if found.st_size > options.max_bytes:
            raise _too_large(name, f"{found.st_size / MIB:,.0f} MiB", options)
        with open(path, "rb") as stream:
            content = _bounded(stream, name, options)
    except DataFileError:
        raise
    except FileNotFoundError as error:
        raise problem(path, "there is no such file", hint=_near(path)) from error
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise problem(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    plain, content = _unpacked(name, content, options)
    return Source(plain, content, options.encoding)


def _bounded(stream: Any, name: str, options: Options) -> bytes:
    content: bytes = stream.read(options.max_bytes + 1)
    if len(content) > options.max_bytes:
        raise _too_large(name, f"more than {options.max_bytes / MIB:,.0f} MiB", options)
    return content


def _unpacked(name: str, content: bytes, options: Options) -> tuple[str, bytes]:
    import io

    for suffix, (unpack, magic) in _PACKED.items():
        if content.startswith(magic):
            plain = name[: -len(suffix)] if name.lower().endswith(suffix) else name
            try:
                stream: BinaryIO = unpack(io.BytesIO(content), "rb")  # type: ignore[operator]
                with stream:
                    return plain, _bounded(stream, name, options)
            except (OSError, EOFError, lzma.LZMAError) as error:
                raise problem(name, f"the compressed content is damaged: {error}") from error
    return name, content


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
