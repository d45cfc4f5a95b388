"""A symmetric matrix of kernel values in a folder, in blocks that are there whole or not at all.

Objects are known by names (digests of what they are), and get numbers in the order in which they first came. Every
call of `register` adds its new objects as blocks of their own, which never change again: a matrix that grows computes
what is new, and nothing else. A tile is one block of objects against another, and a file::

    store = ValueStore.open(folder, "what computes the values")
    numbers = store.register(names)                     # names: bytes, one for each object
    for tile in store.missing(numbers):                 # below and on the diagonal of the blocks
        store.put(tile, values of tile.rows against tile.columns)      # anywhere, in any order, by any process
    matrix = store.values(numbers, numbers)

`rows` and `columns` of a tile are numbers of objects. Files are written beside their place and renamed, so that a
process that is killed at any moment leaves finished tiles and nothing else; a tile with a wrong checksum counts
as missing. Several processes, also of several machines that share the folder, may register, put and read at the same
time: the worst that happens is that two of them compute the same tile. Values that are not known are NaN, and `put`
never replaces a known value by NaN, so that a tile may be completed piece by piece.
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
from mercer._types import Float64, Indices
from mercer.errors import InputError

NAME_BYTES = 16
"""Of the name of an object: two of 10^9 objects share one by chance once in 10^20 times."""
BLOCK = 64
"""Objects of a block unless the caller says otherwise: at 0.1 ms a value, a tile takes half a second. Smaller tiles
lose less when a process is killed, and larger ones make fewer files."""
_KEPT_BYTES = 2**28
"""Of tiles that are kept in memory beside their files."""
_FORMAT = "mercer kernel values"
_DIGEST = hashlib.sha256().digest_size
_open: weakref.WeakValueDictionary[str, ValueStore] = weakref.WeakValueDictionary()
"""Stores that came from other processes, by their folder: what they keep in memory is kept once."""
_opening = threading.Lock()


@final
@dataclass(frozen=True)
class StoreTile:
    """A block of objects against another one or itself."""

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
    """The matrix in one folder, for one kernel. Threads may share it; copies in other processes open it by its path."""

    def __init__(self, folder: Path) -> None:
        """Use `open`."""
        self.folder = folder
        self._edges = [0]
        self._numbers: dict[bytes, int] = {}
        self._kept: dict[StoreTile, Float64] = {}
        self._bytes = 0
        self._whole: set[StoreTile] = set()
        self._lock = threading.RLock()
        self._locks: dict[StoreTile, threading.Lock] = {}

    @classmethod
    def open(cls, folder: str | os.PathLike[str], identity: str) -> Self:
        """The store in this folder, which is made if it does not exist, of the values that `identity` describes.

        A folder that holds values of something else, or anything that is no store, is refused.
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
        """In another process it is opened by its path, one for all who ask there."""
        return _opened, (str(self.folder.absolute()),)

    # ------------------------------------------------------------------------------------------------------- objects

    def __len__(self) -> int:
        """The number of objects registered."""
        return self._edges[-1]

    @property
    def n_blocks(self) -> int:
        return len(self._edges) - 1

    def refresh(self) -> None:
        """See the objects that other processes have registered."""
        with self._lock:
            while self._read_block(self.n_blocks):
                pass

    def register(self, names: Sequence[bytes], block: int = BLOCK) -> Indices:
        """The numbers of these objects. New ones are added to the store, in blocks of at most `block`."""
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
                    self.refresh()  # another process was faster: it may have brought some of these objects
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
        """All tiles of the blocks that these objects lie in, or of all blocks."""
        chosen = range(self.n_blocks) if numbers is None else np.unique(self.blocks_of(numbers)).tolist()
        return [self.tile(block, other) for block in chosen for other in chosen if other <= block]

    def missing(self, numbers: Indices | None = None) -> list[StoreTile]:
        """Those of `tiles` of which some value is not known."""
        return [tile for tile in self.tiles(numbers) if not self.has(tile)]

    def has(self, tile: StoreTile) -> bool:
        """Whether all values of a tile are known."""
        return tile in self._whole or self._file(tile).exists()

    def get(self, tile: StoreTile) -> Float64:
        """The values of a tile, NaN where they are not known; not to be written to."""
        kept = self._kept.get(tile)
        if kept is not None and tile in self._whole:
            return kept
        found = self._read(tile, self._file(tile))
        if found is None:  # damaged, or never finished
            self._whole.discard(tile)
            found = self._read(tile, self._file(tile, ".part"))
        values = np.full(tile.shape, np.nan) if found is None else found
        if kept is not None:
            values = np.where(np.isnan(values), kept, values)
        self._keep(tile, values)
        return values

    def put(self, tile: StoreTile, values: Any) -> None:
        """Keep values of a tile; NaN stands for those that are not known. Infinite ones are refused."""
        given = np.array(values, dtype=np.float64)
        if given.shape != tile.shape or np.isinf(given).any():
            raise InputError(f"The values of a tile must be an array of shape {tile.shape} without infinite numbers.")
        with self._lock:
            unknown = np.isnan(given)
            if unknown.any():
                given[unknown] = self.get(tile)[unknown]
            if tile.block == tile.other:
                given = np.where(np.isnan(given), given.T, given)
            whole = not np.isnan(given).any()
            content = np.ascontiguousarray(given, dtype="<f8").tobytes()
            _replace(self._file(tile, "" if whole else ".part"), hashlib.sha256(content).digest() + content)
            if whole:
                self._whole.add(tile)
                self._file(tile, ".part").unlink(missing_ok=True)
            self._keep(tile, given)

    def lock(self, tile: StoreTile) -> threading.Lock:
        """Held by the thread that computes a tile, so that no other one does the same."""
        with self._lock:
            return self._locks.setdefault(tile, threading.Lock())

    def values(self, rows: Indices, columns: Indices) -> Float64:
        """The values between these objects, NaN where they are not known."""
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
        """The value of each object with itself, NaN where it is not known."""
        found = np.empty(len(numbers))
        blocks = self.blocks_of(numbers)
        for block in np.unique(blocks).tolist():
            here = np.flatnonzero(blocks == block)
            places = numbers[here] - self._edges[block]
            found[here] = self.get(self.tile(block, block))[places, places]
        return found

    def between(self, rows: Indices, columns: Indices) -> list[StoreTile]:
        """The tiles in which the values between these objects lie."""
        pairs = {
            (max(block, other), min(block, other))
            for block in np.unique(self.blocks_of(rows)).tolist()
            for other in np.unique(self.blocks_of(columns)).tolist()
        }
        return [self.tile(block, other) for block, other in sorted(pairs)]

    def put_values(self, rows: Indices, columns: Indices, values: Float64, known: Any) -> None:
        """Keep the values between different rows and different columns, where `known`, in all tiles they lie in."""
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
        """Whether the folder is still there."""
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
        if file.suffix == ".bin":
            self._whole.add(tile)
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
    """Write a file whole or not at all, over one that may be there."""
    os.replace(_beside(file, content), file)


def _opened(folder: str) -> ValueStore:
    """The store that another process has in this folder."""
    with _opening:
        store = _open.get(folder)
        if store is None or not store.exists:
            if not (Path(folder) / "about.json").exists():
                raise InputError(
                    f"The folder {folder!r} of kernel values is not there for a process on {platform.node()!r}. All "
                    "processes that compute values must see it under the same name: put it on storage that they share."
                )
            store = _open[folder] = ValueStore(Path(folder))
    store.refresh()
    return store


def _write_new(file: Path, content: bytes) -> bool:
    """Write a file whole or not at all, unless it is there already; whether it was written."""
    beside = _beside(file, content)
    try:
        os.link(beside, file)  # unlike renaming, fails where the file exists
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
