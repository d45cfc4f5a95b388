"""A kernel that stores its values in a folder: each pair of objects is compared only once."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer import _check, _deadline
from mercer._types import DType, Float64, Floating, Index, Indices
from mercer.errors import KernelError, TimeLimitError
from mercer.inputs.base import Objects
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.base import Features, FittedKernel, Kernel, State
from mercer.kernels.memory.names import identity_of, names_of
from mercer.kernels.memory.store import StoreTile, ValueStore

_LARGEST_BLOCK = 256
"""Objects per block for cheap kernels: tiles of half a megabyte."""
_UNSAVED = 1.0
"""Seconds after which new values are stored, if one value does not take longer: that much is lost by a kill ..."""
_STORING = 10.0
"""... or a multiple of the time that storing takes, some milliseconds for each file: it must not be what takes long."""
_SAME = 1e-6
"""The relative difference between a value and the stored one above which a folder is not trusted."""
_OPEN: dict[str, ValueStore] = {}
_CHECKED: set[str] = set()
"""Folders that were empty, or of which a value was compared with what the kernel gives now."""
_opening = threading.Lock()


@final
@dataclass(frozen=True, eq=False)
class NumberedFeatures:
    """The features of a kernel, with the objects and their numbers in the folder."""

    store: ValueStore
    objects: Objects
    inner: Features
    numbers: Indices

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, index: Index) -> NumberedFeatures:
        return NumberedFeatures(self.store, self.objects.take(index), self.inner.take(index), self.numbers[index])


@final
@dataclass(frozen=True)
class Remembered(OfKernel):
    """The values of `kernel`, stored in a folder: every value is computed once and read from there, also in later runs.

    For expensive kernels: alignments, walks, Python functions. A fit that was killed continues where it stopped when it
    is started again. New objects are compared with old ones and with each other, but no old pair is computed again.
    Searches, final fits, predictions and diagnoses share all values, also across processes that run at the same time:
    one computes a tile while the others wait for it. Objects are identified by their content, so their order does not
    matter.

    Parameters
    ----------
    kernel : the kernel, which must be symmetric: for a function of yours, ``FromFunction(function, symmetric=True)``.
    folder : where values are stored; one folder can serve many kernels. It may be deleted when no job is running.
    n_jobs : processes that compute values; useful for Python functions, which hold the interpreter lock. Whatever they
        call must be importable or defined in the function itself.
    key : a function from an object to plain data (a name, a tuple of numbers), for objects that are not plain data.

    After a change to the code of a function, its values are computed again. A change in what it calls is not detected
    directly, but one value is recomputed and compared when a process first uses a folder.

    >>> import tempfile
    >>> from mercer import kernels
    >>> def shared(a, b):
    ...     return float(len(set(a) & set(b)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kernel = kernels.Remembered(kernels.FromFunction(shared, "strings", symmetric=True), folder)
    ...     kernel.fit(["abc", "bcd"])(["abc", "bcd"])
    array([[3., 2.],
           [2., 3.]])
    """

    kernel: Kernel
    folder: str
    n_jobs: int = 1
    key: Callable[[Any], Any] | None = None

    reason = "it has the values of the kernel"

    def __post_init__(self) -> None:
        _check.instance("Remembered", "kernel", self.kernel, Kernel, "a kernel")
        object.__setattr__(self, "folder", os.fspath(self.folder))
        _check.integer("Remembered", "n_jobs", self.n_jobs, low=1)
        if self.key is not None and not callable(self.key):
            raise _check.fail("Remembered", "key", "a function of one object, or None", self.key)
        if not self.kernel.symmetric:
            rule = "a kernel with k(x, z) = k(z, x); of a function of yours say FromFunction(function, symmetric=True)"
            raise _check.fail("Remembered", "kernel", rule, self.kernel)

    @property
    def domain(self) -> type[Objects]:
        return self.kernel.domain

    def resolve(self, objects: Any) -> State:
        return self.kernel.resolve(objects)

    def features(self, objects: Any, state: State, dtype: DType) -> NumberedFeatures:
        inner = self.kernel.features(objects, state, np.float64)
        store = self._store(state)
        block = math.isqrt(min(self.kernel.tile_entries(inner, inner, state), _LARGEST_BLOCK**2))
        return NumberedFeatures(store, objects, inner, store.register(names_of(objects, self.key), max(1, block)))

    def tile_entries(self, left: NumberedFeatures, right: NumberedFeatures, state: State) -> int:
        return self.kernel.tile_entries(left.inner, right.inner, state)

    def single_precision(self, features: NumberedFeatures, state: State) -> bool:
        return bool(self.diagonal(features, state).max(initial=0.0) < self.kernel.largest_in_single)

    def diagonal(self, features: NumberedFeatures, state: State) -> Float64:
        store, numbers = features.store, features.numbers
        values = store.diagonal(numbers)
        if np.isnan(values).any():
            blocks = np.unique(store.blocks_of(numbers)).tolist()
            with _held(store, [store.tile(block, block) for block in blocks]):
                self._compute_diagonal(features, state)
            values = store.diagonal(numbers)
        return values

    def _compute_diagonal(self, features: NumberedFeatures, state: State) -> None:
        store, numbers = features.store, features.numbers
        unknown = np.flatnonzero(np.isnan(store.diagonal(numbers)))
        new, first = np.unique(numbers[unknown], return_index=True)  # equal objects have one number
        if len(new) == len(numbers):  # the whole batch: some kernels cache results in its features
            found = self.kernel.diagonal(features.inner, state)[first]
        else:
            found = self.kernel.diagonal(features.inner.take(unknown[first]), state)
        store.put_values(new, new, np.diag(found), np.eye(len(new), dtype=bool))

    def tile(self, left: NumberedFeatures, right: NumberedFeatures, state: State, out: Floating) -> None:
        store = left.store
        rows, row_of, places = np.unique(left.numbers, return_index=True, return_inverse=True)
        columns, column_of, others = np.unique(right.numbers, return_index=True, return_inverse=True)
        values = store.values(rows, columns)
        if np.isnan(values).any():
            with _held(store, store.between(rows, columns)):
                values = store.values(rows, columns)  # others may have computed them meanwhile
                wanted = np.isnan(values)
                self._check_once(left.take(row_of), right.take(column_of), state, values)
                needed = wanted & ~_mirrored(rows, columns)
                for done in self._compute(left.take(row_of), right.take(column_of), state, needed, values):
                    high, wide = np.flatnonzero(done.any(axis=1)), np.flatnonzero(done.any(axis=0))
                    part = np.ix_(high, wide)
                    store.put_values(rows[high], columns[wide], values[part], done[part])
                values = store.values(rows, columns)
        else:
            self._check_once(left, right, state, values[np.ix_(places, others)])
        out[...] = values[np.ix_(places, others)]

    def _compute(
        self, left: NumberedFeatures, right: NumberedFeatures, state: State, needed: Any, values: Float64
    ) -> Iterator[Any]:
        """Compute the missing entries, and say from time to time which are to be stored: a kill loses the others.

        Rows that lack the same columns are computed together.
        """
        patterns, group = np.unique(needed, axis=0, return_inverse=True)
        new, since, storing, pace = np.zeros(needed.shape, dtype=bool), time.monotonic(), 0.0, _Pace()
        for number, pattern in enumerate(patterns):
            rows, columns = np.flatnonzero(group.ravel() == number), np.flatnonzero(pattern)
            for some, others in _pieces(rows, columns, pace):
                began, place = time.monotonic(), np.ix_(some, others)
                values[place] = self._between(left.take(some), right.take(others), state)
                new[place] = True
                now = time.monotonic()
                pace.took(now - began, len(some) * len(others))
                if now - since > max(_UNSAVED / 2, _STORING * storing):
                    yield new
                    new[:], since = False, time.monotonic()
                    storing = since - now
        yield new

    def _between(self, left: NumberedFeatures, right: NumberedFeatures, state: State) -> Float64:
        if self.n_jobs == 1:
            out = np.empty((len(left), len(right)))
            self.kernel.tile(*self.kernel.align(left.inner, right.inner, state), state, out)
            return out
        from joblib.externals.loky import get_reusable_executor

        future = get_reusable_executor(max_workers=self.n_jobs).submit(
            values_between, self.kernel, state, left.objects, right.objects
        )
        left_seconds = _deadline.left()
        try:
            found: Float64 = future.result(None if math.isinf(left_seconds) else max(0.0, left_seconds))
        except TimeoutError as error:
            future.cancel()
            raise TimeLimitError("Time ran out while other processes computed kernel values.") from error
        return found

    def _check_once(self, left: NumberedFeatures, right: NumberedFeatures, state: State, values: Float64) -> None:
        """Compare one stored value with the one that the kernel gives now."""
        folder = str(left.store.folder)
        known = np.argwhere(~np.isnan(values))
        if folder in _CHECKED or not len(known):
            return
        _CHECKED.add(folder)
        i, j = known[len(known) // 2]
        out = np.empty((1, 1))
        one, other = (side.inner.take(np.array([place])) for side, place in ((left, i), (right, j)))
        self.kernel.tile(*self.kernel.align(one, other, state), state, out)
        if abs(out[0, 0] - values[i, j]) > _SAME * max(1.0, abs(values[i, j])):
            raise KernelError(
                f"The folder {self.folder!r} holds {values[i, j]:g} for a pair of objects for which {self.kernel} "
                f"gives {out[0, 0]:g} now. Has a function that it calls changed? Delete the folder {folder!r} "
                "to recompute its values."
            )

    def _store(self, state: State) -> ValueStore:
        identity = identity_of(self.kernel, state)
        path = str(Path(self.folder).absolute() / identity)
        with _opening:
            store = _OPEN.get(path)
            if store is None or not store.exists:
                store = _OPEN[path] = ValueStore.open(path, f"{identity} {self.kernel}"[:1000])
                (_CHECKED.discard if len(store) else _CHECKED.add)(path)
            return store


def values_between(kernel: Kernel, state: State, left: Objects, right: Objects) -> Float64:
    """The values between two batches of objects; runs in a separate process."""
    fitted = FittedKernel(kernel, state)
    out = np.empty((len(left), len(right)))
    fitted.tile(*fitted.align(fitted.features(left), fitted.features(right)), out)
    return out


@final
@dataclass
class _Pace:
    """How many entries are computed at once: as many as take half of the time after which they are stored."""

    at_once: int = 1

    def took(self, seconds: float, entries: int) -> None:
        """Learn from a piece; the next has at most 16 times as many entries, which may be dearer."""
        self.at_once = max(1, int(entries * min(16.0, _UNSAVED / 2 / max(seconds, 1e-9))))


def _pieces(rows: Indices, columns: Indices, pace: _Pace) -> Iterator[tuple[Indices, Indices]]:
    """Rows by columns, some rows or a part of a row at a time; the pace is asked when a piece begins."""
    row = column = 0
    while row < len(rows) and len(columns):
        entries = pace.at_once
        if column or entries < len(columns):
            yield rows[row : row + 1], columns[column : column + entries]
            column += entries
            if column >= len(columns):
                row, column = row + 1, 0
        else:
            several = entries // len(columns)
            yield rows[row : row + several], columns
            row += several


def _mirrored(rows: Indices, columns: Indices) -> Any:
    """Which entries follow by symmetry from another entry of the same block."""
    both = np.isin(rows, columns)[:, None] & np.isin(columns, rows)[None, :]
    return both & (rows[:, None] > columns[None, :])


@contextlib.contextmanager
def _held(store: ValueStore, tiles: list[StoreTile]) -> Iterator[None]:
    """Only one thread of one process computes a tile; all claim tiles in the same order, so there is no deadlock."""
    with contextlib.ExitStack() as stack:
        for tile in sorted(tiles, key=lambda tile: (tile.block, tile.other)):
            stack.enter_context(store.claimed(tile))
        yield
