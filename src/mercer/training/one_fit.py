"""What every fit takes care of: its time limit, users' functions, and the state of the estimator after an error."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from mercer import _check, _deadline
from mercer.kernels.base import Kernel
from mercer.kernels.memory import calls
from mercer.solvers.drive import Limits


@contextlib.contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Train within the time limit; after an error or an interrupt, leave the estimator as it was."""
    before = dict(estimator.__dict__)
    try:
        with _calling_once(estimator), _in_time(estimator):
            yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def limits_of(estimator: Any, stop: threading.Event | None = None) -> Limits:
    """`max_iter`, if the estimator has it, and the rest of its time."""
    owner = type(estimator).__name__
    max_iter = _check.integer(owner, "max_iter", estimator.max_iter, low=-1) if hasattr(estimator, "max_iter") else -1
    return Limits(max_iter, stop=stop or threading.Event())


def _in_time(estimator: Any) -> contextlib.AbstractContextManager[None]:
    """Limit all work inside the context to the `time_limit` of an estimator."""
    limit = estimator.time_limit
    if limit is None:
        return contextlib.nullcontext()
    return _deadline.limited(_check.real(type(estimator).__name__, "time_limit", limit, low=0, low_open=True))


def _calling_once(estimator: Any) -> contextlib.AbstractContextManager[None]:
    """Call users' functions once for each pair where a kernel is fitted to the values that training needs again.

    Other kernels need each value once anyway, and looking it up would cost them time.
    """
    kernel = getattr(estimator, "kernel", None)
    return calls.once() if isinstance(kernel, Kernel) and kernel.data_dependent else contextlib.nullcontext()
