"""Conversion of anything that can be read once, from beginning to end, to a folder of blocks.

Files of any format that Mercer streams (CSV, svmlight, FASTA, JSON lines, text ...), Arrow tables and record batches,
generators of blocks. The folder appears when everything is written; an interrupted conversion leaves none.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mercer import _check
from mercer._progress import reporting
from mercer.blocks.folder import FolderBlocks
from mercer.blocks.tables import block_of
from mercer.blocks.writing import FolderWriter, of_kind
from mercer.errors import DataFileError, InputTypeError
from mercer.inputs.blocks import ROWS, Block
from mercer.kernels.base import Kernel
from mercer.readers.data import NUMERIC, Data
from mercer.readers.options import Options
from mercer.readers.streaming import stream


def convert(
    source: Any,
    folder: str | os.PathLike[str],
    *,
    kernel: Kernel | None = None,
    rows: int = ROWS,
    **options: Any,
) -> FolderBlocks:
    """Write a source to a new folder of blocks of `rows` objects, once.

    `source` is the path of a file, with `options` as `mercer.readers.read` takes them (`target`, `format` ...), or an
    iterable of blocks: `Block`, (X, y), (X, y, weights), Arrow record batches (with `target`), or X alone. Objects that
    are not rows of numbers, strings or columns need the `kernel` that will compare them.

    >>> import tempfile
    >>> from mercer import blocks
    >>> pieces = (([[float(i), 1.0]], [i % 2]) for i in range(10))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = blocks.convert(pieces, f"{place}/folder", rows=4)
    ...     found.sizes, found.y.tolist()
    ((4, 4, 2), [0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
    """
    rows = _check.integer("convert", "rows", rows, low=1)
    target = Path(folder).absolute()
    if target.exists():
        raise DataFileError(f"{target}: already exists. Name a new folder, or open it with blocks.of.")
    if isinstance(source, str | os.PathLike):
        found = _blocks_of_file(source, options)
    else:
        found = _blocks_of_pieces(source, options)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name[:80]}.", dir=target.parent))
    writer, domain = FolderWriter(beside, rows), None if kernel is None else kernel.domain
    try:
        with reporting("Converting") as report:
            for block, names in found:
                writer.add(dataclasses.replace(block, objects=of_kind(block.objects, domain)), names)
                report(0.0, f"{len(writer.entries):,} blocks")
        writer.finish()
        os.replace(beside, target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return FolderBlocks(target)


# ------------------------------------------------------------------------------------------------------------ sources


def _blocks_of_file(path: str | os.PathLike[str], options: dict[str, Any]) -> Iterator[tuple[Block, Any]]:
    known = {field.name for field in dataclasses.fields(Options)}
    asked = {"max_bytes": 2**62, **options}
    for name in asked:
        _check.choice("convert", "an option", name, sorted(known))
    for data in stream(path, Options(**asked)):
        yield _block_of_data(data)


def _block_of_data(data: Data) -> tuple[Block, Any]:
    y = None if data.labels is None else np.asarray(data.labels)
    if data.kind != "table":
        return Block(data.objects, y), None
    columns: dict[str, Any] = {}
    for column in data.objects.values():
        if column.missing.any():
            where = data.name_of(int(np.flatnonzero(column.missing)[0]))
            raise DataFileError(
                f"{data.name}: column {column.name!r} has no value in row {where}. Leave it out (drop=), or fill it."
            )
        columns[column.name] = column.values if column.kind in NUMERIC else column.values.astype(np.str_)
    block = block_of(data.name, columns, None, None)
    return dataclasses.replace(block, y=y), list(columns)


def _blocks_of_pieces(source: Any, options: dict[str, Any]) -> Iterator[tuple[Block, Any]]:
    target, weight = options.pop("target", None), options.pop("weight", None)
    if options:
        raise _check.fail("convert", "options", "target and weight, for a source that is not a file", sorted(options))
    if hasattr(source, "to_batches"):
        source = source.to_batches()
    if not isinstance(source, Iterable):
        raise InputTypeError(f"A path or an iterable of blocks is needed, not {type(source).__name__}.")
    for piece in source:
        if hasattr(piece, "schema") and hasattr(piece, "column"):  # a record batch of Arrow
            names = list(piece.schema.names)
            columns = {name: piece.column(n).to_numpy(zero_copy_only=False) for n, name in enumerate(names)}
            yield block_of("the record batch", columns, target, weight), [n for n in names if n not in (target, weight)]
        elif isinstance(piece, Block):
            yield piece, None
        elif isinstance(piece, tuple):
            X, *rest = piece
            y, weights = (*(None if part is None else np.asarray(part) for part in rest), None, None)[:2]
            yield Block(X, y, weights), None
        else:
            yield Block(piece), None
