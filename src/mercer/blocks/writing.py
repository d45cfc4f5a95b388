"""Writes a folder of blocks, one at a time; written blocks stay, so writing can resume after a kill."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from mercer._atomic import replacing
from mercer._registry import INPUTS
from mercer.blocks.folder import COLUMNS, FORMAT, MANIFEST, VERSION, file_hash
from mercer.errors import DataFileError, InputError, InputTypeError
from mercer.inputs.base import Objects
from mercer.inputs.blocks import Block, count_of
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors


@final
class FolderWriter:
    """Collects objects, and writes blocks of `rows` of them; `finish` makes it a folder of blocks."""

    def __init__(self, folder: Path, rows: int, entries: Sequence[dict[str, Any]] = ()) -> None:
        """`entries` describe the blocks already written."""
        self._folder, self._rows = folder, rows
        self.entries = list(entries)
        self._kind, self._names = "", None
        self._pending: list[Block] = []

    @property
    def written(self) -> int:
        """The number of objects in complete blocks."""
        return sum(int(entry["rows"]) for entry in self.entries)

    def add(self, block: Block, names: Any = None) -> None:
        """More objects: of one kind, or columns as arrays (`of_kind`)."""
        kind = COLUMNS if isinstance(block.objects, Mapping) else type(block.objects).__name__
        if self._kind and kind != self._kind:
            raise InputError(f"Blocks must hold objects of one kind: {self._kind} and {kind} were found.")
        self._kind, self._names = kind, self._names or names
        self._pending.append(block)
        while sum(count_of(part.objects) for part in self._pending) >= self._rows:
            self._flush(self._rows)

    def finish(self) -> None:
        """Write what is left, and the manifest."""
        left = sum(count_of(part.objects) for part in self._pending)
        if left:
            self._flush(left)
        if not self.entries:
            raise DataFileError("The source holds no objects.")
        told = {
            "format": FORMAT, "version": VERSION, "kind": self._kind or self.entries[0].get("kind"),
            "names": self._names, "blocks": self.entries,
        }  # fmt: skip
        with replacing(self._folder / MANIFEST) as stream:
            stream.write(json.dumps(told, indent=1).encode())

    def _flush(self, size: int) -> None:
        """Write the first of the pending objects."""
        here, rest = _parts(_joined(self._pending), size)
        path = self._folder / f"{len(self.entries):06d}.npz"
        with open(path, "wb") as stream:
            np.savez(stream, **_arrays_of(here))
            stream.flush()
            os.fsync(stream.fileno())
        self.entries.append({"rows": size, "sha256": file_hash(path), "kind": self._kind})
        self._pending = [] if rest is None else [rest]


def of_kind(raw: Any, domain: type[Objects] | None) -> Any:
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


def _joined(parts: list[Block]) -> Block:
    if len(parts) == 1:
        return parts[0]
    batches = [block.objects for block in parts]
    if isinstance(batches[0], Mapping):
        objects: Any = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    else:
        objects = type(batches[0]).joined(batches)
    y, weights = ([getattr(block, name) for block in parts] for name in ("y", "weights"))
    for what, values in (("targets", y), ("weights", weights)):
        if len({value is None for value in values}) > 1:
            raise InputError(f"Some blocks have {what}, others have none.")
    return Block(objects, *(None if values[0] is None else np.concatenate(values) for values in (y, weights)))


def _parts(block: Block, size: int) -> tuple[Block, Block | None]:
    """Split into the first objects and the others."""
    objects = block.objects

    def cut(part: slice) -> Block:
        taken = {k: v[part] for k, v in objects.items()} if isinstance(objects, Mapping) else objects.take(part)
        y, weights = (None if values is None else np.asarray(values)[part] for values in (block.y, block.weights))
        return Block(taken, y, weights)

    rest = slice(size, None)
    return cut(slice(0, size)), cut(rest) if count_of(objects) > size else None


def _arrays_of(block: Block) -> dict[str, Any]:
    objects = block.objects
    held = objects if isinstance(objects, Mapping) else objects.to_arrays()
    arrays = {f"objects/{name}": array for name, array in held.items()}
    if block.y is not None:
        arrays["y"] = _plain(np.asarray(block.y))
    if block.weights is not None:
        arrays["weights"] = np.asarray(block.weights, dtype=np.float64)
    return arrays
