"""Sums over a fixed binary tree: the same bits in whatever order, and by whichever thread, results are added."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
Waiting = dict[tuple[int, int], Result]
"""Results whose neighbours are not there yet, by level and place."""
TOP = (-1, 0)
"""Where the result of all places waits, once it is there."""


def climb(
    waiting: Waiting[Result],
    place: int,
    found: Result,
    last: int,
    combine: Callable[[Result, Result], Result],
    guard: contextlib.AbstractContextManager[Any] | None = None,
) -> None:
    """Let the result of a place meet its neighbours, as far as these are there; places go from 0 to `last`.

    Places 2k and 2k + 1 are neighbours, and one without a neighbour goes up as it is. Where several threads climb, a
    lock is the `guard` of what is waiting; they combine outside it.

    >>> waiting = {}
    >>> for place, letter in ((1, "b"), (0, "a"), (2, "c")):
    ...     climb(waiting, place, letter, 2, lambda one, other: f"({one}{other})")
    >>> waiting[TOP]
    '((ab)c)'
    """
    guard, level = guard or contextlib.nullcontext(), 0
    while last >> level:
        if place ^ 1 <= last >> level:
            with guard:
                other = waiting.pop((level, place ^ 1), None)
                if other is None:
                    waiting[level, place] = found
                    return
            found = combine(other, found) if place & 1 else combine(found, other)
        place, level = place >> 1, level + 1
    waiting[TOP] = found
