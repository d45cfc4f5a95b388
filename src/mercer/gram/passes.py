"""One pass over rows that are read from blocks: what a task adds up over all rows, and what it keeps for each.

A **task** is a function of a piece of rows, and of what belongs to them (targets, coefficients), that returns two
tuples of arrays: sums, which are added up over all rows, and what is kept, which is concatenated: one line per row, or
per piece. The pieces of a block are added in order where the block is, and blocks over the fixed tree of `reduce`, by
whichever worker has them. So a pass gives the same bits on threads, processes and clusters, and after a resumed run.
Tasks are frozen dataclasses that can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Floating, Index
from mercer.inputs.streamed import Streamed

Found = tuple[tuple[Any, ...], tuple[Any, ...]]
"""Sums, and what is kept for each row."""
Task = Callable[..., Found]


@final
@dataclass(frozen=True, eq=False)
class Item:
    """A block by its number, which of its objects are used, and what belongs to these."""

    number: int
    places: Index
    values: tuple[Any, ...]

    @property
    def whole(self) -> bool:
        """Whether all objects of the block are used."""
        return isinstance(self.places, slice)


@final
class RowCache:
    """The rows of the first blocks, as many as fit, computed once. Copies in other processes are empty."""

    def __init__(self, room: int = 0) -> None:
        self._room = room
        self._rows: dict[int, Floating] = {}

    def __reduce__(self) -> tuple[type[RowCache], tuple[()]]:
        return RowCache, ()

    def get(self, number: int) -> Floating | None:
        """The rows of a block, if they were kept."""
        return self._rows.get(number)

    def wants(self, size: int) -> bool:
        """Whether rows of this many bytes would fit."""
        return size <= self._room

    def keep(self, number: int, rows: Floating) -> None:
        """Keep the rows of a block. Each thread may exceed the limit by at most one block."""
        self._room -= rows.nbytes
        self._rows[number] = rows


@final
@dataclass(frozen=True, eq=False)
class Visit:
    """A task for one block: reads it, writes the features of its objects, and goes through them in pieces."""

    objects: Streamed
    write: Callable[[Any], Floating]
    step: int
    task: Task
    cache: RowCache

    def __call__(self, item: Item) -> Found:
        sums: tuple[Any, ...] = ()
        kept: list[tuple[Any, ...]] = []
        for start, rows in self._pieces(item):
            own = (part_of(values, slice(start, start + len(rows))) for values in item.values)
            found, lines = self.task(rows, *own)
            sums = _added(sums, found) if sums else found
            kept.append(lines)
        return sums, tuple(map(np.concatenate, zip(*kept, strict=True)))

    def _pieces(self, item: Item) -> Iterator[tuple[int, Floating]]:
        """The rows of `step` objects at a time, with the position of the first."""
        known = self.cache.get(item.number) if item.whole else None
        if known is not None:
            yield from ((start, known[start : start + self.step]) for start in range(0, len(known), self.step))
            return
        part = self.objects.block(item.number).take(item.places)
        kept: Floating | None = None
        for start in range(0, len(part), self.step):
            rows = self.write(part.take(slice(start, start + self.step)))
            size = len(part) * rows.shape[1]
            if not start and item.whole and self.cache.wants(size * rows.itemsize):
                kept = np.empty((len(part), rows.shape[1]), dtype=rows.dtype)
            if kept is not None:
                kept[start : start + len(rows)] = rows
            yield start, rows
        if kept is not None:
            self.cache.keep(item.number, kept)


def part_of(values: Any, part: slice) -> Any:
    """What belongs to some rows: a part of an array, or of anything that has a method `part`."""
    return values.part(part) if hasattr(values, "part") else None if values is None else values[part]


def together(first: list[Found], second: list[Found]) -> list[Found]:
    """The combined results of neighbours: sums are added up; what is kept stays separate until the end."""
    (sums, kept), (others, more) = first[0], second[0]
    return [(_added(sums, others), kept), *first[1:], ((), more), *second[1:]]


def _added(sums: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
    for total, other in zip(sums, others, strict=True):
        total += other
    return tuple(sums)


@final
@dataclass(frozen=True, eq=False)
class Alone:
    """A visit as the result of a leaf of the tree."""

    visit: Visit

    def __call__(self, item: Item) -> list[Found]:
        return [self.visit(item)]


def collected(found: list[Found]) -> Found:
    """Sums over all blocks, and what was kept, end to end."""
    return found[0][0], tuple(map(np.concatenate, zip(*(kept for _, kept in found), strict=True)))


# ------------------------------------------------------------------------------------------------------ common tasks


@final
@dataclass(frozen=True, eq=False)
class Outputs:
    """X w."""

    weights: Float64

    def __call__(self, rows: Floating) -> Found:
        return (), (rows.astype(np.float64) @ self.weights,)


@final
@dataclass(frozen=True, eq=False)
class Combination:
    """X'b."""

    def __call__(self, rows: Floating, b: Float64) -> Found:
        return (np.asarray(rows.astype(np.float64).T @ b),), ()


@final
@dataclass(frozen=True, eq=False)
class SquaredLengths:
    """|x|^2 of each row, once a fold has been undone."""

    fold: Any = None

    def __call__(self, rows: Floating) -> Found:
        rows = rows if self.fold is None else self.fold.rows(np.array(rows))
        return (), (np.einsum("ij,ij->i", rows, rows, dtype=np.float64),)
