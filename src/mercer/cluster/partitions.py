"""Partitions of lazy data as blocks: they stay on the workers, and Dask passes each to the task that reads it."""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

from mercer._cached import cached_property
from mercer.cluster.arrival import arrived
from mercer.errors import InputError
from mercer.inputs.blocks import Block, Blocks, content_of

Name = tuple[str, int]
"""The name of a source, and the number of a block."""
_supplied: contextvars.ContextVar[Mapping[Name, Any] | None] = contextvars.ContextVar("mercer_supplied", default=None)
"""On a worker: the partitions that came with a task."""


@contextlib.contextmanager
def supplied(partitions: Mapping[Name, Any]) -> Iterator[None]:
    """Blocks that are read inside are these partitions."""
    token = _supplied.set(partitions)
    try:
        yield
    finally:
        _supplied.reset(token)


@final
class LazyBlocks(Blocks):
    """The partitions of a collection that have any objects."""

    executor: Any = None

    def __init__(self, name: str, partitions: Sequence[Any], sizes: Sequence[int], columns: Any = None) -> None:
        filled = [number for number, size in enumerate(sizes) if size]
        if not filled:
            raise InputError("Found 0 objects while a minimum of 1 is required.")
        self.name = name
        self._partitions: list[Any] | None = [partitions[number] for number in filled]
        self._sizes = tuple(int(sizes[number]) for number in filled)
        self._columns = None if columns is None else tuple(map(str, columns))

    @property
    def sizes(self) -> tuple[int, ...]:
        return self._sizes

    @property
    def names(self) -> tuple[str, ...] | None:
        return self._columns

    @cached_property
    def y(self) -> None:
        """None: targets and weights of lazy objects are collections of their own, and no block is read for them."""

    @cached_property
    def weights(self) -> None:
        """None, too."""

    @property
    def partitions(self) -> list[Any]:
        """The lazy values of all blocks."""
        assert self._partitions is not None, "known to the process that made the plan"
        return self._partitions

    def read(self, number: int) -> Block:
        found = (_supplied.get() or {}).get((self.name, number))
        if found is None:
            return Block(listed(self._computed([self.partitions[number]])[0]))
        return Block(arrived(listed(found))[0])

    @cached_property
    def digest(self) -> str:
        from dask.delayed import delayed

        digest = hashlib.sha256(str(self._sizes).encode())
        for content in self._computed([delayed(content_digest)(part) for part in self.partitions]):
            digest.update(content)
        return digest.hexdigest()

    def _computed(self, values: Sequence[Any]) -> list[Any]:
        return computed(values, None if self.executor is None else self.executor.session)

    def __getstate__(self) -> dict[str, Any]:
        """Without partitions, which come with each task."""
        return super().__getstate__() | {"_partitions": None, "executor": None}


def needed(objects: Any, number: int) -> dict[Name, Any]:
    """The lazy partitions that objects in blocks read for one of them, by source and number; none for files."""
    source, own = objects.blocks.underlying(number)
    return {(source.name, own): source.partitions[own]} if isinstance(source, LazyBlocks) else {}


def computed(values: Sequence[Any], session: Any) -> list[Any]:
    """Lazy values, computed by the workers of a session, or in this thread if there is none."""
    if session is None:
        from dask.base import compute

        return list(compute(*values, scheduler="synchronous"))  # type: ignore[no-untyped-call]
    found: list[Any] = session.all_of(values)
    return found


def content_digest(partition: Any) -> bytes:
    """A digest of what a partition holds."""
    part = listed(partition)
    return hashlib.sha256(content_of(part.to_numpy() if hasattr(part, "to_numpy") else part)).digest()


def listed(partition: Any) -> Any:
    """A partition as kernels take it; those of bags may be iterators."""
    return list(partition) if not hasattr(partition, "shape") and not isinstance(partition, list) else partition


def length(partition: Any) -> int:
    """The number of objects of a partition."""
    return len(partition) if hasattr(partition, "__len__") else sum(1 for _ in partition)
