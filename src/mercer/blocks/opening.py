"""Opening sources of blocks, and checkpoints of training on them."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from mercer.blocks.folder import MANIFEST, FolderBlocks
from mercer.blocks.npy import NpyBlocks
from mercer.blocks.parquet import ParquetBlocks
from mercer.errors import DataFileError
from mercer.gram.journal import SECONDS, Journal
from mercer.inputs.blocks import ROWS, ArrayBlocks, Blocks


def of(X: Any, y: Any = None, weights: Any = None, *, rows: int = ROWS, **options: Any) -> Blocks:
    """Blocks from arrays or objects in memory, from npy files (a path each), from Parquet, or from a converted folder.

    For Parquet, `target` and `weight` name columns: ``blocks.of("flights.parquet", target="delay")``.

    >>> from mercer import blocks
    >>> blocks.of([[1.0], [2.0], [3.0]], [0, 1, 0], rows=2).sizes
    (2, 1)
    """
    if isinstance(X, Blocks):
        return X
    path = os.fspath(X) if isinstance(X, str | os.PathLike) else None
    several = isinstance(X, list | tuple) and bool(X) and all(isinstance(one, os.PathLike) for one in X)
    if several or (path is not None and _is_parquet(path)):
        return ParquetBlocks(X, rows=rows, **options)
    if path is None:
        return ArrayBlocks(X, y, weights, rows=rows)
    if os.path.exists(os.path.join(path, MANIFEST)):
        return FolderBlocks(path)
    if path.endswith(".npy"):
        return NpyBlocks(path, y, weights, rows=rows)
    raise DataFileError(
        f"{path}: this is neither npy, nor Parquet, nor a folder of blocks. Convert it once: "
        f"mercer.blocks.convert({path!r}, 'folder', target=...)."
    )


def _is_parquet(path: str) -> bool:
    if os.path.isdir(path):
        return any(name.endswith(".parquet") for name in os.listdir(path))
    return path.endswith((".parquet", ".pq"))


def checkpoint(
    folder: str | os.PathLike[str], *, seconds: float = SECONDS
) -> contextlib.AbstractContextManager[Journal]:
    """Save the state of training inside to a folder every `seconds`; the same training resumes from there.

    A run that was killed at any moment and is started again with the same data and parameters has the same result, bit
    for bit, as an uninterrupted one. The folder is removed when training has ended.
    """
    return Journal(folder, seconds=seconds).open()
