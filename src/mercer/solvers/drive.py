"""One driver for all solvers: work is done in bounded chunks, so Ctrl-C, progress, time limits and checkpoints always
work.

A compiled loop cannot be interrupted, so no solver runs longer than a chunk at a time. The driver sizes chunks to take
about a twentieth of a second, and checks signals, the clock and its stop event between them.
`Limits` and `StallDetector` say when to give up.
"""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self, final

from mercer import _deadline
from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.errors import TimeLimitError
from mercer.gram.contract import Gram
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.solution import Solution, Stats, Status

CHUNK_SECONDS = 0.05
"""Target duration of a chunk: Ctrl-C, limits and progress wait for its end; shorter chunks spend more time on calls."""
NOISE = 1e-10
"""Improvements below this fraction of the objective do not count in box problems: the matrix is usually float32, so
steps that undo each other could make smaller ones for ever."""
BETTER = 0.99
"""A gap counts as progress if it is below this fraction of the smallest so far: gaps fluctuate, and finally creep."""


class Stopped(Exception):
    """The work was stopped from outside; the caller that stopped it knows why."""


@final
@dataclass(frozen=True)
class Limits:
    """When to stop, and an event through which another thread can stop the work."""

    max_iter: int = -1
    """Maximum number of iterations; -1 for no limit."""
    time_limit: float = field(default_factory=lambda: math.inf if _deadline.CURRENT.get() is None else _deadline.left())
    """Maximum number of seconds for everything that is solved under these limits; never more than what is left of the
    time limit of the whole fit ..."""
    stop: threading.Event = field(default_factory=threading.Event, compare=False)
    since: float = field(default_factory=time.monotonic, compare=False)
    """... counted from this moment."""

    def within(self, max_iter: int) -> Limits:
        """These limits with at most this many iterations; -1 leaves them as they are."""
        if max_iter < 0 or 0 <= self.max_iter <= max_iter:
            return self
        return replace(self, max_iter=max_iter)

    def share(self, share: float) -> Limits:
        """These limits, from now on, with a share of the time that is left."""
        if share >= 1.0 or math.isinf(self.time_limit):
            return self
        now = time.monotonic()
        return replace(self, time_limit=share * max(0.0, self.since + self.time_limit - now), since=now)

    def raise_if_stopped(self) -> None:
        """Raise `Stopped` once the event is set."""
        if self.stop.is_set():
            raise Stopped

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() - self.since > self.time_limit


@final
class StallDetector:
    """Counts steps in which neither the violation nor the objective improves on the best so far.

    >>> stall = StallDetector(patience=2)
    >>> [stall.update(gap, 5.0) for gap in (1.0, 0.5, 0.5, 0.5)]
    [False, False, False, True]
    """

    def __init__(self, patience: int) -> None:
        self._patience, self._steps = patience, 0
        self._gap, self._objective = math.inf, math.inf

    def update(self, gap: float, objective: float, noise: float = 0.0, steps: int = 1) -> bool:
        """Whether to stop, `steps` after the last update; the objective is known to within `noise`."""
        better = gap < BETTER * self._gap or objective < self._objective - noise
        self._steps = 0 if better else self._steps + steps
        self._gap, self._objective = min(gap, self._gap), min(objective, self._objective)
        return self._steps >= self._patience


@final
@dataclass(frozen=True)
class Chunk:
    """The state of a run between two chunks."""

    iterations: int
    gap: float
    fraction: float
    """An estimate of the fraction of the work done, from how fast the gap has closed."""


OnChunk = Callable[[Chunk], None]


class Run(ABC):
    """One solve in progress. Subclasses keep their state in arrays and work on it in compiled loops."""

    first_chunk: int = 64
    """Number of iterations that takes a small part of a chunk for any problem."""
    iterations: int = 0
    gap: float = math.inf
    done: bool = False
    """Whether the run has ended: converged or stalled."""
    status: Status = Status.CONVERGED
    """Why, once done."""

    @property
    def useful(self) -> bool:
        """Whether `finish` would return more than the point it started from."""
        return True

    @final
    @property
    def may_end(self) -> bool:
        """Whether a run may end once its time is over: it has something to return, or it is late."""
        return self.useful or _deadline.is_late()

    @abstractmethod
    def step(self, iterations: int) -> None:
        """Do at most this many iterations; updates `iterations`, `gap` and, at the end, `done` and `status`."""

    @abstractmethod
    def finish(self, status: Status, stats: Stats) -> Solution:
        """The current solution, converged or not; updates `gap`."""

    @final
    def driven(self, tol: float, limits: Limits) -> Self:
        """Run to the end and return the run."""
        drive(self, tol, limits, None, time.monotonic())
        return self


