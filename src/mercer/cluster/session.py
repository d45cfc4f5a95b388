"""A client of a Dask cluster: tasks are sent, watched, fetched and cancelled here, and counted.

Values that many tasks need (a fitted kernel, landmarks, weights) are results of tasks themselves, named by a digest of
what they hold, and never scattered: Dask makes the result of a task again where its only holder was lost, and cannot do
so for scattered data.
"""

from __future__ import annotations

import contextlib
import itertools
import pydoc
import queue
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, final

from mercer._version import __version__
from mercer.cluster.arrival import arrived
from mercer.cluster.failures import lost, translated
from mercer.cluster.holding import Holding, frames_of
from mercer.cluster.stuck import Silence, never_sent, occupied, stuck
from mercer.cluster.traffic import Traffic
from mercer.errors import ClusterError
from mercer.gram.executors import refuse_to_leave

Place = TypeVar("Place")

_SECONDS_BETWEEN_LOOKS = 0.05
"""How long Ctrl-C, the end of a time limit or a lost scheduler may go unnoticed."""
_SECONDS_TO_FETCH = 5.0
"""Seconds that a result may be on its way before the client is looked at; then it is asked for again, for twice
as long."""
_SECONDS_FOR_WORKERS = 30.0
"""How long a cluster may take to have its first worker. Queues of batch systems take longer: their users wait for
workers before they begin, as the message says."""
_AT_ONCE = 64
"""Lazy values under way at a time: results that have arrived wait here in memory."""
_TRIES = 2
"""How often work is sent again whose workers died. Dask gives a task up when three workers died that had it in their
queue, which also befalls innocent ones; a task that kills its workers kills no more than three times as many."""
_TRIES_TO_MOVE = 4
"""How often work is sent whose arguments do not come over from other workers: connections that somebody's faulty value
left behind fail once each."""
_SECONDS_OF_SILENCE = 3.0
"""How long nothing may come before workers are asked whether something went wrong."""


