"""What long training has found so far, kept in a folder, so that a killed run can continue with the same bits.

Training over blocks is a sequence of passes (`reduce`), and everything between two passes depends on their results
alone. So a run is resumed by doing everything again, with the results of finished passes read instead of computed, and
the pass that was under way continued from the partial sums of its tree. This works for every learner, and none has to
know about it.

    with Journal(folder).open():
        model.fit(blocks)

Whoever trains says what results depend on (`about`: data, parameters), and a folder of another run is refused.
"""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from mercer import _check, _deadline
from mercer._atomic import replacing
from mercer._parsing import undisturbed
from mercer._progress import reporting
from mercer._version import __version__
from mercer.errors import InputError
from mercer.gram.tree import TOP, Waiting, climb
from mercer.inputs.blocks import Reducer

Item = TypeVar("Item")
Result = TypeVar("Result")

SECONDS = 30.0
"""Seconds between two writes of partial sums: the most that a killed run loses, apart from a stretch of blocks."""
_STRETCH = 8
"""The fewest blocks in a stretch, a power of two: the clock is read between stretches. Longer ones leave workers idle
less often, shorter ones lose less when a run is killed.
"""

_CURRENT: contextvars.ContextVar[Journal | None] = contextvars.ContextVar("mercer_journal", default=None)


def kept(executor: Reducer) -> Reducer:
    """An executor that reports progress and keeps its results in the journal, if one is open."""
    return _Kept(executor, _CURRENT.get())


def about(tell: Callable[[], str]) -> None:
    """Declare what the results of the next passes depend on, if a journal is open."""
    found = _CURRENT.get()
    if found is not None:
        found.hear(tell())


@final
class Journal:
    """A folder with the results of passes, for one run."""

    def __init__(self, folder: str | os.PathLike[str], *, seconds: float = SECONDS) -> None:
        self._folder, self.seconds = Path(folder), _check.real("Journal", "seconds", seconds, low=0)
        self._mark = hashlib.sha256(__version__.encode())
        self._pass = 0
        self.resumed = 0
        """Passes whose results were found in the folder."""

    @contextlib.contextmanager
    def open(self) -> Iterator[Journal]:
        """Keep what is reduced inside; when all is done, the folder is removed."""
        token = _CURRENT.set(self)
        try:
            yield self
        finally:
            _CURRENT.reset(token)
        shutil.rmtree(self._folder, ignore_errors=True)

    def hear(self, told: str) -> None:
        """Note what results depend on; it becomes part of the mark of the run."""
        self._mark.update(told.encode())

    def _begin(self) -> None:
        """Start a run in an empty folder, or make sure that the one there is the same."""
        self._folder.mkdir(parents=True, exist_ok=True)
        head, mark = self._folder / "mark.json", self._mark.hexdigest()
        if head.exists():
            if json.loads(head.read_text(encoding="utf-8")).get("mark") != mark:
                error = InputError(f"{self._folder} belongs to a run on other data or with other parameters.")
                error.add_note("Remove the folder, or name another one, to start from the beginning.")
                raise error
            return
        if any(self._folder.iterdir()):
            raise InputError(f"{self._folder} is not empty, and holds no run to resume. Name another folder.")
        with replacing(head) as stream:
            stream.write(json.dumps({"mark": mark}).encode())

    def next_pass(self) -> int:
        """The number of the pass that begins."""
        if not self._pass:
            self._begin()
        self._pass += 1
        return self._pass

    def finished(self, number: int) -> list[Any] | None:
        """The result of a pass, in a list of one; None if it was not finished."""
        found = self._read(self._folder / f"pass-{number}.npz")
        if found is None:
            return None
        self.resumed += 1
        return [found[0]]

    def finish(self, number: int, result: Any) -> None:
        """Keep the result of a pass; its parts are no longer needed."""
        self._write(self._folder / f"pass-{number}.npz", result, {})
        (self._folder / "partial.npz").unlink(missing_ok=True)

    def partial(self, number: int) -> tuple[int, Waiting[Any]]:
        """How many stretches of a pass are done, and their sums."""
        found = self._read(self._folder / "partial.npz")
        if found is None or found[1].get("pass") != number:
            return 0, {}
        sums, told = found
        return int(told["done"]), {tuple(place): part for place, part in zip(told["places"], sums, strict=True)}

    def keep(self, number: int, done: int, waiting: Waiting[Any]) -> None:
        """Write partial sums of a pass."""
        told = {"pass": number, "done": done, "places": [list(place) for place in waiting]}
        self._write(self._folder / "partial.npz", list(waiting.values()), told)

    def _write(self, path: Path, value: Any, told: dict[str, Any]) -> None:
        arrays: list[Any] = []
        form = _taken_apart(value, arrays)
        head = np.array(json.dumps({"form": form, **told}))
        with replacing(path) as stream:
            np.savez(stream, head=head, **{f"a{number}": array for number, array in enumerate(arrays)})

    @undisturbed
    def _read(self, path: Path) -> tuple[Any, dict[str, Any]] | None:
        if not path.exists():
            return None
        try:
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
                told = json.loads(str(stored["head"]))
                return _put_together(told["form"], lambda number: stored[f"a{number}"]), told
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{path} is damaged, and the run cannot be resumed. Remove its folder.") from error


