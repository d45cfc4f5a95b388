"""A model of one pass over blocks on many workers: the tree of sums, played through event by event.

Each worker has one thread, and a link over which it receives one sum at a time. Blocks are handed out in order, to
whoever is free. Two neighbouring sums are added by the worker that had the second of them, once the first has come over
and the block in hand is done. The scheduler needs a moment for every task, and serves one at a time. At the end the sum
goes to the client.

Left out: storage, workers that are slower than others, links that several share, and that a pass over many blocks is
sent in stretches, each of which overlaps with the next.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, replace

# isort: split
from mercer.cluster.leaves import PER_THREAD, branches
from mercer.gram.journal import stretch_length


@dataclass(frozen=True)
class Costs:
    """Seconds."""

    block: float
    """Of a worker, for a block."""
    add: float
    """Of a worker, for the addition of two sums."""
    task: float
    """Of the scheduler, for a task."""
    move: float
    """For a sum, from one worker to another."""


@dataclass(frozen=True)
class Played:
    """What a pass took."""

    seconds: float
    blocks_done: float
    """When the last block was done: what comes after is the reduction."""
    tasks: int
    moves: int

    @property
    def reduction(self) -> float:
        return self.seconds - self.blocks_done


def tasks_of(blocks: int, workers: int) -> list[int]:
    """The numbers of neighbouring blocks in each task, for blocks that are read from files."""
    size = stretch_length(PER_THREAD * workers)
    found: list[int] = []
    for first in range(0, blocks, size):
        found += branches(min(size, blocks - first), workers, last=first + size >= blocks)
    return found


def played(blocks: int, workers: int, costs: Costs) -> Played:
    """Play a pass through."""
    return _Pass(blocks, workers, costs).run()


class _Pass:
    def __init__(self, blocks: int, workers: int, costs: Costs) -> None:
        self._costs = costs
        self._last = blocks - 1
        lengths = tasks_of(blocks, workers)
        self._leaves = list(zip(itertools.accumulate(lengths[:-1], initial=0), lengths, strict=True))
        """First block and number of blocks."""
        self._handed_out = 0
        self._idle = set(range(workers))
        self._addable: list[list[tuple[int, int]]] = [[] for _ in range(workers)]
        """By worker: sums both of whose parts are there, by level and place."""
        self._link = [0.0] * workers
        self._scheduler = 0.0
        self._waiting: dict[tuple[int, int], int] = {}
        """Sums without their neighbours, and who has them."""
        self._events: list[tuple[float, int, str, int, tuple[int, int]]] = []
        self._order = itertools.count()
        self._blocks_done = 0.0
        self._moves = self._tasks = 0

    def run(self) -> Played:
        for worker in sorted(self._idle):
            self._begin(worker, 0.0)
        while True:
            now, _, what, worker, place = heapq.heappop(self._events)
            if what == "arrived":
                heapq.heappush(self._addable[worker], place)
                if worker in self._idle:
                    self._begin(worker, now)
                continue
            if what == "read":
                self._blocks_done = now
            if self._done(worker, place, now):
                return Played(now + self._costs.move, self._blocks_done, self._tasks, self._moves + 1)

    def _begin(self, worker: int, now: float) -> None:
        """The next task of a worker that is free: an addition, or else a block."""
        self._idle.discard(worker)
        if self._addable[worker]:
            self._later(now + self._costs.add, "done", worker, heapq.heappop(self._addable[worker]))
        elif self._handed_out < len(self._leaves):
            first, length = self._leaves[self._handed_out]
            self._handed_out += 1
            seconds = length * self._costs.block + (length - 1) * self._costs.add
            level = length.bit_length() - 1
            self._later(self._scheduled(now) + seconds, "read", worker, (level, first >> level))
        else:
            self._idle.add(worker)

    def _done(self, worker: int, place: tuple[int, int], now: float) -> bool:
        """A sum is there: it waits for its neighbour, or is added to it; whether it was the last."""
        level, number = place
        last = self._last
        while last >> level and number ^ 1 > last >> level:  # without a neighbour
            level, number = level + 1, number >> 1
        if not last >> level:
            return True
        other = self._waiting.pop((level, number ^ 1), None)
        if other is None:
            self._waiting[level, number] = worker
        else:
            arrived = self._scheduled(now)
            if other != worker:
                self._moves += 1
                arrived = self._link[worker] = max(self._link[worker], arrived) + self._costs.move
            self._later(arrived, "arrived", worker, (level + 1, number >> 1))
        self._begin(worker, now)
        return False

    def _scheduled(self, now: float) -> float:
        self._tasks += 1
        self._scheduler = max(self._scheduler, now) + self._costs.task
        return self._scheduler

    def _later(self, when: float, what: str, worker: int, place: tuple[int, int]) -> None:
        heapq.heappush(self._events, (when, next(self._order), what, worker, place))


def where_the_reduction_is_the_limit(seconds: float, costs: Costs) -> int:
    """Workers, a power of two, from which on transfers and additions take longer than blocks.

    `seconds` are those of all blocks on one worker; each worker has one block, as large as its share: with smaller ones
    there would be more sums. The time of the scheduler is left out, which would hide that of the tree.
    """
    workers = 2
    while workers < 2**20:
        found = played(workers, workers, replace(costs, block=seconds / workers, task=0.0))
        if found.reduction > found.blocks_done:
            break
        workers *= 2
    return workers


def where_the_scheduler_is_the_limit(seconds: float, costs: Costs) -> int:
    """Workers, a power of two, from which on it takes longer to hand out a block to each than to compute one."""
    workers = 2
    while workers * costs.task < seconds / workers:
        workers *= 2
    return workers
