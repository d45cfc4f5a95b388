"""Sums over a fixed binary tree: the same bits in whatever order and on whichever thread results are added."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")
Waiting = dict[tuple[int, int], Result]
"""Results whose neighbours are not available yet, by level and position."""
TOP = (-1, 0)
"""The key of the total, once it is available."""


def climb(
    waiting: Waiting[Result],
    place: int,
    found: Result,
    last: int,
    combine: Callable[[Result, Result], Result],
    guard: contextlib.AbstractContextManager[Any] | None = None,
    level: int = 0,
) -> None:
    """Combine the result at a position with its neighbours, as far as available; positions go from 0 to `last`.

    Positions 2k and 2k + 1 are neighbours, and one without a neighbour moves up as it is. If several threads climb, the
    lock `guard` protects `waiting`; they combine outside it. A result at a higher `level` is that of a whole branch of
    2^level positions, and `place` counts such branches.

    >>> waiting = {}
    >>> for place, letter in ((1, "b"), (0, "a"), (2, "c")):
    ...     climb(waiting, place, letter, 2, lambda one, other: f"({one}{other})")
    >>> waiting[TOP]
    '((ab)c)'
    """
    guard = guard or contextlib.nullcontext()
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
