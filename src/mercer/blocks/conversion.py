"""Conversion of anything that can be read once, from beginning to end, to a folder of blocks.

Files of any format that Mercer streams (CSV, svmlight, FASTA, JSON lines, text ...), Arrow tables and record batches,
generators of blocks. The folder appears when everything is written; an interrupted conversion leaves none.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import _check
from mercer._progress import reporting
from mercer._registry import INPUTS
from mercer.blocks.folder import COLUMNS, FORMAT, MANIFEST, VERSION, FolderBlocks, file_hash
from mercer.blocks.tables import block_of
from mercer.errors import DataFileError, InputError, InputTypeError
from mercer.inputs.base import Objects
from mercer.inputs.blocks import ROWS, Block, count_of
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors
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
        raise DataFileError(f"{target}: there is something already. Name a new folder, or open it with blocks.of.")
    if isinstance(source, str | os.PathLike):
        found = _blocks_of_file(source, options)
    else:
        found = _blocks_of_pieces(source, options)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name[:80]}.", dir=target.parent))
    try:
        _write(found, beside, None if kernel is None else kernel.domain, rows)
        os.replace(beside, target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return FolderBlocks(target)


# ------------------------------------------------------------------------------------------------------------ writing


def _write(source: Iterator[tuple[Block, Any]], folder: Path, domain: type[Objects] | None, rows: int) -> None:
    entries: list[dict[str, Any]] = []
    kind, names = "", None
    pending: list[tuple[Any, Block]] = []

    def flush(size: int) -> None:
        """Write the first of the pending objects."""
        whole = _joined(pending)
        here, rest = _parts(whole, size)
        arrays = _arrays_of(here)
        path = folder / f"{len(entries):06d}.npz"
        with open(path, "wb") as stream_:
            np.savez(stream_, **arrays)
            stream_.flush()
            os.fsync(stream_.fileno())
        entries.append({"rows": size, "sha256": file_hash(path)})
        pending[:] = [] if rest is None else [rest]

    with reporting("Converting") as report:
        for block, told in source:
            objects = _of_kind(block.objects, domain)
            own = COLUMNS if isinstance(objects, Mapping) else type(objects).__name__
            if kind and own != kind:
                raise InputError(f"Blocks must hold objects of one kind: {kind} and {own} were found.")
            kind, names = own, names or told
            pending.append((objects, block))
            while sum(count_of(part) for part, _ in pending) >= rows:
                flush(rows)
                report(0.0, f"{len(entries):,} blocks")
    left = sum(count_of(part) for part, _ in pending)
    if left:
        flush(left)
    if not entries:
        raise DataFileError("The source holds no objects.")
    told = {"format": FORMAT, "version": VERSION, "kind": kind, "names": names, "blocks": entries}
    (folder / MANIFEST).write_text(json.dumps(told, indent=1), encoding="utf-8")


def _of_kind(raw: Any, domain: type[Objects] | None) -> Any:
    """Objects in stored form: of one kind, or columns as arrays."""
    if isinstance(raw, Objects):
        return raw
    if domain is not None and domain.__name__ in INPUTS and domain.__name__ != "Table":
        return domain.coerce(raw)
    if hasattr(raw, "columns") and not isinstance(raw, Mapping):
        raw = {str(name): np.asarray(raw[name]) for name in raw.columns}
    if isinstance(raw, Mapping):
        return {str(name): _plain(np.asarray(values)) for name, values in raw.items()}
    if sp.issparse(raw) or np.asarray(raw[:1]).dtype.kind in "fiub":
        return Vectors.coerce(raw)
    if isinstance(raw[0], str):
        return Strings.coerce(list(raw))
    raise InputTypeError(
        f"Blocks of {type(raw[0]).__name__} can be stored in a folder if their kernel is known: pass kernel=..."
    )


def _plain(values: Any) -> Any:
    return values.astype(np.str_) if values.dtype.kind == "O" else values


def _joined(parts: list[tuple[Any, Block]]) -> tuple[Any, Block]:
    if len(parts) == 1:
        return parts[0]
    batches = [objects for objects, _ in parts]
    if isinstance(batches[0], Mapping):
        objects: Any = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    else:
        objects = type(batches[0]).joined(batches)
    y, weights = ([getattr(block, name) for _, block in parts] for name in ("y", "weights"))
    for what, values in (("targets", y), ("weights", weights)):
        if len({value is None for value in values}) > 1:
            raise InputError(f"Some blocks have {what}, and others have none.")
    own = [None if values[0] is None else np.concatenate(values) for values in (y, weights)]
    return objects, Block(None, *own)


def _parts(whole: tuple[Any, Block], size: int) -> tuple[tuple[Any, Block], tuple[Any, Block] | None]:
    """The first objects, and the others."""
    objects, block = whole

    def cut(part: slice) -> tuple[Any, Block]:
        taken = {k: v[part] for k, v in objects.items()} if isinstance(objects, Mapping) else objects.take(part)
        y, weights = (None if values is None else np.asarray(values)[part] for values in (block.y, block.weights))
        return taken, Block(None, y, weights)

    rest = slice(size, None)
    return cut(slice(0, size)), cut(rest) if count_of(objects) > size else None


def _arrays_of(part: tuple[Any, Block]) -> dict[str, Any]:
    objects, block = part
    held = objects if isinstance(objects, Mapping) else objects.to_arrays()
    arrays = {f"objects/{name}": array for name, array in held.items()}
    if block.y is not None:
        arrays["y"] = _plain(np.asarray(block.y))
    if block.weights is not None:
        arrays["weights"] = np.asarray(block.weights, dtype=np.float64)
    return arrays


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
        raise _check.fail("convert", "options", "target and weight, for a source that is no file", sorted(options))
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
