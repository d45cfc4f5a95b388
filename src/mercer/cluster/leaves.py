"""Which neighbouring items of a sum share a task.

The tree of a sum is fixed, and a task may do any whole branch of it: what is added within a task need not go over the
network. Long branches come first and single items last, so that workers end at about the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Node = TypeVar("Node")


def branches(count: int, threads: int) -> list[int]:
    """The numbers of items of the branches, powers of two: half of what is left is shared among all threads.

    >>> branches(29, 2)
    [4, 4, 4, 4, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    """
    found: list[int] = []
    left = count
    while left:
        found.append(1 << max(0, (left // (2 * threads)).bit_length() - 1))
        left -= found[-1]
    return found


def joined(lengths: Sequence[int], leaf: Callable[[int, int], Node], both: Callable[[Node, Node], Node]) -> Node:
    """The root of the tree over the leaves that ``leaf(first item, number of items)`` gives.

    Lengths are powers of two that do not grow, as `branches` gives them: so each begins where a branch does.

    >>> joined([2, 1, 1, 1], lambda first, length: f"{first}+{length}", lambda one, other: f"({one} {other})")
    '((0+2 (2+1 3+1)) 4+1)'
    """
    own: dict[int, int] = {}
    count = 0
    for length in lengths:
        own[count] = length
        count += length

    def branch(first: int, span: int) -> Node:
        if own[first] == span:
            return leaf(first, span)
        half = span // 2
        one = branch(first, half)
        return one if first + half >= count else both(one, branch(first + half, half))

    return branch(0, 1 << (count - 1).bit_length())
