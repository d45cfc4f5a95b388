"""What Mercer does through one client of a Dask cluster: it sends tasks, counts them, and waits for their results.

Values that many tasks need (a fitted kernel, landmarks, weights) are results of tasks themselves, and are never
scattered: if the only worker that has the result of a task is lost, Dask makes it again, which it cannot do for
scattered data.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, final

from mercer._version import __version__
from mercer.cluster import members, tasks
from mercer.cluster.failures import lost, translated
from mercer.cluster.holding import Holding, frames_of
from mercer.cluster.lineage import Lineage
from mercer.cluster.traffic import Traffic
from mercer.cluster.under_way import UnderWay
from mercer.errors import ClusterError
from mercer.gram.executors import refuse_to_leave

Place = TypeVar("Place")

_AT_ONCE = 64
"""Lazy values under way at a time: results that have arrived wait here in memory."""


@final
class Session:
    """The work of one client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.traffic = Traffic()
        self.held = Holding(self._value)
        self.lineage = Lineage()
        self._before: dict[str, int] | None = None
        """Bytes that workers had sent before this session; None until they were asked."""

    # -------------------------------------------------------------------------------------------------------- workers

    def require_workers(self) -> None:
        """Refuse a cluster without workers, and workers that lack Mercer or have another version of it."""
        self.require_connection()
        members.require_some(self.client, self.address)
        if self._before is None:
            members.require_this_version(self.client)
            members.make_ready(self.client)
            self._before = members.bytes_sent(self.client)

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
            now = members.bytes_sent(self.client)
            self.traffic.moved = sum(max(0, total - self._before.get(worker, 0)) for worker, total in now.items())
        return self.traffic

    @contextlib.contextmanager
    def speaking(self) -> Iterator[None]:
        """Inside the block, failures of the cluster become errors that say what happened."""
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
        self.lineage.note(future, [part for part in arguments if isinstance(part, type(future))])
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
        """The futures of lazy values; what several are made of is computed once. What was sent first is done first.

        By default, Dask treats everything that is sent within a minute alike: all of it would be done at the end.
        """
        with _large_is_meant():
            futures: list[Any] = self.client.compute(list(values), fifo_timeout="0s")
        for future, value in zip(futures, values, strict=True):
            self.lineage.note(future, [value])
        return futures

    def all_of(self, values: Sequence[Any]) -> list[Any]:
        """Lazy values, computed, by tasks of our own: a user may have persisted the values, and cancelling what is
        under way must not cancel those.
        """
        found: dict[int, Any] = {}

        def send(place: int) -> Any:
            return self.compute(self.lazily(tasks.call, tasks.same, values[place]))

        with self.speaking():
            found.update(self.each(range(len(values)), send, _nothing, _AT_ONCE))
        return [found[place] for place in range(len(values))]

    def each(
        self, places: Iterable[Place], send: Callable[[Place], Any], watch: Callable[[], None], ahead: int
    ) -> Iterator[tuple[Place, Any]]:
        """The places and their results, as they come; `send` makes the future of a place, `ahead` of them at a time.

        Whatever ends this early (an error, Ctrl-C, a time limit) cancels what was sent.
        """
        self.require_workers()
        left, under_way = iter(places), UnderWay(self, send)
        try:
            for place in itertools.islice(left, max(1, ahead)):
                under_way.start(place)
            while under_way:
                found = under_way.next()
                if found is None:
                    watch()
                    continue
                for following in itertools.islice(left, 1):
                    under_way.start(following)
                yield found
        finally:
            under_way.cancel()

    def cancel(self, futures: Sequence[Any]) -> None:
        """Give up futures that nothing depends on, and what was sent for them alone.

        What depends on others goes first, with messages of their own. If Dask's scheduler is told to cancel a task
        while others depend on it that no client asked for itself, an assertion fails there (`stimulus_cancel`); it
        closes the connection, and all that the user has on the cluster is lost.
        """
        if not futures or self.client.status != "running":
            return
        self.client.cancel(futures, force=True)
        for future in futures:
            for part in reversed(self.lineage.own(future)):
                self.client.cancel(part, force=True)

    def close(self) -> None:
        """Let go of everything that is held on the cluster."""
        self.held.clear()


def _nothing() -> None:
    pass


class _large_is_meant(warnings.catch_warnings):  # noqa: N801  # used like a function
    """Dask warns of large arguments, and advises to scatter them; but what is scattered is lost with its worker."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.filterwarnings("ignore", message="Sending large graph")
