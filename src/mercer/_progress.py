"""Progress of long work: one line on stderr, only on a terminal or in a notebook, and only after a second.

Library code reports fractions; it never prints. Nested work (tiles of a Gram matrix inside a fit inside a search) only
shows the outermost bar. Results never go here: they go to stdout.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from mercer._process import within

_SECONDS_BEFORE_SHOWING = 1.0
"""Shorter work shows nothing: a bar that flashes up only distracts."""
_SECONDS_BETWEEN_UPDATES = 0.1
"""Seconds between two updates: more frequent ones would only take time."""
_ROOM_FOR_NOTES = 80
"""The fewest columns of a terminal for notes; on narrower ones they would break the line of the bar."""

_busy: contextvars.ContextVar[bool] = contextvars.ContextVar("mercer_progress_busy", default=False)
_silenced: contextvars.ContextVar[bool] = contextvars.ContextVar("mercer_progress_silenced", default=False)

Listener = Callable[[float], None]
_listener: contextvars.ContextVar[Listener | None] = contextvars.ContextVar("mercer_progress_listener", default=None)


class Reporter:
    """Takes fractions of work done; shows them if there is a terminal or notebook."""

    def __init__(self, title: str, shown: bool, listener: Listener | None = None) -> None:
        self._title = title
        self._shown = shown
        self._listener = listener
        self._began = self._last = time.monotonic()
        self._bar: Any = None
        self._line: Any = None

    def __call__(self, fraction: float, note: str = "") -> None:
        """Report that `fraction` (0 to 1) of the work is done; `note` describes its state, such as 'gap 0.01'."""
        if self._listener is not None:
            self._listener(fraction)
        if not self._shown:
            return
        now = time.monotonic()
        if now - self._began < _SECONDS_BEFORE_SHOWING or now - self._last < _SECONDS_BETWEEN_UPDATES:
            return
        self._last = now
        if self._bar is None:
            self._open()
        self._bar.update(self._line, completed=min(max(fraction, 0.0), 1.0), note=note)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        note = (TextColumn("{task.fields[note]}"),) if console.width >= _ROOM_FOR_NOTES else ()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, *note, console=console, transient=True)
        self._bar.start()
        self._line = self._bar.add_task(self._title, total=1.0, note="")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextlib.contextmanager
def reporting(title: str) -> Iterator[Reporter]:
    """A reporter for one piece of work; silent inside another, off a terminal, or when silenced."""
    shown = not _busy.get() and not _silenced.get() and _somebody_watches()
    reporter = Reporter(title, shown, _listener.get())
    token, heeded = _busy.set(True), _listener.set(None)
    try:
        yield reporter
    finally:
        _busy.reset(token)
        _listener.reset(heeded)
        reporter.close()


def heard(listener: Listener) -> contextlib.AbstractContextManager[None]:
    """Forward the fractions of work done inside, but not of nested work, to the owner of the outer bar."""
    return within(_listener, listener)


def silenced() -> contextlib.AbstractContextManager[None]:
    """Show no progress inside, even on a terminal: for ``--quiet``."""
    return within(_silenced, True)


def _somebody_watches() -> bool:
    if _in_notebook():
        return True
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _in_notebook() -> bool:
    """Whether this runs in a notebook, which can show Rich output."""
    module = sys.modules.get("IPython")  # if it is not loaded, this is not a notebook
    shell = None if module is None else module.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
