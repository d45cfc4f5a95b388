"""Binary files of rows (Parquet, Arrow, npy), some rows at a time: shared by `stream` and `thinned`.

Rows are returned as a small file of the same format, so the reader of the format decides everything else.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._types import Indices
from mercer.errors import missing_extra
from mercer.inputs.blocks import ROWS
from mercer.readers.options import Options
from mercer.readers.problems import problem, reason
from mercer.readers.source import Source

IN_BATCHES = ("parquet", "feather", "npy")
"""The formats in which some rows can be read without the others."""


def rows_in(path: str, format_: str) -> tuple[int, float]:
    """The number of rows of a file, and approximately how many bytes each takes when unpacked."""
    if format_ == "npy":
        array = _mapped(path)
        return len(array), array.nbytes / max(1, len(array))
    with _Opened(path, format_) as file:
        if format_ == "parquet":
            meta = file.metadata
            declared = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
            return meta.num_rows, max(declared, 8 * meta.num_rows * meta.num_columns) / max(1, meta.num_rows)
        sizes = [(batch.num_rows, batch.nbytes) for batch in _batches_of(file)]
        rows = sum(size for size, _ in sizes)
        return rows, sum(size for _, size in sizes) / max(1, rows)


def is_square(path: str, format_: str) -> bool:
    """Whether a file holds a square matrix."""
    if format_ != "npy":
        return False
    shape = _mapped(path).shape
    return len(shape) == 2 and shape[0] == shape[1]


def batches(path: str, format_: str, options: Options, rows: int, start: int = 0) -> Iterator[tuple[int, Source]]:
    """Up to `rows` rows at a time, from `start` on: the number of rows before them, and a file that holds them."""
    name, before = os.path.basename(path), 0
    if format_ == "npy":
        array = _mapped(path)
        for place in range(start, len(array), rows):
            yield place, _npy(name, array[place : place + rows], options)
        return
    with _Opened(path, format_) as file:
        for batch in _batches_of(file, rows):
            for place in range(0, batch.num_rows, rows):
                part = batch.slice(place, rows)
                if before >= start:
                    yield before, _packed(name, format_, [part], options)
                before += part.num_rows


def chosen(path: str, format_: str, options: Options, places: Indices) -> Source:
    """A file of the same format that holds the rows at these positions, which must ascend."""
    name = os.path.basename(path)
    if format_ == "npy":
        return _npy(name, _mapped(path)[places], options)
    found, before = [], 0
    with _Opened(path, format_) as file:
        for batch in _batches_of(file):
            low, high = np.searchsorted(places, [before, before + batch.num_rows])
            if low < high:
                found.append(batch.take(_indices(places[low:high] - before)))
            before += batch.num_rows
    return _packed(name, format_, found, options)


def _mapped(path: str) -> Any:
    from mercer.readers.arrays import array_of

    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # the reader itself reports this
        with open(path, "rb") as stream:
            return array_of(os.path.basename(path), stream.read())
    return np.atleast_1d(found)


def _npy(name: str, rows: Any, options: Options) -> Source:
    stream = io.BytesIO()
    np.save(stream, np.array(rows))
    return Source(name, stream.getvalue(), options.encoding)


class _Opened:
    """A file in one of Arrow's formats; its errors are converted to ours."""

    def __init__(self, path: str, format_: str) -> None:
        self._path, self._format = path, format_
        self._close: list[Any] = []

    def __enter__(self) -> Any:
        try:
            import pyarrow as pa
            import pyarrow.ipc as ipc
            import pyarrow.parquet as pq
        except ImportError as error:
            raise missing_extra(self._format.title(), "pyarrow", "tables") from error
        try:
            if self._format == "parquet":
                file: Any = pq.ParquetFile(self._path, memory_map=True)
                self._close.append(file)
                return file
            mapped = pa.memory_map(self._path)
            self._close.append(mapped)
            return ipc.open_file(mapped)
        except (pa.ArrowException, OSError) as error:
            raise self._problem(error) from error

    def _problem(self, error: BaseException) -> Exception:
        what = f"not a {self._format.title()} file that can be read: {reason(error)}"
        return problem(os.path.basename(self._path), what, hint="Is it damaged? Write it again.")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        for one in self._close:
            one.close()
        if error is not None:
            import pyarrow as pa

            if isinstance(error, pa.ArrowException | OSError):
                raise self._problem(error) from error


def _batches_of(file: Any, rows: int = ROWS) -> Iterator[Any]:
    if hasattr(file, "iter_batches"):
        yield from file.iter_batches(batch_size=rows, use_threads=False)
        return
    for number in range(file.num_record_batches):
        batch = file.get_batch(number)
        batch.validate(full=True)  # otherwise Arrow trusts lengths and offsets
        yield batch


def _indices(places: Indices) -> Any:
    import pyarrow as pa

    return pa.array(places)


def _packed(name: str, format_: str, parts: list[Any], options: Options) -> Source:
    import pyarrow as pa
    import pyarrow.ipc as ipc
    import pyarrow.parquet as pq

    table, stream = pa.Table.from_batches(parts), io.BytesIO()
    if format_ == "parquet":
        pq.write_table(table, stream, compression="none", use_dictionary=False)
    else:
        with ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
    return Source(name, stream.getvalue(), options.encoding)