@final
class Session:
    """What runs through one client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.traffic = Traffic()
        self.held = Holding(self._value)
        self._before: dict[str, int] | None = None
        self._made_of: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()
        """The lazy values, and other futures, that futures are made of."""

    # -------------------------------------------------------------------------------------------------------- workers

    def require_workers(self) -> None:
        """Refuse a cluster without workers, and workers that lack Mercer or have another version of it."""
        self.require_connection()
        try:
            self.client.wait_for_workers(1, timeout=_SECONDS_FOR_WORKERS)
        except TimeoutError as error:
            raise ClusterError(
                f"The cluster at {self.address} had no worker for {_SECONDS_FOR_WORKERS:.0f} s. Start some (`dask "
                "worker ADDRESS`), or wait for those that a batch system will start: client.wait_for_workers(1)."
            ) from error
        if self._before is None:
            found = self._ask(pydoc.locate, "mercer._version.__version__")
            wrong = {worker: version for worker, version in found.items() if version != __version__}
            if wrong:
                raise ClusterError(_wrong_workers(wrong))
            self._before = self._sent_by_workers()

    def require_connection(self) -> None:
        """Refuse a client that is closed, or has lost its scheduler; and work that has to stay where it is."""
        refuse_to_leave()
        if self.client.status != "running":
            raise ClusterError(lost(self.client))

    @property
    def address(self) -> str:
        return str(getattr(self.client.scheduler, "address", "an unknown address"))

    @property
    def threads(self) -> int:
        """The threads of all workers that are there now."""
        self.require_connection()
        return max(1, sum(map(int, self.client.nthreads().values())))

    def count_moved(self) -> Traffic:
        """The traffic so far, with the bytes that workers sent since the session began."""
        if self._before is not None and self.client.status == "running":
            now = self._sent_by_workers()
            self.traffic.moved = sum(max(0, total - self._before.get(worker, 0)) for worker, total in now.items())
        return self.traffic

    def _sent_by_workers(self) -> dict[str, int]:
        return {worker: int(total) for worker, total in self._ask(_bytes_sent).items() if isinstance(total, int)}

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """What each worker answers, beside its tasks."""
        found: dict[str, Any] = self.client.run(function, *arguments, on_error="return")
        return found

    @contextlib.contextmanager
    def speaking(self) -> Iterator[None]:
        """What fails inside because of the cluster is said in words."""
        try:
            yield
        except Exception as error:
            raise translated(error, self.client) from error

    # ---------------------------------------------------------------------------------------------------------- tasks

    def hold(self, value: Any) -> Any:
        """A future of a value that tasks take as an argument; of equal values, the same future."""
        before = self.held.sent
        future = self.held.value(value)
        self.traffic.sent += self.held.sent - before
        return future

    def _value(self, function: Callable[..., Any], *arguments: Any, key: str) -> Any:
        self.traffic.tasks += 1
        with _large_is_meant():
            return self.client.submit(function, *arguments, key=key)

    def submit(self, function: Callable[..., Any], *arguments: Any, priority: int = 0) -> Any:
        """The future of a function of `tasks`; arguments may be futures."""
        self._count(arguments)
        with _large_is_meant():
            future = self.client.submit(function, __version__, *arguments, pure=False, priority=priority)
        self._made_of[future] = tuple(part for part in arguments if isinstance(part, type(future)))
        return future

    def _count(self, arguments: Sequence[Any]) -> None:
        """A task, and the bytes of those of its arguments that go with it."""
        own = [part for part in arguments if not hasattr(part, "key")]
        self.traffic.tasks += 1
        self.traffic.sent += sum(frame.nbytes for frame in frames_of(own))

    def lazily(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The lazy value of a function of `tasks`; arguments may be futures or lazy values themselves."""
        from dask.delayed import delayed

        self._count(arguments)
        return delayed(function, pure=False, traverse=False)(__version__, *arguments)

    def compute(self, lazy: Any) -> Any:
        """The future of a lazy value, sent with all it is made of."""
        (future,) = self.compute_all([lazy])
        return future

    def compute_all(self, values: Sequence[Any]) -> list[Any]:
        """The futures of lazy values, which share what they have in common; what was sent earlier is done earlier.

        Dask would work at all that comes within a minute side by side: each would be done, and kept, when all are.
        """
        with _large_is_meant():
            futures: list[Any] = self.client.compute(list(values), fifo_timeout="0s")
        self._made_of.update((future, (value,)) for future, value in zip(futures, values, strict=True))
        return futures

    def all_of(self, values: Sequence[Any]) -> list[Any]:
        """Lazy values, computed."""
        found: dict[int, Any] = {}
        with self.speaking():
            found.update(self.each(range(len(values)), lambda place: self.compute(values[place]), _nothing, _AT_ONCE))
        return [found[place] for place in range(len(values))]

    def each(
        self, places: Iterable[Place], send: Callable[[Place], Any], watch: Callable[[], None], ahead: int
    ) -> Iterator[tuple[Place, Any]]:
        """The places and their results, as they come; `send` makes the future of a place, `ahead` of them at a time.

        Whatever ends this early (an error, Ctrl-C, a time limit) cancels what was sent.
        """
        self.require_workers()
        ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        left, under_way, tries = iter(places), {}, Counter[tuple[str, Place]]()
        silence = Silence(_SECONDS_OF_SILENCE)

        def start(place: Place) -> None:
            future = send(place)
            under_way[future] = place
            future.add_done_callback(ready.put)

        def send_stuck_ones_again() -> None:
            for future, why in self._stuck(list(under_way)).items():
                place = under_way.pop(future)
                self.client.cancel(future, force=True)
                if not again("moved", _TRIES_TO_MOVE, place):
                    raise ClusterError(never_sent(why))
                start(place)
                silence.broken()

        def again(why: str, most: int, place: Place) -> bool:
            tries[why, place] += 1
            return tries[why, place] < most

        try:
            for place in itertools.islice(left, max(1, ahead)):
                start(place)
            while under_way:
                try:
                    future = ready.get(timeout=_SECONDS_BETWEEN_LOOKS)
                except queue.Empty:
                    self.require_connection()
                    watch()
                    if silence.is_long:
                        send_stuck_ones_again()
                    continue
                if future not in under_way:  # it was sent again
                    continue
                silence.broken()
                place = under_way.pop(future)
                try:
                    found, size = arrived(self._fetched(future))
                except Exception as error:
                    if type(error).__name__ != "KilledWorker" or not again("killed", _TRIES, place):
                        raise
                    start(place)
                    continue
                del future  # its memory is free before the next result comes
                self.traffic.fetched += size
                for following in itertools.islice(left, 1):
                    start(following)
                yield place, found
        finally:
            if under_way and self.client.status == "running":
                self.client.cancel(list(under_way), force=True)

    def _stuck(self, futures: Iterable[Any]) -> dict[Any, str]:
        """Those of the futures that will never be done, because a value could not go from one worker to another.

        What they are made of, and would be stuck again, is cancelled or forgotten.
        """
        told: dict[Hashable, str] = {}
        for found in self._ask(stuck).values():
            told.update(found if isinstance(found, dict) else {})
        shared = [told[key] for key in self.held.keys() & told.keys()]
        if shared:
            self.held.clear()
            return dict.fromkeys(futures, shared[0])
        hit = {future: keys for future in futures if (keys := told.keys() & self._keys(future))}
        if told and not hit:
            self._refuse_to_wait_for_others(told)
        parts = {part for future in hit for part in self._made_of.get(future, ()) if isinstance(part, type(future))}
        self.client.cancel([part for part in parts if told.keys() & self._keys(part)], force=True)
        return {future: told[next(iter(keys))] for future, keys in hit.items()}

    def _refuse_to_wait_for_others(self, told: Mapping[Hashable, str]) -> None:
        at_work = {key for keys in self.client.processing().values() for key in keys}
        if at_work and at_work <= told.keys():
            raise ClusterError(occupied(at_work))

    def _keys(self, made: Any) -> set[Hashable]:
        """The names of all tasks that make a future or a lazy value, beside values that are held."""
        if hasattr(made, "__dask_graph__"):
            return set(made.__dask_graph__())
        return {made.key}.union(*map(self._keys, self._made_of.get(made, ())))

    def _fetched(self, future: Any) -> Any:
        """The result of a task that is done. A client that is closed meanwhile would let this wait for ever."""
        seconds = _SECONDS_TO_FETCH
        while True:
            try:
                return future.result(timeout=seconds)
            except TimeoutError:
                if future.status == "error":  # it was the task that ran out of time
                    raise
                self.require_connection()
                seconds *= 2.0

    def close(self) -> None:
        """Let go of everything that is held on the cluster."""
        self.held.clear()


def _nothing() -> None:
    pass


def _bytes_sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


class _large_is_meant(warnings.catch_warnings):  # noqa: N801  # used like a function
    """Dask advises to scatter what is large, which would be lost with its worker."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.filterwarnings("ignore", message="Sending large graph")


def _wrong_workers(wrong: Mapping[str, Any]) -> str:
    address, version = next(iter(wrong.items()))
    more = "" if len(wrong) == 1 else f", like {len(wrong) - 1} more"
    if isinstance(version, BaseException):
        return f"The worker at {address}{more} failed when it was asked for its version of Mercer: {version!r}."
    what = "has no Mercer" if version is None else f"has Mercer {version}, not {__version__}"
    return (
        f"The worker at {address} {what}{more}. Install mercer[dask] {__version__} in the environment of every worker "
        "(in its image, or with dask.distributed's PipInstall), and start the workers anew."
    )
