"""The threads that compute tiles, without the interpreter lock.

Work is a picklable function of a tile; its results go to a sink. Threads compute straight into a buffer that the sink
provides.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, final

from mercer import _deadline
from mercer._process import single_threaded_blas, within
from mercer._progress import Reporter
from mercer._types import Floating
from mercer.errors import TimeLimitError
from mercer.gram.tiles import Strip, Tile
from mercer.gram.tree import TOP, Waiting, climb

Work = Callable[[Tile, Floating], None]
Item = TypeVar("Item")
Result = TypeVar("Result")

_SECONDS_BETWEEN_SIGNALS = 0.05  # longest delay of Ctrl-C; shorter waits would wake this thread more often
_THREADS_OF_DASK = "Dask-"  # prefix of the names of threads that run the tasks of a cluster
_worker = threading.local()


class Sink(Protocol):
    """Where blocks go. Called from several threads at once, but never for two tiles of one strip."""

    def buffer(self, tile: Tile) -> Floating:
        """A C-contiguous array of the shape of the tile, to be computed into."""
        ...

    def accept(self, tile: Tile, block: Floating) -> None:
        """Take over a computed block."""
        ...


@final
@dataclass(frozen=True)
class Threads:
    """A pool of threads, with BLAS held to one thread each; one alone is the calling thread.

    Called from inside one of its own threads (a sub-problem that needs a Gram matrix), it works in that thread.
    """

    count: int = field(default_factory=lambda: default_threads())

    def map(self, work: Work, strips: Sequence[Strip], sink: Sink, report: Reporter | None = None) -> None:
        """Run the work of every strip: strips in any order, the tiles of one strip in sequence."""
        done = 0
        counting = threading.Lock()
        total = sum(tile.entries for strip in strips for tile in strip)
        timed = _deadline.Work(f"{total:,} kernel values", total)

        def run(strip: Strip) -> None:
            nonlocal done
            for tile in strip:
                if stop.is_set():
                    return
                block = sink.buffer(tile)
                try:
                    work(tile, block)
                except TimeLimitError as error:
                    raise timed.over(error.done * tile.entries) from None
                sink.accept(tile, block)
                timed.advance(tile.entries)
            with counting:
                done += 1

        def watch() -> None:
            if report is not None:
                report(done / len(strips))

        stop = threading.Event()
        self._spread(run, strips, stop, watch)

    def each(self, job: Callable[[Item], None], items: Sequence[Item], stop: threading.Event | None = None) -> None:
        """Run a job for each item. The first exception (or Ctrl-C) sets `stop`, which jobs watch, and is raised."""
        self._spread(job, items, stop or threading.Event(), lambda: None)

    def reduce(
        self, task: Callable[[Item], Result], items: Sequence[Item], combine: Callable[[Result, Result], Result]
    ) -> Result:
        """Combine the results of a task for each item, over a fixed binary tree of their positions.

        Two neighbours are combined as soon as both are available, by either thread: the result has the same bits for
        any number of threads, and hardly more results exist at once than there are threads. The first of the two may be
        changed in place.
        """
        waiting: Waiting[Result] = {}
        looking = threading.Lock()
        last = len(items) - 1
        self.each(lambda place: climb(waiting, place, task(items[place]), last, combine, looking), range(len(items)))
        return waiting[TOP]

    def _spread(
        self, job: Callable[[Item], None], items: Sequence[Item], stop: threading.Event, watch: Callable[[], None]
    ) -> None:
        if self.count <= 1 or len(items) <= 1 or getattr(_worker, "busy", False):
            with single_threaded_blas():
                for item in items:
                    job(item)
                    watch()
            return
        queue = iter(items)
        taking = threading.Lock()
        failures: list[BaseException] = []

        def fail(failure: BaseException) -> None:
            failures.append(failure)  # the first one is the cause: later ones may result from the stop event
            stop.set()

        def worker(between: Callable[[], None] = lambda: None) -> None:
            before, _worker.busy = getattr(_worker, "busy", False), True
            try:
                while not stop.is_set():
                    with taking:
                        try:
                            item = next(queue)
                        except StopIteration:
                            return
                    job(item)
                    between()
            except BaseException as failure:
                fail(failure)
            finally:
                _worker.busy = before

        helpers = min(self.count, len(items)) - 1
        with single_threaded_blas():
            futures: list[Future[None]] = []
            try:
                # Inside the `try`, because Ctrl-C may come while threads are being started.
                futures.extend(_pool(helpers).submit(contextvars.copy_context().run, worker) for _ in range(helpers))
                worker(watch)  # this thread works too, and sees Ctrl-C between two items
                _finish(futures, watch)
            except BaseException as failure:
                fail(failure)
                _finish(futures, lambda: None)
        if failures:
            _dismiss()
            raise failures[0]


class Executor(Protocol):
    """Computes tiles and sums over blocks: `Threads`, or other machines."""

    def map(self, work: Work, strips: Sequence[Strip], sink: Sink, report: Reporter | None = None) -> None: ...

    def reduce(
        self, task: Callable[[Item], Result], items: Sequence[Item], combine: Callable[[Result, Result], Result]
    ) -> Result: ...

    def gather(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """The results of a task for each item, in order."""
        ...

    def over_groups(
        self, task: Callable[[Any, Any], Result], objects: Any, groups: Sequence[Any], rest: Sequence[Any]
    ) -> list[Result | None]:
        """The results of ``task(objects of a group, rest of it)``, in order; None where the rest is None."""
        ...

    def results(
        self,
        work: Any,
        items: Sequence[Item],
        shared: Sequence[Any],
        *,
        watch: Callable[[], None],
        more: Callable[[], bool],
        at_once: int | None = None,
        keep: bool = False,
    ) -> Iterator[tuple[int, Any]]:
        """The positions of items and the results of ``work(item, prepared, stop)`` as they come; `stop` ends the work.

        Items with the same `shared` name share the ``work.prepared(item)`` of one of them; None means nothing is
        shared. No item is sent any more once ``more()`` is false.
        """
        ...


_elsewhere: contextvars.ContextVar[Executor | None] = contextvars.ContextVar("mercer_elsewhere", default=None)


def elsewhere() -> Executor | None:
    """The executor that does long work in place of this machine's threads; None if there is none."""
    return _elsewhere.get()


