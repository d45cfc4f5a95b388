"""How much each object counts where a kernel reads a parameter off the data, such as gamma="scale".

A weight of two is two objects, in a variance as everywhere else. Kernels are made of kernels, and most parameters
depend on no data: so weights are not handed through all of them, but lie ready while a kernel is fitted, and whoever
needs some asks for those of its objects.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._process import within
from mercer._types import Float64

CURRENT: contextvars.ContextVar[Float64 | None] = contextvars.ContextVar("mercer_weights", default=None)
"""None where all count the same, which small work finds out without calling anything here."""


@contextlib.contextmanager
def weighing(weights: Any) -> Iterator[None]:
    """Kernels that are fitted inside count their objects by these weights; None, or equal ones, count each once.

    >>> from mercer import kernels
    >>> kernel, X = kernels.RBF(), [[0.0], [1.0], [1.0]]
    >>> with weighing([1.0, 2.0]):
    ...     weighted = kernel.fit([[0.0], [1.0]])
    >>> weighted.state.number("gamma") == kernel.fit(X).state.number("gamma")
    True
    """
    found = None if weights is None else np.asarray(weights, dtype=np.float64)
    if found is not None and (found.ndim != 1 or not len(found) or (found == found[0]).all()):
        found = None
    with within(CURRENT, found):
        yield


def weights_of(objects: Any) -> Float64 | None:
    """The weights of these objects; None where all count the same, or objects are a sample of those weighed."""
    found = CURRENT.get()
    return None if found is None or len(found) != len(objects) else found
