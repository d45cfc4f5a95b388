"""The workers of a cluster as an executor: tiles of Gram matrices, and sums over blocks.

What workers sum is summed over the binary tree of places that `Threads.reduce` goes by: the same bits come out, for any
number of workers, and when some of them die on the way. How much of the tree a task does follows the number of threads;
the tree itself does not.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, TypeVar, cast, final

import numpy as np

from mercer import _deadline
from mercer._progress import Reporter
from mercer._types import Indices
from mercer.cluster import leaves, tasks
from mercer.cluster.bundles import Bundles
from mercer.cluster.leaves import PER_THREAD
from mercer.cluster.partitions import Name, needed
from mercer.cluster.session import Session
from mercer.gram.executors import Sink, Work
from mercer.gram.tiles import Strip, Tile
from mercer.gram.tree import TOP, Waiting, climb
from mercer.inputs.streamed import Streamed

Item = TypeVar("Item")
Result = TypeVar("Result")
Method = TypeVar("Method", bound=Callable[..., Any])

_PARTS = 2
"""Parts of a sum under way at a time: with only one, workers would be idle while its result is fetched and stored."""


def _in_words(method: Method) -> Method:
    """A method of `Workers`, a generator or not, whose errors say what happened to the cluster."""

    @functools.wraps(method)
    def speaking(self: Workers, *given: Any, **options: Any) -> Any:
        with self.session.speaking():
            self.session.require_workers()
            return method(self, *given, **options)

    @functools.wraps(method)
    def streaming(self: Workers, *given: Any, **options: Any) -> Any:
        with self.session.speaking():
            self.session.require_workers()
            yield from method(self, *given, **options)

    return cast(Method, streaming if inspect.isgeneratorfunction(method) else speaking)


@final
@dataclass(frozen=True, eq=False)
class Workers:
    """An executor like `mercer.gram.executors.Threads`, for work that can be pickled."""

    session: Session

    @property
    def count(self) -> int:
        """How many items are worth handing out at a time: more than there are threads, so that few of them are idle."""
        return PER_THREAD * self.session.threads

    @_in_words
    def map(self, work: Work, strips: Sequence[Strip], sink: Sink, report: Reporter | None = None) -> None:
        """Run the work of every strip; tiles come back here, and go to the sink in the order of their strip."""
        session = self.session
        total = sum(tile.entries for strip in strips for tile in strip)
        timed = _deadline.Work(f"{total:,} kernel values", total)
        most = PER_THREAD * session.threads
        parts = [(number, part) for number, strip in enumerate(strips) for part in _cut(strip, total // most)]
        sorter = _InOrder(parts, sink)
        dtype = sink.buffer(strips[0][0]).dtype
        done = 0

        def send(place: int) -> Any:
            return session.submit(tasks.tiles, session.hold(work), parts[place][1], np.dtype(dtype))

        def watch() -> None:
            timed.look()
            if report is not None:
                report(done / total)

        for place, blocks in session.each(range(len(parts)), send, watch, most):
            sorter.arrived(place, blocks)
            entries = sum(tile.entries for tile in parts[place][1])
            done += entries
            timed.advance(entries)

    def reduce(
        self, task: Callable[[Item], Result], items: Sequence[Item], combine: Callable[[Result, Result], Result]
    ) -> Result:
        """Combine the results of a task for each item, over a fixed binary tree of their places."""
        (found,) = self.stretches(task, [items], combine)
        return found

    @_in_words
    def stretches(
        self,
        task: Callable[[Item], Result],
        parts: Sequence[Sequence[Item]],
        combine: Callable[[Result, Result], Result],
    ) -> Iterator[Result]:
        """What `reduce` gives for each part, in order; while one is fetched, workers compute the next."""
        session = self.session
        timed = _deadline.Work("sums over blocks", len(parts))
        early: dict[int, Result] = {}
        following = 0

        def send(place: int) -> Any:
            last = place == len(parts) - 1
            return self._sum(task, (session.hold(task), session.hold(combine)), parts[place], last=last)

        for place, found in session.each(range(len(parts)), send, timed.look, _PARTS):
            early[place] = found
            while following in early:
                yield early.pop(following)
                following += 1

    @_in_words
    def gather(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The results of a task for each item, in order."""
        session = self.session
        found: dict[int, Any] = {}

        def send(place: int) -> Any:
            return session.compute(self._leaf(task, (session.hold(task), None), items[place : place + 1]))

        found.update(session.each(range(len(items)), send, _nothing, PER_THREAD * session.threads))
        return [found[place] for place in range(len(items))]

    @_in_words
    def over_groups(
        self, task: Callable[[Any, Any], Result], objects: Any, groups: Sequence[Indices], rest: Sequence[Any]
    ) -> list[Result | None]:
        """What ``task(objects of a group, rest of it)`` gives for each group, in order; None where the rest is None.

        Objects in blocks go from worker to worker; those that are here are sent, some groups at a time.
        """
        session = self.session
        chosen = [place for place, given in enumerate(rest) if given is not None]
        bundles = Bundles(session, objects, groups, chosen) if isinstance(objects, Streamed) else None
        found: dict[int, Any] = {}

        def send(place: int) -> Any:
            held = session.hold(task)
            if bundles is None:
                return session.submit(tasks.of_group, held, objects.take(groups[place]), None, rest[place])
            return session.submit(tasks.of_group, held, *bundles.of(place), rest[place])

        for place, result in session.each(chosen, send, _nothing, PER_THREAD * session.threads):
            found[place] = result
            if bundles is not None:
                bundles.done(place)
        return [found.get(place) for place in range(len(rest))]

    @_in_words
    def results(
        self,
        work: Any,
        items: Sequence[Item],
        shared: Sequence[Any],
        *,
        watch: Callable[[], None],
        more: Callable[[], bool] = lambda: True,
        at_once: int | None = None,
        keep: bool = False,
    ) -> Iterator[tuple[int, Any]]:
        """The places of items and what ``work(item, prepared, stop)`` gives, as they come.

        No item is sent any more once ``more()`` is false. What items share is let go when the last of them is done,
        unless it is to be kept for the next call.
        """
        session = self.session
        left = Counter(shared)

        def send(place: int) -> Any:
            held = session.hold(work)
            if shared[place] is None:
                return session.submit(tasks.fold, held, items[place], None)
            prepared = session.held.derived(
                held, shared[place], lambda: session.submit(tasks.prepared, held, items[place], priority=1)
            )
            return session.submit(tasks.fold, held, items[place], prepared)

        most = PER_THREAD * session.threads
        places = itertools.takewhile(lambda place: more(), range(len(items)))
        for place, found in session.each(places, send, watch, min(most, at_once or most)):
            left[shared[place]] -= 1
            if shared[place] is not None and not left[shared[place]] and not keep:
                session.held.forget(session.hold(work), shared[place])
            yield place, found

    def _sum(self, task: Any, held: tuple[Any, Any], items: Sequence[Any], *, last: bool) -> Any:
        """The future of the sum over items. Neighbours share a task, except lazy partitions: all would be in memory.

        Dask does what was sent first first, but decides on the order within what is sent at a time. So branches of each
        length are sent separately, the longest first.
        """
        session, end = self.session, len(items) - 1
        alone = bool(_partitions(task, items[0]))
        lengths = [1] * len(items) if alone else leaves.branches(len(items), session.threads, last=last)
        waiting: Waiting[Any] = {}
        sent: list[Any] = []
        first = 0

        def both(one: Any, other: Any) -> Any:
            return session.lazily(tasks.combined, held[1], one, other)

        for length, run in itertools.groupby(lengths):
            level = length.bit_length() - 1
            for _ in run:
                leaf = self._leaf(task, held, items[first : first + length])
                climb(waiting, first >> level, leaf, end, both, level=level)
                first += length
            lazy = [place for place, node in waiting.items() if hasattr(node, "__dask_graph__")]
            futures = session.compute_all([waiting[place] for place in lazy])
            waiting.update(zip(lazy, futures, strict=True))
            sent += futures
        total = waiting[TOP]
        session.lineage.add_own(total, [future for future in sent if future is not total])
        return total

    def _leaf(self, task: Any, held: tuple[Any, Any], items: Sequence[Any]) -> Any:
        read = {name: part for item in items for name, part in _partitions(task, item).items()}
        return self.session.lazily(tasks.stretch, *held, tuple(items), tuple(read), *read.values())

    def __reduce__(self) -> tuple[Any, ...]:
        """Blocks that are sent to a worker have no cluster there."""
        return _nobody, ()


