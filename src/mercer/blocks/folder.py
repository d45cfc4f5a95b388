"""A folder of blocks: plain arrays in npz files, and a manifest that says how many objects and which bytes each has.

    manifest.json    {"format": "mercer blocks", "version": 1, "kind": "Strings", "names": ..., "blocks": [...]}
    000000.npz       the arrays of the objects, `y`, `weights`

Nothing in a folder is ever executed. A block whose checksum differs from the manifest is refused; each is checked once
per process.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._parsing import undisturbed
from mercer._registry import INPUTS
from mercer._types import Float64
from mercer.errors import DataFileError
from mercer.inputs.base import Objects, under
from mercer.inputs.blocks import Block, Blocks

FORMAT, VERSION = "mercer blocks", 1
MANIFEST = "manifest.json"
COLUMNS = "columns"
"""The kind of blocks with named columns, for kernels on tables."""
_PIECE = 1 << 20
"""Bytes hashed at a time: large enough that calls cost nothing, small enough to need no memory."""


@final
class FolderBlocks(Blocks):
    """Blocks that `convert` wrote to a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder).absolute()
        self._manifest = _read_manifest(self._folder)
        self._sound: set[int] = set()

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(int(block["rows"]) for block in self._manifest["blocks"])

    @property
    def names(self) -> tuple[str, ...] | None:
        found = self._manifest["names"]
        return None if found is None else tuple(found)

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self._manifest, sort_keys=True).encode()).hexdigest()

    def read(self, number: int) -> Block:
        arrays = self._arrays(number)
        objects: Any = under(arrays, "objects/")
        kind = self._manifest["kind"]
        if kind != COLUMNS:
            domain: type[Objects] = INPUTS[kind].load()
            objects = domain.from_arrays(objects)
        return Block(objects, arrays.get("y"), arrays.get("weights"))

    @undisturbed
    def _arrays(self, number: int, only: str | None = None) -> dict[str, npt.NDArray[Any]]:
        entry = self._manifest["blocks"][number]
        path = self._folder / f"{number:06d}.npz"
        try:
            if number not in self._sound:
                if file_hash(path) != entry["sha256"]:
                    raise DataFileError(f"{path}: its bytes are not those that were written. Convert the data again.")
                self._sound.add(number)
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files if only in (None, name)}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise DataFileError(f"{path}: cannot be read: {error}") from error

    @cached_property
    def y(self) -> npt.NDArray[Any] | None:
        return self._whole("y")

    @cached_property
    def weights(self) -> Float64 | None:
        return self._whole("weights")

    def _whole(self, name: str) -> npt.NDArray[Any] | None:
        parts = [self._arrays(number, name).get(name) for number in range(len(self))]
        return self._all(parts, "targets" if name == "y" else name)


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataFileError(f"{path}: not a folder of blocks: {error}. mercer.blocks.convert writes one.") from error
    sound = (
        isinstance(found, dict)
        and found.get("format") == FORMAT
        and found.get("version") == VERSION
        and (found.get("kind") == COLUMNS or found.get("kind") in INPUTS)
        and isinstance(found.get("blocks"), list)
        and found["blocks"]
        and all(
            isinstance(block, dict) and isinstance(block.get("rows"), int) and block["rows"] > 0 and "sha256" in block
            for block in found["blocks"]
        )
    )
    if not sound:
        raise DataFileError(f"{path}: it is damaged, or was written by another version")
    manifest: dict[str, Any] = found
    return manifest
