"""A property that is computed once, without a lock.

Before Python 3.12, `functools.cached_property` holds one lock for all instances of a class while it computes: threads
that work on different objects wait for each other, and a process forked meanwhile waits forever. Here, two threads may
both compute the value of the same object, and one of the two equal values is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - a decorator
        """Like `functools.cached_property` of Python 3.12."""

        def __init__(self, function: Any) -> None:
            self._function, self._name, self.__doc__ = function, function.__name__, function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # Not a data descriptor: a value in the dictionary takes precedence.
            value = instance.__dict__[self._name] = self._function(instance)
            return value
