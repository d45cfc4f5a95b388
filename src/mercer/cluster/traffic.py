"""What a piece of work cost a cluster: tasks, and bytes over the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


@final
@dataclass
class Traffic:
    """Counted since a session began; printed, it is a sentence.

    >>> print(Traffic(tasks=305, sent=8_100_000, fetched=16_300_000, moved=1_240_000_000))
    305 tasks; 8.1 MB sent to the cluster, 16.3 MB fetched from it, 1.24 GB sent by workers in all
    """

    tasks: int = 0
    sent: int = 0
    """Bytes that this process sent, pickled: arguments of tasks, and values that many tasks use, each of them once."""
    fetched: int = 0
    """Bytes of results that came back to this process, pickled."""
    moved: int = 0
    """Bytes that workers sent over the network, to each other and to this process, as they count them themselves."""

    def __str__(self) -> str:
        return (
            f"{self.tasks:,} tasks; {shown_bytes(self.sent)} sent to the cluster, {shown_bytes(self.fetched)} fetched "
            f"from it, {shown_bytes(self.moved)} sent by workers in all"
        )


def shown_bytes(count: float) -> str:
    """In the unit that a reader thinks in."""
    number, unit = float(count), 0
    while number >= 1000.0 and unit < len(_UNITS) - 1:
        number, unit = number / 1000.0, unit + 1
    return f"{number:.3g} {_UNITS[unit]}"
