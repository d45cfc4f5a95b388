"""What runs on a worker.

Every task is a function of this file, so that a worker without Mercer, or with another version of it, says so instead
of computing something else. A task uses one thread: the worker decides how many tasks run at a time.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mercer._version import __version__
from mercer.cluster import arrival, memory
from mercer.cluster.partitions import supplied
from mercer.errors import ClusterError
from mercer.gram.executors import Threads, in_this_thread
from mercer.gram.tiles import Tile

_SECONDS_BETWEEN_LOOKS = 0.25
"""How long a cancelled task goes on at most, beside what it is in the middle of."""


def same(value: Any) -> Any:
    """A value as the result of a task, which Dask can make again if the worker that has it is lost."""
    return value


def whole(record: Any, names: Sequence[str], *parts: Any) -> Any:
    """A record with its large parts put back."""
    made = copy.copy(record)
    for name, part in zip(names, parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def opened(version: str, content: bytes) -> Any:
    """A value that was sent as bytes."""
    protocol: Any = importlib.import_module("distributed.protocol")  # has no types
    _require(version)
    return protocol.deserialize_bytes(content)


def call(version: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A function of values."""
    _require(version)
    with alone():
        return function(*arguments)


def stretch(
    version: str, task: Any, combine: Any, items: Sequence[Any], names: Sequence[tuple[str, int]], *partitions: Any
) -> Any:
    """The results of a task for a few neighbouring items, combined as in the tree of all items.

    Blocks are read from the partitions that come with the task, if there are any.
    """
    _require(version)
    task, (items, _) = arrival.shared(task), arrival.arrived(items)
    with wanted() as stop, alone(), supplied(dict(zip(names, partitions, strict=True))):

        def unless_cancelled(item: Any) -> Any:
            if stop.is_set():
                raise ClusterError("This task was cancelled.")
            return task(item)

        return Threads(1).reduce(unless_cancelled, items, combine)


def combined(version: str, combine: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    """Two results combined. The first is copied: it is the result of another task, and may be needed again."""
    _require(version)
    with alone():
        return combine(copy.deepcopy(first), arrival.arrived(second)[0])


def cut(
    version: str, objects: Any, number: int, bundles: Any, names: Sequence[tuple[str, int]], *partitions: Any
) -> list[Any]:
    """The objects of a block, by bundle: `bundles` has the number of the bundle of each object, -1 for none."""
    _require(version)
    objects = arrival.shared(objects)
    with alone(), supplied(dict(zip(names, partitions, strict=True))):
        block = objects.block(number)
        return [block.take(np.flatnonzero(bundles == bundle)) for bundle in range(bundles.max() + 1)]


def part(version: str, parts: Sequence[Any], place: int) -> Any:
    """One of several results of a task."""
    _require(version)
    return parts[place]


def joined(version: str, *parts: Any) -> Any:
    """Objects of one kind that come from several blocks."""
    _require(version)
    found = [arrival.arrived(part)[0] for part in parts]
    return found[0] if len(found) == 1 else type(found[0]).joined(found)


def of_group(version: str, task: Any, bundle: Any, places: Any, rest: Any) -> Any:
    """A task on the objects at some places of a bundle (all if `places` is None), with what else it takes."""
    chosen = arrival.arrived(bundle)[0] if places is None else arrival.shared(bundle).take(places)
    return call(version, arrival.shared(task), chosen, arrival.arrived(rest)[0])


def prepared(version: str, work: Any, item: Any) -> Any:
    """What several items share."""
    return call(version, arrival.shared(work).prepared, arrival.arrived(item)[0])


def fold(version: str, work: Any, item: Any, prepared: Any) -> Any:
    """The work of one item."""
    with wanted() as stop:
        return call(version, arrival.shared(work), arrival.arrived(item)[0], arrival.shared(prepared), stop)


def tiles(version: str, work: Any, chosen: Sequence[Tile], dtype: Any) -> list[Any]:
    """A few tiles of a Gram matrix."""
    _require(version)
    blocks: list[Any] = []
    work = arrival.shared(work)
    with wanted() as stop, alone():
        for tile in chosen:
            if stop.is_set():
                break
            blocks.append(np.empty(tile.shape, dtype=dtype))
            work(tile, blocks[-1])
    return blocks


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """The work of one task: in one thread, with memory that it uses again."""
    with in_this_thread(), memory.kept():
        yield


@contextlib.contextmanager
def wanted() -> Iterator[threading.Event]:
    """An event that is set when the task is cancelled: Dask leaves a task that has begun to itself."""
    from distributed import get_worker

    worker, stop, over = get_worker(), threading.Event(), threading.Event()
    key = worker.get_current_task()

    def look() -> None:
        while not over.wait(_SECONDS_BETWEEN_LOOKS):
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                stop.set()
                return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield stop
    finally:
        over.set()
        watcher.join()


def _require(version: str) -> None:
    if version != __version__:
        raise ClusterError(
            f"A worker has Mercer {__version__}, but the work comes from Mercer {version}. Install the same version "
            "everywhere, and restart the workers."
        )