_staying: contextvars.ContextVar[bool] = contextvars.ContextVar("mercer_staying", default=False)


class ElsewhereError(Exception):
    """Work that other machines would have to do, where it may not leave this one."""


@contextlib.contextmanager
def staying_here() -> Iterator[None]:
    """Inside the block, no work goes to other machines; what cannot be done here is an `ElsewhereError`.

    While a client pickles something it cannot receive anything: whoever waited for other machines would wait forever.
    """
    with within(_staying, True), working_elsewhere(None):
        yield


def refuse_to_leave() -> None:
    """Refuse work for other machines where it has to stay here."""
    if _staying.get():
        raise ElsewhereError


def working_elsewhere(executor: Executor | None) -> contextlib.AbstractContextManager[None]:
    """Inside the block, long work goes to this executor (see `elsewhere`)."""
    return within(_elsewhere, executor)


@contextlib.contextmanager
def in_this_thread() -> Iterator[None]:
    """Inside the block, everything runs in the calling thread with single-threaded BLAS: the other cores are in use."""
    before, _worker.busy = getattr(_worker, "busy", False), True
    try:
        with single_threaded_blas():
            yield
    finally:
        _worker.busy = before


def _finish(futures: Sequence[Future[None]], watch: Callable[[], None]) -> None:
    """Wait for helpers, in short intervals so that Ctrl-C is noticed; those that never started are no longer needed."""
    left = {future for future in futures if not future.cancel()}
    while left:
        left = wait(left, timeout=_SECONDS_BETWEEN_SIGNALS).not_done
        watch()


def _pool(helpers: int) -> ThreadPoolExecutor:
    """The helper threads of this thread. They are kept, since starting threads costs more than many small products.

    Every thread has its own, so no caller waits for another's work; a forked process starts new ones.
    """
    if getattr(_worker, "process", None) != os.getpid() or _worker.helpers != helpers:
        _worker.pool = ThreadPoolExecutor(helpers, thread_name_prefix="mercer")
        _worker.process, _worker.helpers = os.getpid(), helpers
    pool: ThreadPoolExecutor = _worker.pool
    return pool


def _dismiss() -> None:
    """Leave no helper thread behind after a failure."""
    if getattr(_worker, "process", None) == os.getpid():
        _worker.pool.shutdown()
        _worker.process = None


def default_threads() -> int:
    """MERCER_NUM_THREADS; or as many as this process may use, by its affinity, its container and OMP_NUM_THREADS.

    joblib sets the last in its workers, so that all of them together have as many threads as there are cores. A thread
    of a Dask worker works alone, because the other threads of the worker do the same.
    """
    asked = _positive("MERCER_NUM_THREADS")
    if asked is not None:
        return asked
    if threading.current_thread().name.startswith(_THREADS_OF_DASK):
        return 1
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(here, _container_cores(), _positive("OMP_NUM_THREADS") or here))


def _positive(name: str) -> int | None:
    """A number of threads from the environment; OpenMP also takes a list, one for each level of nesting."""
    asked = os.environ.get(name, "").partition(",")[0].strip()
    return int(asked) if asked.isdigit() and int(asked) > 0 else None


@functools.cache
def _container_cores(root: Path = Path("/sys/fs/cgroup")) -> int:
    """The cores that a container may keep busy, rounded up; a large number if there is no quota."""
    with contextlib.suppress(OSError, ValueError):
        quota, period = (root / "cpu.max").read_text().split()
        return -(-int(quota) // int(period))  # "max" is not a number: there is no quota
    with contextlib.suppress(OSError, ValueError):
        allowed = int((root / "cpu" / "cpu.cfs_quota_us").read_text())
        if allowed > 0:
            return -(-allowed // int((root / "cpu" / "cpu.cfs_period_us").read_text()))
    return 2**20
