"""Work on a cluster, from the moment it is sent until its result is here: awaited, fetched, sent again, cancelled."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from mercer.cluster.arrival import arrived
from mercer.cluster.stuck import Silence, never_sent, stuck_among
from mercer.errors import ClusterError

if TYPE_CHECKING:
    from mercer.cluster.session import Session

Place = TypeVar("Place")

_SECONDS_BETWEEN_LOOKS = 0.05
"""How long Ctrl-C, the end of a time limit or a lost scheduler may go unnoticed."""
_SECONDS_TO_FETCH = 5.0
"""Seconds that a result may be on its way before the connection is checked; after that it is asked for again, with
twice the time."""
_SECONDS_OF_SILENCE = 3.0
"""How long nothing may come before workers are asked whether something went wrong."""
_TRIES = 2
"""How often work is sent whose workers died. Dask gives a task up when three workers died that had it in their queue,
which also happens to innocent tasks; one that really kills its workers kills twice as many."""
_TRIES_TO_MOVE = 4
"""How often work is sent whose arguments do not arrive from other workers: connections that somebody's faulty value
left behind fail once each."""


@final
class UnderWay(Generic[Place]):
    """Places of work that was sent, whose results are not here yet. Empty, it is false."""

    def __init__(self, session: Session, send: Callable[[Place], Any]) -> None:
        """`send` makes the future of a place."""
        self._session, self._send = session, send
        self._places: dict[Any, Place] = {}
        self._ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tries: Counter[tuple[str, Place]] = Counter()
        self._silence = Silence(_SECONDS_OF_SILENCE)

    def __len__(self) -> int:
        return len(self._places)

    def start(self, place: Place) -> None:
        """Send the work of a place."""
        future = self._send(place)
        self._places[future] = place
        future.add_done_callback(self._ready.put)

    def next(self) -> tuple[Place, Any] | None:
        """A place and its result; None if no result came for a moment."""
        try:
            future = self._ready.get(timeout=_SECONDS_BETWEEN_LOOKS)
        except queue.Empty:
            self._session.require_connection()
            self._send_stuck_ones_again()
            return None
        if future not in self._places:  # it was sent again
            return None
        self._silence.broken()
        place = self._places.pop(future)
        try:
            found, size = arrived(self._fetched(future))
        except Exception as error:
            if type(error).__name__ != "KilledWorker" or not self._again("killed", _TRIES, place):
                raise
            self.start(place)
            return None
        self._session.traffic.fetched += size
        return place, found

    def cancel(self) -> None:
        """Give up what is not here yet."""
        self._session.cancel(list(self._places))

    def _send_stuck_ones_again(self) -> None:
        if not self._silence.is_long:
            return
        for future, why in stuck_among(list(self._places), self._session, self._silence.looks).items():
            place = self._places.pop(future)
            if not self._again("moved", _TRIES_TO_MOVE, place):
                raise ClusterError(never_sent(why))
            self.start(place)
            self._silence.broken()

    def _again(self, why: str, most: int, place: Place) -> bool:
        self._tries[why, place] += 1
        return self._tries[why, place] < most

    def _fetched(self, future: Any) -> Any:
        """The result of a task that is done. If the client is closed meanwhile, Dask would wait for it for ever."""
        seconds = _SECONDS_TO_FETCH
        while True:
            try:
                return future.result(timeout=seconds)
            except TimeoutError:
                if future.status == "error":  # it was the task that ran out of time
                    raise
                self._session.require_connection()
                seconds *= 2.0
