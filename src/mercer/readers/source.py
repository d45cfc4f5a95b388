"""`Source`: the content of one file as text and as lines."""

from __future__ import annotations

import codecs
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from mercer._cached import cached_property
from mercer.errors import DataFileError
from mercer.readers.problems import problem

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD = 1 << 20  # characters searched for the ends of the first lines, to detect the format of a file
_BINARY_HEAD = 8192  # bytes in which a NUL means a binary file; text with a stray NUL further down gets its line named
LINE_END = re.compile(r"\r\n|\n|\r")


@final
@dataclass(frozen=True)
class Source:
    """A file that has been read: its name (without .gz, .xz or .bz2) and its content."""

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
        marked = (name for mark, name in BYTE_ORDER_MARKS if self.content.startswith(mark))
        encoding = self.encoding or next(marked, "utf-8")
        try:
            text = self.content.decode(encoding)
        except UnicodeError as error:
            if b"\0" in self.content[:_BINARY_HEAD]:
                raise binary(self.name, self.content) from error
            start = getattr(error, "start", 0)
            raise problem(
                self.name,
                f"not {encoding}: the byte {self.content[start]:#04x} is invalid there",
                line=self.content[:start].count(b"\n") + self.first,
                hint="Name the encoding of the file, for example --encoding latin-1.",
            ) from error
        except (LookupError, ValueError) as error:
            what = f"there is no encoding called {encoding!r}"
            raise problem(self.name, what, hint="Try utf-8 or latin-1.") from error
        text = text.removeprefix("\ufeff") if self.first == 1 else text
        place = text.find("\0")
        if place >= 0:
            before = text.count("\n", 0, place)
            if place < _BINARY_HEAD and self.first == 1 and not before:
                raise binary(self.name, self.content)
            hint = "Remove it, or name the encoding with --encoding."
            raise problem(
                self.name, "a NUL character, which text files do not have", line=before + self.first, hint=hint
            )
        return text

    def head(self, most: int) -> list[str]:
        """The first lines, of which the last may be cut off."""
        text = self.text[:_HEAD]
        found = []
        at = 0
        for end in itertools.islice(LINE_END.finditer(text), most):
            found.append(text[at : end.start()])
            at = end.end()
        if len(found) < most and at < len(text):
            found.append(text[at:])
        return found

    @property
    def numbered(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers in the file."""
        return enumerate(self.lines, self.first)

    @property
    def full_lines(self) -> list[tuple[int, str]]:
        """The lines that are not blank, with their numbers; a file without any is an error."""
        found = [(number, line) for number, line in self.numbered if line.strip()]
        if not found:
            raise empty(self.name)
        return found

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; a line end at the end of the file starts no further line."""
        lines = LINE_END.split(self.text)
        if lines and not lines[-1]:
            lines.pop()
        return lines


def binary(name: str, content: bytes) -> Exception:
    """The error for content that is neither text nor in a supported binary format."""
    if content[257:262] == b"ustar":
        return problem(name, "a tar archive", hint="Unpack it: a folder with one folder per class is read.")
    if content.startswith(b"PK\x03\x04"):
        return problem(
            name, "a zip archive without arrays", hint="Unpack it, and give a file or a folder that was in it."
        )
    known = (
        "Binary formats that are read: Parquet, Feather, Excel, ODS, SQLite, npy, npz; and text packed with gzip, xz "
        "or bzip2."
    )
    return problem(name, "neither text nor in a supported binary format", hint=known)


def refuse_pickle(name: str, content: bytes) -> None:
    """Refuse a pickle, which can run code when it is opened."""
    if content[:1] == b"\x80" and content[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        what = "a pickle, which can run any code as it is opened, and is never read"
        hint = "If you trust it, write it as Parquet in Python: pandas.read_pickle(...).to_parquet(...)."
        raise problem(name, what, hint=hint)


class NoObjects(DataFileError):
    """Raised for a file without objects. Pieces of a file may have none, for example only comments."""


def empty(name: str, what: str = "the file is empty", hint: str = "") -> NoObjects:
    """The error for a file without objects."""
    error = NoObjects(f"{name}: {what}")
    error.add_note(hint or "Check that whatever wrote it has finished.")
    return error
