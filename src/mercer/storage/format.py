"""The container: a zip of uncompressed ``.npy`` members behind one ``header.json``.

Nothing is compressed, so a file never needs more memory than its own size: there are no zip bombs. The first bytes of
an ``.npy`` member follow from the type and shape in the header; they are compared, not parsed. NumPy can read the
members of a valid file with ``np.load``. The header is strict JSON, without anything ambiguous or dangerous.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, final

import numpy as np
import numpy.typing as npt

from mercer.errors import ModelFileError

HEADER = "header.json"
MAX_HEADER = 2**20  # bytes of JSON: the largest kernels take some ten thousand
MAX_DEPTH = 200  # levels: four per kernel within a kernel, and far fewer than exhaust Python's stack
# An unclosed string extends to the end of the text, so the scan always takes one pass.
_MARK = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{\]}]', re.DOTALL)
MAX_BYTES = 2**31  # a file is read into memory; larger ones need an explicit limit
MAX_MEMBERS = 10_000  # an estimator has some dozens; bounds what zipfile reads before the header is seen
_CHUNK = 2**22  # bytes hashed and copied at a time: a few milliseconds, and no second copy of a large array
_DIRECTORY_PER_MEMBER = 46 + 28 + 1100  # a record of the central directory, its zip64 extra, the longest name
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")


@final
@dataclass(frozen=True)
class Member:
    """The declaration of one array in the header."""

    dtype: str
    shape: tuple[int, ...]
    sha256: str

    @property
    def n_bytes(self) -> int:
        size = np.dtype(self.dtype).itemsize
        for length in self.shape:
            size *= length  # Python integers: never overflows
        return size

    @property
    def prefix(self) -> bytes:
        """The bytes before the data in an .npy file of this type and shape (version 1.0 of that format)."""
        text = f"{{'descr': '{self.dtype}', 'fortran_order': False, 'shape': {self.shape}, }}"
        length = -(-(10 + len(text) + 1) // 64) * 64 - 10
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + text.ljust(length - 1).encode("latin1") + b"\n"


def described(array: npt.NDArray[Any]) -> tuple[Member, npt.NDArray[Any]]:
    """An array in stored form, little-endian and in C order, with its declaration for the header."""
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return Member(plain.dtype.str, plain.shape, hashlib.sha256(_bytes(plain)).hexdigest()), plain


def write(stream: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write header and arrays; the same model gives the same bytes."""
    text = json.dumps(header, allow_nan=False, indent=1).encode("ascii")
    if len(text) > MAX_HEADER:
        raise ModelFileError(
            f"The header of this model would take {len(text):,} bytes, more than the {MAX_HEADER:,} that model files "
            "allow. Is there a kernel with very many parts?"
        )
    parse(text)  # do not write what could not be read again
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as container:
        _add(container, HEADER, [text])
        for name, array in arrays.items():
            member, plain = described(array)
            _add(container, f"{name}.npy", [member.prefix, _bytes(plain)])


@contextlib.contextmanager
def opened(path: str, max_bytes: int = MAX_BYTES) -> Iterator[Container]:
    """The container at `path`, with sizes and names checked and the header parsed, but no array read yet."""
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise ModelFileError("it is a folder, not a model file.")
    if not stat.S_ISREG(found.st_mode):  # reading a pipe could block forever
        raise ModelFileError("it is a device or a pipe, not a model file.")
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > max_bytes:
            raise ModelFileError(
                f"the file has {size:,} bytes, more than the {max_bytes:,} allowed. If you trust it, pass max_bytes=."
            )
        _check_ends(stream, size)
        with zipfile.ZipFile(stream) as archive:
            yield Container(archive, size)


