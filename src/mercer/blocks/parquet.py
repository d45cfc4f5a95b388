"""Parquet files, read by row groups: only a few groups of a file are in memory at a time."""

from __future__ import annotations

import glob
import hashlib
import itertools
import os
import threading
from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._types import Float64
from mercer.blocks.npy import file_mark
from mercer.blocks.tables import block_of
from mercer.errors import DataFileError, missing_extra
from mercer.inputs.blocks import ROWS, Block, Blocks

_MOST_BYTES = 2**30
"""Larger row groups, once unpacked, are refused: every thread would read one whole."""


@final
class ParquetBlocks(Blocks):
    """The rows of one or more Parquet files: neighbouring row groups are combined into blocks of about `rows` rows.

    `paths` is a file, a list of files, or a folder of them, which are taken in the order of their names. One column is
    the `target`, another may be the `weight`; `only` names the columns to learn from. Columns that all hold numbers are
    vectors, others a table for `kernels.on`.
    """

    def __init__(
        self,
        paths: Any,
        target: str | None = None,
        weight: str | None = None,
        *,
        only: Sequence[str] | None = None,
        rows: int = ROWS,
    ) -> None:
        self._paths = _files(paths)
        self._target, self._weight = target, weight
        self._only = None if only is None else [*only, *(name for name in (target, weight) if name is not None)]
        self._open = threading.local()
        groups = [(number, group, size) for number in range(len(self._paths)) for group, size in self._groups(number)]
        if not groups:
            raise DataFileError(f"{self._paths[0]}: it holds no rows")
        self._plan: list[list[tuple[int, int]]] = []
        sizes: list[int] = []
        for number, group, size in groups:
            if sizes and sizes[-1] + size <= rows and self._plan[-1][-1][0] == number:
                self._plan[-1].append((number, group))
                sizes[-1] += size
            else:
                self._plan.append([(number, group)])
                sizes.append(size)
        self._sizes = tuple(sizes)

    def _groups(self, number: int) -> list[tuple[int, int]]:
        meta = self._file(number).metadata
        found = []
        for group in range(meta.num_row_groups):
            one = meta.row_group(group)
            if one.total_byte_size > _MOST_BYTES:
                raise DataFileError(
                    f"{self._paths[number]}: row group {group} takes {one.total_byte_size / 2**30:.1f} GiB once "
                    "unpacked. Write the file with smaller row groups (row_group_size=65536)."
                )
            if one.num_rows:
                found.append((group, int(one.num_rows)))
        return found

    def _file(self, number: int) -> Any:
        """A file opened by this thread; Parquet files must not be shared between threads."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise missing_extra("Parquet", "pyarrow", "tables") from error
        opened = self._open.__dict__.setdefault("files", {})
        if number not in opened:
            try:
                opened.clear()  # one at a time
                opened[number] = pq.ParquetFile(self._paths[number])
            except (OSError, pa.ArrowException) as error:
                path = self._paths[number]
                raise DataFileError(f"{path}: not a Parquet file that can be read: {error}") from error
        return opened[number]

    @property
    def sizes(self) -> tuple[int, ...]:
        return self._sizes

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        columns = self._columns([self._plan[0][0]], self._only)
        return tuple(name for name in columns if name not in (self._target, self._weight))

    def read(self, number: int) -> Block:
        path = self._paths[self._plan[number][0][0]]
        return block_of(path, self._columns(self._plan[number], self._only), self._target, self._weight)

    def _columns(self, groups: Sequence[tuple[int, int]], only: Sequence[str] | None) -> dict[str, npt.NDArray[Any]]:
        number = groups[0][0]
        try:
            table = self._file(number).read_row_groups([group for _, group in groups], columns=only, use_threads=False)
        except (OSError, ValueError) as error:
            raise DataFileError(f"{self._paths[number]}: cannot be read: {error}") from error
        return {name: table.column(place).to_numpy() for place, name in enumerate(table.column_names)}

    @cached_property
    def y(self) -> npt.NDArray[Any] | None:
        if self._target is None:
            return None
        parts = [self._columns(groups, [self._target])[self._target] for groups in self._plan]
        found = np.concatenate(parts)
        return found.astype(np.str_) if found.dtype.kind == "O" else found

    @cached_property
    def weights(self) -> Float64 | None:
        if self._weight is None:
            return None
        parts = [self._columns(groups, [self._weight])[self._weight] for groups in self._plan]
        return np.concatenate(parts).astype(np.float64)

    @cached_property
    def digest(self) -> str:
        told = [repr((self._sizes, self._target, self._weight, self._only)), *map(file_mark, self._paths)]
        return hashlib.sha256(" ".join(told).encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_open"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _open=threading.local())


def _files(paths: Any) -> list[str]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [os.path.abspath(os.fspath(path)) for path in given]
    found = [
        sorted(glob.glob(os.path.join(glob.escape(name), "*.parquet"))) if os.path.isdir(name) else [name]
        for name in names
    ]
    files = list(itertools.chain.from_iterable(found))
    if not files:
        raise DataFileError(f"{', '.join(names) or 'No path'}: no Parquet file found")
    return files