@final
class _Kept:
    """Reduces stretch by stretch over the same tree, reports progress, and keeps results in a journal."""

    def __init__(self, executor: Reducer, journal: Journal | None) -> None:
        self._executor, self._journal = executor, journal

    def reduce(
        self, task: Callable[[Item], Result], items: Sequence[Item], combine: Callable[[Result, Result], Result]
    ) -> Result:
        journal, number = self._journal, 0
        done = 0
        waiting: Waiting[Result] = {}
        if journal is not None:
            number = journal.next_pass()
            found = journal.finished(number)
            if found is not None:
                known: Result = found[0]
                return known
            done, waiting = journal.partial(number)
        size = stretch_length(getattr(self._executor, "count", 1))
        last = (len(items) - 1) // size
        written, timed = time.monotonic(), _deadline.Work(f"a pass over {len(items):,} blocks", len(items))
        with reporting("Reading blocks") as report:
            parts = [items[stretch * size : (stretch + 1) * size] for stretch in range(done, last + 1)]
            for stretch, found_there in enumerate(self._stretches(task, parts, combine), done):
                climb(waiting, stretch, found_there, last, combine)
                report((stretch + 1) / (last + 1))
                timed.advance(len(parts[stretch - done]))
                if journal is not None and stretch < last and time.monotonic() - written >= journal.seconds:
                    journal.keep(number, stretch + 1, waiting)
                    written = time.monotonic()
        result = waiting[TOP]
        if journal is not None:
            journal.finish(number, result)
        return result

    def _stretches(
        self,
        task: Callable[[Item], Result],
        parts: Sequence[Sequence[Item]],
        combine: Callable[[Result, Result], Result],
    ) -> Iterator[Result]:
        """The sum over each stretch; workers elsewhere begin the next one before the result of the last has arrived."""
        ahead = getattr(self._executor, "stretches", None)
        if ahead is not None:
            yield from ahead(task, parts, combine)
        else:
            yield from (self._executor.reduce(task, part, combine) for part in parts)


def stretch_length(count: int) -> int:
    """Blocks in a stretch, a power of two, for an executor that works on so many at a time."""
    return max(_STRETCH, 1 << (4 * count - 1).bit_length())


def _taken_apart(value: Any, arrays: list[Any]) -> Any:
    """Nested lists and tuples of arrays as JSON, with the arrays separate."""
    if isinstance(value, list | tuple):
        return ["tuple" if isinstance(value, tuple) else "list", *(_taken_apart(part, arrays) for part in value)]
    arrays.append(np.asarray(value))
    return len(arrays) - 1


def _put_together(form: Any, array: Callable[[int], Any]) -> Any:
    if isinstance(form, int):
        return array(form)
    parts = [_put_together(part, array) for part in form[1:]]
    return tuple(parts) if form[0] == "tuple" else parts
