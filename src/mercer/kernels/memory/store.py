"""A symmetric matrix of kernel values in a folder, in blocks that are either complete or absent.

Objects are identified by names (digests of their content), and numbered in the order in which they first appear. Every
call of `register` adds its new objects as blocks of their own, which never change again, so a growing matrix computes
only what is new. A tile has the values of one block of objects against another, and is a file::

    store = ValueStore.open(folder, "what computes the values")
    numbers = store.register(names)                     # names: bytes, one for each object
    for tile in store.missing(numbers):                 # below and on the diagonal of the blocks
        store.put(tile, values of tile.rows against tile.columns)      # anywhere, in any order, by any process
    matrix = store.values(numbers, numbers)

`rows` and `columns` of a tile are numbers of objects. Files are written under another name and renamed, so a process
that is killed at any moment leaves only finished tiles; a tile with a wrong checksum counts as missing. Several
processes, also of several machines that share the folder, may register, put and read at the same time, and compute no
tile twice if each holds `claimed(tile)` while it does. (Where files cannot be locked, two may compute the same tile,
and one may lose what it adds to a tile that another adds to at the same moment.) Unknown values are NaN, and `put`
never replaces a known value by NaN, so a tile may be completed piece by piece.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import secrets
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._atomic import alone
from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.kernels.memory.claims import claims_in

NAME_BYTES = 16
"""Bytes in the name of an object: the probability that any two of 10^9 objects collide is about 10^-20."""
BLOCK = 64
"""The default number of objects per block: at 0.1 ms per value, a tile takes half a second. With smaller tiles less is
lost when a process is killed; larger ones make fewer files."""
_KEPT_BYTES = 2**28
"""Memory for tiles that are cached."""
_FORMAT = "mercer kernel values"
_DIGEST = hashlib.sha256().digest_size
_open: weakref.WeakValueDictionary[str, ValueStore] = weakref.WeakValueDictionary()
"""Stores received from other processes, by folder, so their cache exists only once."""
_opening = threading.Lock()


@final
@dataclass(frozen=True)
class StoreTile:
    """The values of one block of objects against another or itself."""

    block: int
    other: int
    """At most `block`: the matrix is symmetric."""
    rows: range
    """The numbers of the objects of `block`, and of those of `other`."""
    columns: range

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def name(self) -> str:
        return f"{self.block:06d}-{self.other:06d}"


@final
class ValueStore:
    """The matrix of one kernel in a folder. Threads may share it; copies in other processes open it by its path."""

    def __init__(self, folder: Path) -> None:
        """Use `open`."""
        self.folder = folder
        self._edges = [0]
        self._numbers: dict[bytes, int] = {}
        self._kept: dict[StoreTile, Float64] = {}
        self._bytes = 0
        self._whole: set[StoreTile] = set()
        self._lock = threading.RLock()

    @classmethod
    def open(cls, folder: str | os.PathLike[str], identity: str) -> Self:
        """Open the store in this folder, or create it; `identity` describes what computes its values.

        Refuses a folder with values of something else, or with anything that is not a store.
        """
        path = Path(folder)
        about = {"format": _FORMAT, "version": 1, "identity": identity}
        try:
            for part in ("objects", "tiles"):
                (path / part).mkdir(parents=True, exist_ok=True)
            if not (path / "about.json").exists():
                _write_new(path / "about.json", json.dumps(about, indent=1).encode())
            found = json.loads((path / "about.json").read_bytes())
        except (OSError, ValueError) as error:
            raise InputError(f"Kernel values cannot be kept in {str(path)!r}: {error}.") from error
        if found != about:
            raise InputError(
                f"The folder {str(path)!r} holds kernel values of something else: {str(found)[:200]}. Use another "
                "folder, or delete this one."
            )
        store = cls(path)
        store.refresh()
        return store

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens it by its path, and shares it among all users there."""
        return _opened, (str(self.folder.absolute()),)

    # ------------------------------------------------------------------------------------------------------- objects

    def __len__(self) -> int:
        """The number of objects registered."""
        return self._edges[-1]

    @property
    def n_blocks(self) -> int:
        return len(self._edges) - 1

    def refresh(self) -> None:
        """Read the objects that other processes have registered."""
        with self._lock:
            while self._read_block(self.n_blocks):
                pass

    def register(self, names: Sequence[bytes], block: int = BLOCK) -> Indices:
        """The numbers of these objects. New objects are added to the store, in blocks of at most `block`."""
        _check.integer("register", "block", block, low=1)
        if any(len(name) != NAME_BYTES for name in names):
            raise InputError(f"Names of objects in a store of kernel values have {NAME_BYTES} bytes.")
        with self._lock:
            self.refresh()
            new = [name for name in dict.fromkeys(names) if name not in self._numbers]
            while new:
                part = new[:block]
                if _write_new(self._objects_file(self.n_blocks), b"".join(part)):
                    self._add_block(part)
                else:
                    self.refresh()  # another process was faster, and may have added some of these objects
                new = [name for name in new if name not in self._numbers]
            return np.array([self._numbers[name] for name in names], dtype=np.intp)

    def _objects_file(self, block: int) -> Path:
        return self.folder / "objects" / f"{block:06d}.bin"

    def _read_block(self, block: int) -> bool:
        try:
            content = self._objects_file(block).read_bytes()
        except FileNotFoundError:
            return False
        names = [content[start : start + NAME_BYTES] for start in range(0, len(content), NAME_BYTES)]
        if (
            not names
            or len(names[-1]) != NAME_BYTES
            or len(set(names)) < len(names)
            or self._numbers.keys() & set(names)
        ):
            raise InputError(f"{str(self._objects_file(block))!r} is damaged. Delete the folder {str(self.folder)!r}.")
        self._add_block(names)
        return True

    def _add_block(self, names: list[bytes]) -> None:
        first = self._edges[-1]
        self._numbers |= {name: first + place for place, name in enumerate(names)}
        self._edges.append(first + len(names))

    # --------------------------------------------------------------------------------------------------------- tiles

    def tile(self, block: int, other: int) -> StoreTile:
        """The tile of two blocks, in either order."""
        first, second = max(block, other), min(block, other)
        return StoreTile(
            first,
            second,
            range(self._edges[first], self._edges[first + 1]),
            range(self._edges[second], self._edges[second + 1]),
        )

    def blocks_of(self, numbers: Indices) -> Indices:
        """The block of each of these objects."""
        return np.asarray(np.searchsorted(self._edges, numbers, side="right") - 1, dtype=np.intp)

    def tiles(self, numbers: Indices | None = None) -> list[StoreTile]:
        """All tiles of the blocks that contain these objects, or of all blocks."""
        chosen = range(self.n_blocks) if numbers is None else np.unique(self.blocks_of(numbers)).tolist()
        return [self.tile(block, other) for block in chosen for other in chosen if other <= block]

    def missing(self, numbers: Indices | None = None) -> list[StoreTile]:
        """Those of `tiles` with unknown values."""
        return [tile for tile in self.tiles(numbers) if not self.has(tile)]

    def has(self, tile: StoreTile) -> bool:
        """Whether all values of a tile are known."""
        return tile in self._whole or self._file(tile).exists()

    def get(self, tile: StoreTile) -> Float64:
        """The values of a tile, NaN if unknown; read-only."""
        if tile in self._whole and (kept := self._kept.get(tile)) is not None:
            return kept
        with self._lock:  # or what was read could be kept in place of what another thread writes meanwhile
            found = self._read(tile, self._file(tile))
            whole = found is not None
            if not whole:  # damaged or incomplete
                self._whole.discard(tile)
                found = self._read(tile, self._file(tile, ".part"))
            values = np.full(tile.shape, np.nan) if found is None else found
            if (kept := self._kept.get(tile)) is not None:
                values = np.where(np.isnan(values), kept, values)
            self._keep(tile, values)
            if whole:  # last: who finds it here takes what is kept
                self._whole.add(tile)
        return values

    def put(self, tile: StoreTile, values: Any) -> None:
        """Store values of a tile; NaN means unknown. Infinite values are refused."""
        given = np.array(values, dtype=np.float64)
        if given.shape != tile.shape or np.isinf(given).any():
            raise InputError(f"The values of a tile must be an array of shape {tile.shape} without infinite numbers.")
        unknown = np.isnan(given)
        with self._lock, alone(self.folder / "lock") if unknown.any() else contextlib.nullcontext():
            if unknown.any():
                given[unknown] = self.get(tile)[unknown]
            if tile.block == tile.other:
                given = np.where(np.isnan(given), given.T, given)
            whole = not np.isnan(given).any()
            content = np.ascontiguousarray(given, dtype="<f8").tobytes()
            _replace(self._file(tile, "" if whole else ".part"), hashlib.sha256(content).digest() + content)
            self._keep(tile, given)
            if whole:
                self._whole.add(tile)
                self._file(tile, ".part").unlink(missing_ok=True)

    def claimed(self, tile: StoreTile) -> contextlib.AbstractContextManager[None]:
        """Held by whoever computes a tile, so that no other thread or process does the same."""
        return claims_in(self.folder).held(tile.block * (tile.block + 1) // 2 + tile.other)

    def values(self, rows: Indices, columns: Indices) -> Float64:
        """The values between these objects, NaN if unknown."""
        out = np.empty((len(rows), len(columns)))
        above, across = self.blocks_of(rows), self.blocks_of(columns)
        for block in np.unique(above).tolist():
            here = np.flatnonzero(above == block)
            for other in np.unique(across).tolist():
                there = np.flatnonzero(across == other)
                tile = self.tile(block, other)
                values = self.get(tile)
                if block < other:
                    values = values.T
                first, second = self._edges[block], self._edges[other]
                out[np.ix_(here, there)] = values[np.ix_(rows[here] - first, columns[there] - second)]
        return out

    def diagonal(self, numbers: Indices) -> Float64:
        """The value of each object with itself, NaN if unknown."""
        found = np.empty(len(numbers))
        blocks = self.blocks_of(numbers)
        for block in np.unique(blocks).tolist():
            here = np.flatnonzero(blocks == block)
            places = numbers[here] - self._edges[block]
            found[here] = self.get(self.tile(block, block))[places, places]
        return found

    def between(self, rows: Indices, columns: Indices) -> list[StoreTile]:
        """The tiles that contain the values between these objects."""
        pairs = {
            (max(block, other), min(block, other))
            for block in np.unique(self.blocks_of(rows)).tolist()
            for other in np.unique(self.blocks_of(columns)).tolist()
        }
        return [self.tile(block, other) for block, other in sorted(pairs)]

    def put_values(self, rows: Indices, columns: Indices, values: Float64, known: Any) -> None:
        """Store the `known` values between different rows and different columns in all their tiles."""
        above, across = self.blocks_of(rows), self.blocks_of(columns)
        for tile in self.between(rows, columns):
            new = np.full(tile.shape, np.nan)
            for block, other in {(tile.block, tile.other), (tile.other, tile.block)}:
                here, there = np.flatnonzero(above == block), np.flatnonzero(across == other)
                part = np.where(known, values, np.nan)[np.ix_(here, there)]
                tall, wide = rows[here] - self._edges[block], columns[there] - self._edges[other]
                target = new if block == tile.block else new.T
                old = target[np.ix_(tall, wide)]
                target[np.ix_(tall, wide)] = np.where(np.isnan(part), old, part)
            if not np.isnan(new).all():
                self.put(tile, new)

    @property
    def exists(self) -> bool:
        """Whether the folder still exists."""
        return (self.folder / "about.json").exists()

    def _file(self, tile: StoreTile, ending: str = "") -> Path:
        return self.folder / "tiles" / f"{tile.name}{ending or '.bin'}"

    def _read(self, tile: StoreTile, file: Path) -> Float64 | None:
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return None
        digest, data = content[:_DIGEST], content[_DIGEST:]
        if len(data) != 8 * tile.shape[0] * tile.shape[1] or hashlib.sha256(data).digest() != digest:
            file.unlink(missing_ok=True)
            return None
        return np.frombuffer(data, dtype="<f8").astype(np.float64).reshape(tile.shape)

    def _keep(self, tile: StoreTile, values: Float64) -> None:
        with self._lock:
            before = self._kept.pop(tile, None)
            self._bytes += values.nbytes - (0 if before is None else before.nbytes)
            self._kept[tile] = values
            while self._bytes > _KEPT_BYTES:
                self._bytes -= self._kept.pop(next(iter(self._kept))).nbytes


def _beside(file: Path, content: bytes) -> Path:
    beside = file.with_name(f".{file.name}.{secrets.token_hex(8)}.tmp")
    beside.write_bytes(content)
    return beside


def _replace(file: Path, content: bytes) -> None:
    """Write a file atomically, replacing any existing one."""
    os.replace(_beside(file, content), file)


def _opened(folder: str) -> ValueStore:
    """The store in this folder, opened for a copy from another process."""
    with _opening:
        store = _open.get(folder)
        if store is None or not store.exists:
            if not (Path(folder) / "about.json").exists():
                raise InputError(
                    f"The folder {folder!r} of kernel values does not exist for a process on {platform.node()!r}. All "
                    "processes that compute values must see it under the same path: put it on shared storage."
                )
            store = _open[folder] = ValueStore(Path(folder))
    store.refresh()
    return store


def _write_new(file: Path, content: bytes) -> bool:
    """Write a file atomically unless it exists; returns whether it was written."""
    beside = _beside(file, content)
    try:
        os.link(beside, file)  # unlike renaming, fails if the file exists
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if file.exists():
            return False
        os.replace(beside, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    return True