class Solver(ABC):
    """A way to solve box problems."""

    @abstractmethod
    def init(self, gram: Gram, problem: BoxProblem, *, start: Float64 | None, tol: float) -> Run:
        """Prepare a run; `start` is a feasible point to begin from."""

    @final
    def solve(
        self,
        gram: Gram,
        problem: BoxProblem,
        *,
        start: Float64 | None = None,
        tol: float = 1e-3,
        limits: Limits | None = None,
        on_chunk: OnChunk | None = None,
    ) -> Solution:
        """Solve to within `tol`, or as far as the limits allow."""
        began = time.monotonic()
        with single_threaded_blas():  # held throughout: entering it for each small product costs more
            try:
                return drive(self.init(gram, problem, start=start, tol=tol), tol, limits or Limits(), on_chunk, began)
            except TimeLimitError as error:
                raise no_machine_error(gram, error) from error


def drive(run: Run, tol: float, limits: Limits, on_chunk: OnChunk | None, began: float) -> Solution:
    """Step a run until it is done or a limit is reached."""
    size, first_gap = run.first_chunk, math.nan
    status = None
    while status is None:
        if limits.stop.is_set():
            raise Stopped
        left = size if limits.max_iter < 0 else min(size, limits.max_iter - run.iterations)
        started, before = time.monotonic(), run.iterations
        try:
            if left > 0:
                run.step(left)
        except TimeLimitError:
            if not run.iterations:
                raise  # no usable result yet
            status = Status.OUT_OF_TIME
        now = time.monotonic()
        if status is not None:
            break
        if run.done:
            status = run.status
        elif limits.max_iter >= 0 and run.iterations >= limits.max_iter:
            status = Status.OUT_OF_ITERATIONS
        elif now - limits.since > limits.time_limit and run.may_end:
            status = Status.OUT_OF_TIME
        size = _next_size(left, run.iterations - before, now - started, run.first_chunk)
        if on_chunk is not None:
            first_gap = run.gap if math.isnan(first_gap) else first_gap
            on_chunk(Chunk(run.iterations, run.gap, _fraction(first_gap, run.gap, tol)))
    found = run.finish(status, Stats(run.iterations, run.gap, time.monotonic() - began))
    return replace(found, stats=replace(found.stats, gap=run.gap))


def no_machine_error(gram: Gram, error: TimeLimitError) -> TimeLimitError:
    """The error if time ran out without a result; the current run may solve only a part of the problem."""
    limit, n = _deadline.CURRENT.get(), gram.shape[0]
    if limit is None or (gram.expensive and not limit.expected):  # timing another sample of entries would take too long
        return error
    seconds = limit.expected
    if not seconds:
        with _deadline.unlimited():
            seconds = gram.seconds
    done = max(0.0, min(1.0, (time.monotonic() - limit.at + limit.seconds) / max(seconds, limit.seconds)))
    return TimeLimitError(
        f"time_limit = {limit.seconds:g} s was over before there was a first machine of {n:,} objects. All of their "
        f"kernel values would take about {_deadline.shown_seconds(seconds)}, and training about as long again. "
        f"{_deadline.REMEDY}",
        done,
    )


def _next_size(asked: int, did: int, seconds: float, least: int) -> int:
    if did == 0 or seconds <= 0:
        return max(asked, least)
    aim = int(did * CHUNK_SECONDS / seconds)
    return max(16, min(aim, 4 * max(asked, 1)))  # compilation makes the first chunk slow: its size grows back quickly


def _fraction(first: float, gap: float, tol: float) -> float:
    if not (math.isfinite(gap) and math.isfinite(first)) or first <= tol:
        return 0.0
    return min(1.0, max(0.0, math.log(first / max(gap, tol)) / math.log(first / tol)))
