"""Which items of a sum share a task: the tree stays as it is, and threads end together."""

from __future__ import annotations

import heapq

import pytest

from mercer.cluster.leaves import branches
from mercer.gram.tree import TOP, Waiting, climb


def over(items: list[str]) -> str:
    """The tree of these items, written with brackets."""
    waiting: Waiting[str] = {}
    for place, item in enumerate(items):
        climb(waiting, place, item, len(items) - 1, lambda one, other: f"({one} {other})")
    return waiting[TOP]


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
def test_the_tree_does_not_depend_on_the_tasks(threads: int, last: bool) -> None:
    for count in (*range(1, 70), 153, 500):
        items = [str(item) for item in range(count)]
        waiting: Waiting[str] = {}
        first = 0
        for length in branches(count, threads, last=last):
            found, level = over(items[first : first + length]), length.bit_length() - 1
            climb(waiting, first >> level, found, count - 1, lambda one, other: f"({one} {other})", level=level)
            first += length
        assert waiting == {TOP: over(items)}


@pytest.mark.parametrize(("count", "threads"), [(29, 2), (64, 2), (153, 8), (1000, 12)])
def test_threads_end_within_one_item_of_each_other_after_fewer_tasks(count: int, threads: int) -> None:
    busy = [0] * threads
    lengths = branches(count, threads)
    for length in lengths:
        heapq.heappush(busy, heapq.heappop(busy) + length)
    assert max(busy) - min(busy) <= 1
    assert len(lengths) <= count / 2
