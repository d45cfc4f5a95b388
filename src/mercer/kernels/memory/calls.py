"""A cache of values of users' functions, shared by the parts of one task: outer and inner folds, weights and machine.

Within `once`, a function of two objects is called only once for each pair, as long as there is room for its values.
Objects do not change within one call of the library, so no value can be stale.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any, final

import numpy as np

from mercer._process import within
from mercer._types import Float64

_MOST = 4096
"""The most objects whose values are kept: 128 MiB. For more objects, the values of all pairs would take gigabytes in
addition to their matrices."""


@final
class Calls:
    """The values of one function, for pairs of objects identified by content or by identity."""

    def __init__(self, symmetric: bool) -> None:
        self._symmetric = symmetric
        self._numbers: dict[Hashable, int] = {}
        self._objects: list[Any] = []  # kept alive, so that no identity is reused
        self._values: Float64 = np.full((64, 64), np.nan)
        self._writing = threading.Lock()

    def value(self, x: Any, z: Any, compute: Callable[[Any, Any], float]) -> float:
        """The value of a pair, computed at the first request."""
        i, j = self._number(x), self._number(z)
        if i < 0 or j < 0:
            return compute(x, z)
        known = float(self._values[i, j])
        if known == known:
            return known
        found = compute(x, z)
        with self._writing:
            self._values[i, j] = found
            if self._symmetric:
                self._values[j, i] = found
        return found

    def _number(self, item: Any) -> int:
        key = _key(item)
        number = self._numbers.get(key)
        if number is not None:
            return number
        with self._writing:
            number = self._numbers.get(key, len(self._objects))
            if number == len(self._objects):
                if number == _MOST:
                    return -1
                self._objects.append(item)
                if number == len(self._values):
                    larger = np.full((2 * number, 2 * number), np.nan)
                    larger[:number, :number] = self._values
                    self._values = larger
                self._numbers[key] = number
        return number


def _key(item: Any) -> Hashable:
    if isinstance(item, str):
        return item
    return item.tobytes() if isinstance(item, np.ndarray) else id(item)


_CALLS: ContextVar[dict[Any, Calls] | None] = ContextVar("values of functions", default=None)


@contextlib.contextmanager
def once() -> Iterator[None]:
    """Within the block, functions are called once for each pair of objects; nested blocks share the values."""
    if _CALLS.get() is not None:
        yield
        return
    with within(_CALLS, {}):
        yield


def calls_of(kernel: Any, symmetric: bool) -> Calls | None:
    """The known values of a kernel's function, within `once`."""
    kept = _CALLS.get()
    if kept is None:
        return None
    found = kept.get(kernel)
    return found if found is not None else kept.setdefault(kernel, Calls(symmetric))
