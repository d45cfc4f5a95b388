"""Time limits: how long a piece of work, with all the work inside it, may take.

`limited` sets one. Long computations check it between two parts (tiles of a matrix, chunks of a solver, calls of a
user's function); it is part of the context, which executors copy into their threads. Work that cannot be interrupted,
such as a call of LAPACK, is estimated beforehand.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from mercer import _speed
from mercer._process import within
from mercer.errors import TimeLimitError

REMEDY = "Raise time_limit, use fewer objects, or an approximation of the kernel."
_SHORT = 0.05
"""Work of up to this many seconds is always started, since there may be a result afterwards."""
_GRACE, _GRACE_SHARE = 0.5, 0.05
"""Seconds, or a larger fraction of the limit, by which work without partial results may be late. It may be nearly done,
and a solver that stopped in time needs a little to finish its result. More would be noticed by users."""


@final
@dataclass
class Deadline:
    """A moment, and the limit that it comes from."""

    at: float
    """When solvers, which always have a result to return, stop."""
    seconds: float
    expected: float = 0.0
    """What all of the work was estimated to take when it began, in seconds; 0 if nobody estimated it."""

    @property
    def last(self) -> float:
        """When everything else is stopped."""
        return self.at + max(_GRACE, _GRACE_SHARE * self.seconds)


CURRENT: contextvars.ContextVar[Deadline | None] = contextvars.ContextVar("mercer_deadline", default=None)
"""None if there is no limit; small work can check this without a function call."""


@contextlib.contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Limit the work inside to this many seconds from now; an outer limit also applies.

    >>> with limited(60.0), limited(3600.0):
    ...     59 < left() <= 60
    True
    """
    if seconds is None or math.isinf(seconds):
        yield
        return
    own, outer = Deadline(time.monotonic() + seconds, seconds), CURRENT.get()
    token = CURRENT.set(own if outer is None or own.at < outer.at else outer)
    try:
        yield
    finally:
        CURRENT.reset(token)


def unlimited() -> contextlib.AbstractContextManager[None]:
    """Do not stop the work inside: a few kernel values from which an error estimates the total time."""
    return within(CURRENT, None)


def is_late() -> bool:
    """Whether there is a limit, and even work without partial results has to stop by now."""
    current = CURRENT.get()
    return current is not None and time.monotonic() > current.last


def is_limited() -> bool:
    """Whether there is any limit."""
    return CURRENT.get() is not None


def left() -> float:
    """The remaining seconds; infinite without a limit."""
    current = CURRENT.get()
    return math.inf if current is None else current.at - time.monotonic()


def expect(seconds: float) -> None:
    """Note what all of the work is estimated to take, for the error that says how far it came."""
    current = CURRENT.get()
    if current is not None:
        current.expected = max(current.expected, seconds)


def refuse_longer(work: str, seconds: float) -> None:
    """Refuse work that cannot be interrupted and would take longer than the remaining time."""
    current = CURRENT.get()
    if current is not None and seconds > max(left(), _SHORT):
        raise TimeLimitError(
            f"time_limit = {current.seconds:g} s: {max(left(), 0.0):.1f} s are left, but {work} would take about "
            f"{shown_seconds(seconds)}. {REMEDY}"
        )


def refuse_decomposition(n: int, flops_per_cube: float) -> None:
    """Refuse a call of LAPACK on an n x n matrix that would end too late; `flops_per_cube` is one of `_speed`'s."""
    if is_limited():
        refuse_longer(f"decomposing a matrix of {n:,} x {n:,}", _speed.seconds(flops_per_cube, n))


@final
class Work:
    """Work in parts, possibly parallel, that is useless until all are done.

    >>> with limited(-1.0):
    ...     Work("three steps", 3).advance()
    Traceback (most recent call last):
    mercer.errors.TimeLimitError: time_limit = -1 s was over with 33.3 % of three steps done. ...
    """

    def __init__(self, what: str, total: float) -> None:
        self._what, self._total = what, total
        self._deadline, self._began = CURRENT.get(), time.monotonic()
        self._done = 0.0
        self._counting = threading.Lock()

    def advance(self, amount: float = 1.0) -> None:
        """Record an amount of work as done; checks the clock, unless that was all."""
        if self._deadline is None:
            return
        with self._counting:
            self._done += amount
            if self._done < self._total:
                self.look()

    def look(self, beyond: float = 0.0) -> None:
        """Check the clock in the middle of a part, of which an amount `beyond` is done."""
        if self._deadline is not None and time.monotonic() > self._deadline.last:
            raise self.over(beyond)

    def over(self, beyond: float = 0.0) -> TimeLimitError:
        """The error to raise once time has run out."""
        assert self._deadline is not None
        share = (self._done + beyond) / self._total
        return TimeLimitError(
            f"{_said(self._deadline)} with {100 * share:.3g} % of {self._what} done.{self._whole(share)} {REMEDY}",
            share,
        )

    def _whole(self, share: float) -> str:
        """What all of the work would take, in words. This one is often a small part of it."""
        assert self._deadline is not None
        if share <= 0:
            return ""
        limit = self._deadline.seconds
        before = self._began - (self._deadline.at - limit)
        own = (time.monotonic() - self._began) / share
        if self._deadline.expected > max(before + own, limit):
            return f" All of the work would take about {shown_seconds(self._deadline.expected)}."
        if own > limit:
            return f" All of it would take about {shown_seconds(before + own)}."
        return f" To the end of this, it would take about {shown_seconds(before + own)}, and longer after that."


def shown_seconds(seconds: float) -> str:
    """Seconds as text, in a readable unit."""
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _said(deadline: Deadline) -> str:
    return f"time_limit = {deadline.seconds:g} s was over"