class Container:
    """An open model file: its header, and its arrays on demand."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        self._sizes: dict[str, int] = {}
        total = 0
        for info in archive.infolist():
            if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
                raise ModelFileError("it has compressed or encrypted members, which Mercer never writes.")
            if info.filename in self._sizes:
                raise ModelFileError(f"the member {shown(info.filename)} occurs twice.")
            self._sizes[info.filename] = info.file_size
            total += info.file_size
        if total > size:
            raise ModelFileError("its members overlap.")
        if self._sizes.pop(HEADER, MAX_HEADER + 1) > MAX_HEADER:
            raise ModelFileError(f"it has no {HEADER} of at most {MAX_HEADER:,} bytes; is it a Mercer model file?")
        self.header = parse(archive.read(HEADER))

    def arrays(self, members: Mapping[str, Member]) -> dict[str, npt.NDArray[Any]]:
        """Every array, compared with its declaration in the header."""
        expected = {f"{name}.npy": len(member.prefix) + member.n_bytes for name, member in members.items()}
        if expected != self._sizes:
            odd = min(set(expected.items()) ^ set(self._sizes.items()))[0]
            raise ModelFileError(f"header and content disagree about the member {shown(odd)}.")
        return {name: self._array(name, member) for name, member in members.items()}

    def _array(self, name: str, member: Member) -> npt.NDArray[Any]:
        array = np.empty(member.shape, dtype=member.dtype)
        target = _bytes(array)
        digest = hashlib.sha256()
        with self._archive.open(f"{name}.npy") as stream:
            intact = stream.read(len(member.prefix)) == member.prefix
            for start in range(0, len(target), _CHUNK):
                part = stream.read(min(_CHUNK, len(target) - start))
                target[start : start + len(part)] = part
                digest.update(part)
        if not intact or digest.hexdigest() != member.sha256:
            raise ModelFileError(f"the array {shown(name)} is damaged: its checksum differs.")
        if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
            raise ModelFileError(f"the array {shown(name)} holds bools that are neither true nor false.")
        if array.dtype.kind == "U" and (np.frombuffer(target, dtype="<u4") >= 0x110000).any():
            raise ModelFileError(f"the array {shown(name)} holds characters that do not exist.")
        return array.astype(array.dtype.newbyteorder("="), copy=False)


def _add(container: zipfile.ZipFile, name: str, parts: list[Any]) -> None:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o644 << 16
    info.create_system = 3
    info.file_size = sum(len(part) for part in parts)  # tells zipfile when 64-bit sizes are needed
    with container.open(info, "w") as stream:
        for part in parts:
            for start in range(0, len(part), _CHUNK):
                stream.write(part[start : start + _CHUNK])


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _check_ends(stream: BinaryIO, size: int) -> None:
    """Bound the directory of the zip before zipfile reads all of it into memory."""
    start = stream.read(4)
    tail = _END.size + _LOCATOR_64.size + _END_64.size
    stream.seek(max(0, size - tail))
    end = stream.read(tail).rjust(tail, b"\0")
    signature, *_, n_members, n_bytes, offset, comment = _END.unpack(end[-_END.size :])
    last = _END.size
    if end[-_END.size - _LOCATOR_64.size :][:4] == b"PK\x06\x07":
        last = tail
        wide = _END_64.unpack(end[: _END_64.size])
        locator = _LOCATOR_64.unpack(end[_END_64.size : -_END.size])
        n_members, n_bytes, offset = wide[7:]
        comment |= wide[0] != b"PK\x06\x06" or locator[2] != size - tail
    if start != b"PK\x03\x04" or signature != b"PK\x05\x06" or comment or offset + n_bytes + last != size:
        raise ModelFileError("it is not a Mercer model file, or it was cut off or extended.")
    if n_members > MAX_MEMBERS or n_bytes > MAX_MEMBERS * _DIRECTORY_PER_MEMBER:
        raise ModelFileError(f"it has more than {MAX_MEMBERS:,} members.")
    stream.seek(0)


def parse(text: bytes) -> Any:
    """The header as dicts, lists and scalars: no NaN, no key twice, no deep nesting, no huge numbers."""
    depth = 0
    for mark in _MARK.finditer(text):
        first = mark.group()[:1]
        depth += (first in b"[{") - (first in b"]}")
        if depth > MAX_DEPTH:
            raise ModelFileError(f"its header is nested more than {MAX_DEPTH} levels deep.")
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse_number,
            parse_float=_finite,
            parse_int=_whole,
        )
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its header is not JSON: {error}.") from error


def shown(text: object) -> str:
    """A piece of an untrusted file, short and without control characters."""
    quoted = ascii(text)
    return quoted if len(quoted) <= 80 else quoted[:77] + "..."


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelFileError("its header has an object with a key that occurs twice.")
    return found


def _refuse_number(text: str) -> Any:
    raise ModelFileError(f"its header holds the number {shown(text)}, which is out of range.")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _whole(text: str) -> int:
    return int(text) if len(text) <= 20 else _refuse_number(text)
