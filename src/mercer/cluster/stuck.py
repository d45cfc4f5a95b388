"""Tasks that Dask would let wait for ever, because an argument of theirs did not come over from another worker.

Where a value cannot be sent or opened, the worker that asked for it gives up and tells nobody (dask/distributed#6705).
The connection stays open in the middle of an exchange, so that the next value asked for over it, which may be
anybody's, does not come either.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable
from typing import Any, final

_LONGEST = 60.0
"""Seconds between two looks at the workers, at most."""


def stuck(dask_worker: Any) -> dict[Hashable, str]:
    """The tasks of a worker that wait for what will never come, with what became of it."""
    return {
        task.key: needed.exception_text or "the reason is not known"
        for task in dask_worker.state.waiting
        for needed in task.waiting_for_data
        if needed.state == "error"
    }


def never_sent(why: str) -> str:
    """The same in words."""
    first = why.replace("\\n", "\n").splitlines()[0]
    return (
        f"A value could not go from one worker to another: {first}. Objects, kernels and functions must be such that "
        "pickle can send them, and workers must be able to import what they are made of. The logs of the workers say "
        "more."
    )


def occupied(names: Collection[Hashable]) -> str:
    """In words: tasks of others that are stuck take up the whole cluster."""
    return (
        f"Nobody works on this cluster: its workers are taken up by {len(names)} tasks that wait for ever for a value "
        f"that could not be sent to them, such as {next(iter(names))!r}. They are not of this client. Let whoever sent "
        "them cancel them, or start the workers anew: client.restart()."
    )


@final
class Silence:
    """How long nothing has come: it is over after some seconds, later and later while nothing is found to be wrong."""

    def __init__(self, seconds: float) -> None:
        self._least = seconds
        self.broken()

    def broken(self) -> None:
        """Something has come."""
        self._length, self._until = self._least, time.monotonic() + self._least

    @property
    def is_long(self) -> bool:
        """Whether it is time to look; asked again, not before twice as long."""
        if time.monotonic() < self._until:
            return False
        self._length = min(2.0 * self._length, _LONGEST)
        self._until = time.monotonic() + self._length
        return True
