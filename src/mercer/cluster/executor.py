"""The workers of a cluster as an executor: tiles of Gram matrices, and sums over blocks.

What workers sum is summed over the binary tree of places that `Threads.reduce` goes by: the same bits come out, for any
number of workers, and when some of them die on the way. How much of the tree a task does, and how many tasks are sent
at a time, follows the number of threads and the time that they take; the tree itself does not.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np

from mercer import _deadline
from mercer._progress import Reporter
from mercer.cluster import tasks
from mercer.cluster.session import Session
from mercer.gram.executors import Sink, Work
from mercer.gram.tiles import Strip, Tile

Item = TypeVar("Item")
Result = TypeVar("Result")

_PER_THREAD = 4
"""Tasks for each thread of the cluster at a time. With fewer, threads wait for the last one; more only lengthen queues,
all of which Dask holds against the tasks in them when a worker dies."""
_SECONDS = 5.0
"""About how long the tasks that are sent at a time take, once that is known: shorter would spend more of the time on
handing out, longer would lose more with a scheduler, whose results are here every so many seconds."""


@final
@dataclass(frozen=True, eq=False)
class Workers:
    """An executor like `mercer.gram.executors.Threads`, for work that can be pickled."""

    session: Session

    def map(self, work: Work, strips: Sequence[Strip], sink: Sink, report: Reporter | None = None) -> None:
        """Run the work of every strip; tiles come back here, and go to the sink in the order of their strip."""
        session = self.session
        session.require_workers()
        total = sum(tile.entries for strip in strips for tile in strip)
        timed = _deadline.Work(f"{total:,} kernel values", total)
        most = _PER_THREAD * session.threads
        parts = [(number, part) for number, strip in enumerate(strips) for part in _cut(strip, total // most)]
        held, sorter = session.hold(work), _InOrder(parts, sink)
        dtype = sink.buffer(strips[0][0]).dtype
        done = 0

        def send(place: int) -> Any:
            return session.submit(tasks.tiles, held, parts[place][1], np.dtype(dtype))

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
        session = self.session
        session.require_workers()
        held, joining = session.hold(task), session.hold(combine)
        timed = _deadline.Work(f"{len(items):,} blocks", len(items))
        parts = _Parts(len(items), _power_of_two(_PER_THREAD * session.threads))

        def send(part: range) -> Any:
            return self._tree(held, joining, items[part.start : part.stop], part)

        done = _Done(combine)
        for part, found in session.each(parts, send, timed.look, 2):
            parts.arrived()
            done.add(part, found)
            timed.advance(len(part))
        return done.whole()

    def results(
        self,
        work: Any,
        items: Sequence[Item],
        shared: Sequence[Any],
        *,
        watch: Callable[[], None],
        at_once: int | None = None,
        keep: bool = False,
    ) -> Iterator[tuple[int, Any]]:
        """The places of items and what ``work(item, prepared)`` gives, as they come.

        What items share is let go when the last of them is done, unless it is to be kept for the next call.
        """
        session = self.session
        session.require_workers()
        held, left = session.hold(work), Counter(shared)

        def send(place: int) -> Any:
            if shared[place] is None:
                return session.submit(tasks.fold, held, items[place], None)
            prepared = session.held.derived(
                held, shared[place], lambda: session.submit(tasks.prepared, held, items[place], priority=1)
            )
            return session.submit(tasks.fold, held, items[place], prepared)

        most = _PER_THREAD * session.threads
        for place, found in session.each(range(len(items)), send, watch, min(most, at_once or most)):
            left[shared[place]] -= 1
            if shared[place] is not None and not left[shared[place]] and not keep:
                session.held.forget(held, shared[place])
            yield place, found

    def _tree(self, held: Any, joining: Any, items: Sequence[Any], part: range) -> Any:
        """The future of the sum over a part: neighbours in one task as far as there are threads for all tasks."""
        length = max(1, _power_of_two(len(part)) // _power_of_two(_PER_THREAD * self.session.threads))
        level = [
            self.session.submit(tasks.stretch, held, joining, *items[start : start + length])
            for start in range(0, len(items), length)
        ]
        height = 0
        while len(level) > 1:
            height += 1  # sums first: they free the memory of two results
            pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
            level = [
                self.session.submit(tasks.combined, joining, *pair, priority=height) if len(pair) == 2 else pair[0]
                for pair in pairs
            ]
        return level[0]


def _power_of_two(least: int) -> int:
    """The smallest that is not below."""
    return 1 << max(0, least - 1).bit_length()


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


@final
class _Parts:
    """Parts of a tree, one after another: as large as may be done in some seconds, and each a whole branch."""

    def __init__(self, items: int, first: int) -> None:
        self._items, self._length = items, first
        self._position, self._last = 0, time.monotonic()

    def arrived(self) -> None:
        """A part is done: the next ones may be larger if that was soon."""
        now = time.monotonic()
        if now - self._last < 0.5 * _SECONDS:
            self._length *= 2
        self._last = now

    def __iter__(self) -> Iterator[range]:
        while self._position < self._items:
            length = self._length
            while self._position % length:
                length //= 2
            stop = min(self._position + length, self._items)
            yield range(self._position, stop)
            self._position = stop


@final
class _Done:
    """Branches of the tree that are done, combined as soon as they are neighbours."""

    def __init__(self, combine: Callable[[Any, Any], Any]) -> None:
        self._combine = combine
        self._early: dict[int, tuple[range, Any]] = {}
        self._branches: list[tuple[range, Any]] = []

    def add(self, part: range, found: Any) -> None:
        """A part, in any order."""
        self._early[part.start] = (part, found)
        following = self._branches[-1][0].stop if self._branches else 0
        while following in self._early:
            branch, value = self._early.pop(following)
            following = branch.stop
            while self._branches and len(self._branches[-1][0]) == len(branch):
                before, other = self._branches.pop()
                branch, value = range(before.start, branch.stop), self._combine(other, value)
            self._branches.append((branch, value))

    def whole(self) -> Any:
        """The sum over all parts."""
        _, value = self._branches.pop()
        while self._branches:
            value = self._combine(self._branches.pop()[1], value)
        return value
