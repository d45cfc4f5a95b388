"""Finds how large the sheets of a spreadsheet are before they are read.

The library that reads spreadsheets allocates every cell between the first and the last. A file of one kilobyte whose
last cell is XFD1048576 needs 17 thousand million of them, and when memory runs out the process ends without a message.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import zipfile
import zlib
from typing import Final

from mercer.errors import DataFileError
from mercer.readers.problems import problem, reason
from mercer.readers.source import Source

_ALWAYS = 2_000_000
"""The number of cells that is always allowed: they take 64 MB."""
_REFERENCE = re.compile(rb"""\br\s*=\s*["']\s*([A-Za-z]{0,9})([0-9]{1,12})\s*["']""")
"""The position of a cell, or the number of a row."""
_LONGEST = 64
"""Chunks overlap by this many bytes, more than such a position has."""
_CHUNK = 1 << 20
"""Bytes unpacked at a time: large enough for few calls, small enough to need little memory whatever the file claims."""
_PARTS = (".xml", ".rels")
"""Suffixes of the parts that are text."""
_SECONDS = 60
"""Time limit in seconds of the process that measures a file; one that takes longer is refused."""
_LOOK: Final = """
import io, sys
content = sys.stdin.buffer.read()
try:
    import resource
    most = (1 << 30) + 20 * len(content)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
except (ImportError, ValueError, OSError):
    pass
import python_calamine as calamine
try:
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    print(sum(sheet.height * sheet.width for sheet in map(book.get_sheet_by_name, book.sheet_names)))
except calamine.CalamineError:
    print(0)  # which is told better when it is read
"""


def refuse_far_cells(source: Source, max_bytes: int) -> None:
    """Refuse a file whose sheets have many more cells than it has bytes, or that is larger than it claims."""
    content = source.content
    if not content.startswith(b"PK"):
        _refuse(source, _cells_by_process(source), len(content))
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size, places = 0, 0
            for member in archive.infolist():
                declared, member.file_size = member.file_size, 1 << 62  # read to the actual end
                unpacked, found = _scanned(archive, member, declared, max_bytes - size, source)
                size, places = size + unpacked, places + found
            every = archive.namelist()
    except DataFileError:
        raise
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, EOFError, OSError) as error:
        raise problem(source.name, f"a damaged spreadsheet: {reason(error)}", hint="Save it again.") from error
    if not all(name.endswith((*_PARTS, "/")) for name in every):  # parts that are not text, or another kind of sheet
        places = _cells_by_process(source)
    _refuse(source, places, size)


def _scanned(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, declared: int, room: int, source: Source
) -> tuple[int, int]:
    """The number of bytes of a member, and the number of cells if it is a sheet."""
    if declared > room:
        raise _too_large(source)
    size, rows, columns, tail = 0, 0, 1, b""
    with archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            if size > declared:
                raise problem(source.name, f"a damaged spreadsheet: {member.filename} is longer than it says")
            if size == len(chunk) and chunk.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise problem(source.name, f"{member.filename} is written in UTF-16", hint="Save it again.")
            for letters, digits in _REFERENCE.findall(tail + chunk):
                rows, columns = max(rows, int(digits)), max(columns, _column(letters))
            tail = chunk[-_LONGEST:]
    return size, rows * columns


def _column(letters: bytes) -> int:
    """The number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _cells_by_process(source: Source) -> int:
    """The number of cells of all sheets, found by a separate process that may fail."""
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _LOOK],
            input=source.content,
            capture_output=True,
            timeout=_SECONDS,
            env=settings,
            check=True,
        )
        return int(done.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        raise _not_read(source) from error


def _refuse(source: Source, places: int, size: int) -> None:
    if places > max(_ALWAYS, size):
        what = f"its cells are so far apart that its sheets span {places:,} cells"
        raise problem(source.name, what, hint="Delete cells far from the table, and save it again.")


def _too_large(source: Source) -> DataFileError:
    return problem(source.name, "too large once unpacked", hint="Raise the cap with --max-mb, or cut the file.")


def _not_read(source: Source) -> DataFileError:
    return problem(source.name, "not a spreadsheet that can be read", hint="Is it damaged? Save it again.")
