"""Which neighbouring items of a sum share a task.

The tree of a sum is fixed, and a task may do any whole branch of it: what is added within a task need not go over the
network. At the end of a pass, long branches come first and single items last, so that workers end at about the same
time.
"""

from __future__ import annotations

PER_THREAD = 8
"""Tasks for each thread of the cluster at a time. With fewer, threads are idle while the last task runs; more only make
queues longer, and when a worker dies Dask counts that against every task in its queue."""


def branches(count: int, threads: int, *, last: bool = True) -> list[int]:
    """The numbers of items of the branches, powers of two that never grow.

    At the end of a pass, each has half of what is left, shared among all threads; before that, all have the same.

    >>> branches(29, 2)
    [4, 4, 4, 4, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    >>> branches(64, 4, last=False) == [2] * 32
    True
    """
    if not last:
        length = _power_of_two(count // (PER_THREAD * threads))
        return [length] * (count // length) + [1] * (count % length)
    found: list[int] = []
    left = count
    while left:
        found.append(_power_of_two(left // (2 * threads)))
        left -= found[-1]
    return found


def _power_of_two(most: int) -> int:
    return 1 << max(0, most.bit_length() - 1)
