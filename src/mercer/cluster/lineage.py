"""What the futures of a client are made of, for as long as they live."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable
from typing import Any, final


@final
class Lineage:
    """Lazy values and other futures, by the future that was made of them."""

    def __init__(self) -> None:
        self._parts: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()
        self._own: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()

    def note(self, future: Any, parts: Iterable[Any]) -> None:
        """A future was made of these."""
        self._parts[future] = tuple(parts)

    def add_own(self, future: Any, parts: Iterable[Any]) -> None:
        """More futures that it was made of, in the order in which they were sent; nothing else is made of them."""
        self._own[future] = tuple(parts)
        self._parts[future] = (*self._parts.get(future, ()), *self._own[future])

    def own(self, future: Any) -> tuple[Any, ...]:
        """The futures that were sent for this one alone, in their order."""
        return self._own.get(future, ())

    def futures_of(self, future: Any) -> list[Any]:
        """The futures among its parts."""
        return [part for part in self._parts.get(future, ()) if isinstance(part, type(future))]

    def keys(self, made: Any) -> set[Hashable]:
        """The names of all tasks that make a future or a lazy value."""
        if hasattr(made, "__dask_graph__"):
            return set(made.__dask_graph__())
        return {made.key}.union(*map(self.keys, self._parts.get(made, ())))
