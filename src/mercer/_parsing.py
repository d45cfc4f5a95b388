"""Python's parser in several threads.

Before 3.11.8, threads that parse at the same time share a counter, and one of them may fail with a SystemError although
its text is sound (python/cpython#106905). NumPy parses the header of every array that it reads, so reading files in
threads fails now and then. What has no other effect is simply done again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

_DISTURBED = "recursion depth mismatch"
"""What CPython says of it."""
_TRIES = 20
"""One suffices nearly always: a second thread has to be interrupted within the same few microseconds."""


def disturbed(error: BaseException) -> bool:
    """Whether an error came from another thread that was parsing at the same time."""
    return isinstance(error, SystemError) and _DISTURBED in str(error)


def undisturbed(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """A function that parses, and may be called again where another thread disturbed it."""

    @functools.wraps(function)
    def again(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        for _ in range(_TRIES - 1):
            try:
                return function(*args, **kwargs)
            except SystemError as error:
                if not disturbed(error):
                    raise
        return function(*args, **kwargs)

    return again
