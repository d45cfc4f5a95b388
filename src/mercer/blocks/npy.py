"""Rows of numbers in npy files, of which no more than some blocks are in memory at a time."""

from __future__ import annotations

import hashlib
import math
import os
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._parsing import undisturbed
from mercer._types import Float64
from mercer.errors import DataFileError
from mercer.inputs.blocks import ROWS, Block, Blocks, planned

_PAGE, _PAGES = 1 << 16, 64
"""Size of a page in bytes, and number of pages, spread over a file, that are hashed to distinguish files of the same
size and age."""


@final
class NpyBlocks(Blocks):
    """A matrix in an npy file, with targets and weights in separate files or in memory.

    Each process opens files when it reads a block, and keeps them open; a source is pickled as file names.
    """

    def __init__(self, X: Any, y: Any = None, weights: Any = None, *, rows: int = ROWS) -> None:
        self._paths = [None if path is None else os.path.abspath(os.fspath(path)) for path in (X, y, weights)]
        matrix = self._arrays[0]
        assert matrix is not None, "a path was given"
        if matrix.ndim != 2:
            raise DataFileError(
                f"{self._paths[0]}: its array has the shape {matrix.shape}, and rows of numbers are needed"
            )
        self._sizes = planned(len(matrix), rows)
        for path, array in zip(self._paths[1:], self._arrays[1:], strict=True):
            if array is not None and len(array) != len(matrix):
                raise DataFileError(f"{path}: it holds {len(array):,} numbers, and there are {len(matrix):,} rows")

    @cached_property
    def _arrays(self) -> list[npt.NDArray[Any] | None]:
        return [None if path is None else _mapped(path) for path in self._paths]

    @property
    def sizes(self) -> tuple[int, ...]:
        return self._sizes

    def read(self, number: int) -> Block:
        part = slice(int(self.edges[number]), int(self.edges[number + 1]))
        X, y, weights = (None if array is None else _read(array, part) for array in self._arrays)
        return Block(X, y, None if weights is None else weights.astype(np.float64))

    @cached_property
    def y(self) -> npt.NDArray[Any] | None:
        found = self._arrays[1]
        return None if found is None else np.array(found)

    @cached_property
    def weights(self) -> Float64 | None:
        found = self._arrays[2]
        return None if found is None else np.array(found, dtype=np.float64)

    @cached_property
    def digest(self) -> str:
        told = [str(self._sizes), *(file_mark(path) for path in self._paths if path is not None)]
        return hashlib.sha256(" ".join(told).encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_arrays"}


def _read(array: npt.NDArray[Any], part: slice) -> npt.NDArray[Any]:
    """Some rows of a file. They are not read through the map: all pages seen would count as memory of this process."""
    if not isinstance(array, np.memmap) or array.filename is None or not array.flags.c_contiguous:
        return np.array(array[part])
    count = (part.stop - part.start) * math.prod(array.shape[1:])
    try:
        with open(array.filename, "rb") as stream:
            stream.seek(array.offset + part.start * math.prod(array.shape[1:]) * array.itemsize)
            found = np.fromfile(stream, dtype=array.dtype, count=count)
    except OSError as error:
        raise DataFileError(f"{array.filename}: {error.strerror or error}") from error
    if len(found) < count:
        raise DataFileError(f"{array.filename}: it has become shorter since it was opened.")
    return found.reshape(-1, *array.shape[1:])


@undisturbed
def _mapped(path: str) -> npt.NDArray[Any]:
    try:
        found: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataFileError(f"{path}: not an npy file that can be read: {error}") from error
    if not isinstance(found, np.ndarray):
        raise DataFileError(f"{path}: an archive of arrays (npz) cannot be read in blocks. Save each with numpy.save.")
    return found


def file_mark(path: str) -> str:
    """Identifies a file by its size, its time, and some of its pages: files may have hundreds of gigabytes."""
    try:
        found = os.stat(path)
        digest = hashlib.sha256(f"{found.st_size} {found.st_mtime_ns}".encode())
        with open(path, "rb") as stream:
            for place in np.linspace(0, max(0, found.st_size - _PAGE), _PAGES).astype(np.int64):
                stream.seek(int(place))
                digest.update(stream.read(_PAGE))
    except OSError as error:
        raise DataFileError(f"{path}: {error.strerror or error}") from error
    return digest.hexdigest()