def _nobody() -> None:
    return None


def _nothing() -> None:
    pass


def _partitions(task: Any, item: Any) -> dict[Name, Any]:
    """The lazy partitions that a task over blocks reads for an item, by source and number."""
    objects = streamed_in(task)
    return {} if objects is None else needed(objects, item if isinstance(item, int) else item.number)


def streamed_in(task: Any) -> Streamed | None:
    """The objects in blocks that a task works on: itself, or a part of the record or method that it is."""
    if isinstance(task, Streamed):
        return task
    if isinstance(task, MethodType):
        return streamed_in(task.__self__)
    if dataclasses.is_dataclass(task) and not isinstance(task, type):
        parts = (streamed_in(getattr(task, field.name)) for field in dataclasses.fields(task))
        return next((part for part in parts if part is not None), None)
    return None


def _cut(strip: Strip, entries: int) -> Iterator[tuple[Tile, ...]]:
    """The tiles of a strip in parts of about so many entries."""
    part: list[Tile] = []
    for tile in strip:
        part.append(tile)
        if sum(one.entries for one in part) >= entries:
            yield tuple(part)
            part = []
    if part:
        yield tuple(part)


@final
class _InOrder:
    """Hands the tiles of a strip to a sink in their order, in whichever order they come."""

    def __init__(self, parts: Sequence[tuple[int, tuple[Tile, ...]]], sink: Sink) -> None:
        self._parts, self._sink = parts, sink
        self._waiting: dict[int, list[Any]] = {}
        self._next = {strip: place for place, (strip, _) in reversed(list(enumerate(parts)))}

    def arrived(self, place: int, blocks: list[Any]) -> None:
        strip = self._parts[place][0]
        self._waiting[place] = blocks
        while self._next[strip] in self._waiting:
            following = self._next[strip]
            for tile, block in zip(self._parts[following][1], self._waiting.pop(following), strict=True):
                buffer = self._sink.buffer(tile)
                buffer[...] = block
                self._sink.accept(tile, buffer)
            self._next[strip] += 1
