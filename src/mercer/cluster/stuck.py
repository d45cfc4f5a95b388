"""Tasks that Dask would let wait for ever, because an argument of theirs did not come over from another worker.

Where a value cannot be sent or opened, the worker that asked for it gives up and tells nobody (dask/distributed#6705).
The connection stays open in the middle of an exchange, so that the next value asked for over it, which may be
anybody's, does not come either.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from mercer.cluster import members
from mercer.errors import ClusterError

if TYPE_CHECKING:
    from mercer.cluster.session import Session

_LONGEST = 60.0
"""Seconds between two looks at the workers, at most."""
_LOOKS_TO_BE_SURE = 2
"""Looks that find only the work of others, before it is said that nothing gets done: at the first one, our own may
just have been finished, or may not have arrived yet."""


def stuck(dask_worker: Any) -> dict[Hashable, str]:
    """The tasks of a worker that wait for what will never come, with what became of it."""
    return {
        task.key: needed.exception_text or "the reason is not known"
        for task in dask_worker.state.waiting
        for needed in task.waiting_for_data
        if needed.state == "error"
    }


def stuck_among(futures: Sequence[Any], session: Session, looks: int) -> dict[Any, str]:
    """Those of the futures that will never be done, because a value could not go from one worker to another.

    They are cancelled, and what they are made of is cancelled or forgotten if it would be stuck again. This is one of
    so many `looks` since a result came.
    """
    told: dict[Hashable, str] = {}
    for found in members.answers(session.client, stuck).values():
        told.update(found if isinstance(found, dict) else {})
    shared = [told[key] for key in session.held.keys() & told.keys()]
    if shared:
        session.held.clear()
        session.cancel(futures)
        return dict.fromkeys(futures, shared[0])
    lineage = session.lineage
    hit = {future: keys for future in futures if (keys := told.keys() & lineage.keys(future))}
    if told and not hit and looks >= _LOOKS_TO_BE_SURE:
        _refuse_to_wait_for_others(told, session.client)
    session.cancel(list(hit))
    parts = {part for future in hit for part in lineage.futures_of(future)}
    session.cancel([part for part in parts if told.keys() & lineage.keys(part)])
    return {future: told[next(iter(keys))] for future, keys in hit.items()}


def _refuse_to_wait_for_others(told: Mapping[Hashable, str], client: Any) -> None:
    at_work = {key for keys in client.processing().values() for key in keys}
    if at_work and at_work <= told.keys():
        raise ClusterError(occupied(at_work))


def never_sent(why: str) -> str:
    """The message for a value that never arrived."""
    first = why.replace("\\n", "\n").splitlines()[0]
    return (
        f"A value could not go from one worker to another: {first}. Objects, kernels and functions must be such that "
        "pickle can send them, and workers must be able to import what they are made of. The logs of the workers say "
        "more."
    )


def occupied(names: Collection[Hashable]) -> str:
    """The message where stuck tasks of others take up the whole cluster."""
    return (
        f"Nothing gets done on this cluster: its workers are taken up by {len(names)} tasks that wait for ever for a "
        f"value that could not be sent to them, such as {next(iter(names))!r}. Another client sent them. Let its "
        "user cancel them, or restart the workers: client.restart()."
    )


@final
class Silence:
    """How long no result has come. Each look at the workers that finds nothing wrong puts off the next one."""

    def __init__(self, seconds: float) -> None:
        self._least = seconds
        self.broken()

    def broken(self) -> None:
        """A result has come."""
        self._length, self._until = self._least, time.monotonic() + self._least
        self.looks = 0

    @property
    def is_long(self) -> bool:
        """Whether it is time to look; asked again, not before twice as long."""
        if time.monotonic() < self._until:
            return False
        self.looks += 1
        self._length = min(2.0 * self._length, _LONGEST)
        self._until = time.monotonic() + self._length
        return True
