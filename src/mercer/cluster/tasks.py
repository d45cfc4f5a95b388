"""What runs on a worker.

Every task is a function of this file, so that a worker without Mercer, or with another version of it, says so instead
of computing something else. A task has one thread: the worker decides how many run at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer._version import __version__
from mercer.errors import ClusterError
from mercer.gram.executors import Threads, in_this_thread
from mercer.gram.tiles import Tile


def same(value: Any) -> Any:
    """A value as the result of a task: it has a recipe, and can be made again where a worker was lost."""
    return value


def whole(record: Any, names: Sequence[str], *parts: Any) -> Any:
    """A record with its large parts put back."""
    made = copy.copy(record)
    for name, part in zip(names, parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def call(version: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A function of values."""
    _require(version)
    with in_this_thread():
        return function(*arguments)


def stretch(version: str, task: Callable[[Any], Any], combine: Callable[[Any, Any], Any], *items: Any) -> Any:
    """The results of a task for a few neighbouring items, combined as in the tree of all items."""
    _require(version)
    with in_this_thread():
        return Threads(1).reduce(task, items, combine)


def combined(version: str, combine: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    """Two results in one; the first belongs to another task, which may be needed once more, and is left alone."""
    _require(version)
    with in_this_thread():
        return combine(copy.deepcopy(first), second)


def prepared(version: str, work: Any, item: Any) -> Any:
    """What several items share."""
    return call(version, work.prepared, item)


def fold(version: str, work: Any, item: Any, shared: Any) -> Any:
    """The work of one item."""
    return call(version, work, item, shared)


def tiles(version: str, work: Any, wanted: Sequence[Tile], dtype: Any) -> list[Any]:
    """A few tiles of a Gram matrix."""
    _require(version)
    blocks = []
    with in_this_thread():
        for tile in wanted:
            block = np.empty(tile.shape, dtype=dtype)
            work(tile, block)
            blocks.append(block)
    return blocks


def _require(version: str) -> None:
    if version != __version__:
        raise ClusterError(
            f"A worker has Mercer {__version__}, but the work comes from Mercer {version}. Install the same version "
            "everywhere, and start the workers anew."
        )
