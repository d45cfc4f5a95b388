"""A property that is computed once, without a lock.

Before Python 3.12, `functools.cached_property` holds one lock for all instances of a class while it computes: threads
that work on different objects wait for each other, and a process that is forked meanwhile waits for ever. Here two
threads that ask the same object at once may both compute, and one of the two equal values is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:  # noqa: N801 - a decorator
        """As `functools.cached_property` from Python 3.12 on."""

        def __init__(self, function: Any) -> None:
            self._function, self._name, self.__doc__ = function, function.__name__, function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # Not a data descriptor: what stands in the dictionary is found before this is asked.
            value = instance.__dict__[self._name] = self._function(instance)
            return value
