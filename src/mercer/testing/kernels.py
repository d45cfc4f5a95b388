"""The conformance suite of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from mercer.kernels.base import FittedKernel, Kernel
from mercer.testing.checks import COPIED, Check, RoundTrips, require, run_all
from mercer.testing.records import record_checks
from mercer.testing.samples import objects_for
from mercer.testing.values import Subject, block, value_checks


def kernel_checks(kernel: Kernel, objects: Any = None, *, round_trips: RoundTrips = COPIED) -> Iterator[Check]:
    """Every property that a kernel promises, as named checks to be called one by one.

    `objects` is what the kernel is tried on, at least a dozen, in any form that it parses; without them, the first of
    the samples of `objects_for`. `round_trips` are ways of copying that must keep equality and values.

    >>> from mercer import kernels
    >>> from mercer.testing import kernel_checks
    >>> for check in kernel_checks(kernels.RBF(gamma=0.5)):
    ...     check()
    """
    given = next(iter(objects_for(kernel).values())) if objects is None else kernel.coerce(objects)
    if len(given) < 12:
        raise ValueError(f"The checks need at least 12 objects to slice and permute, got {len(given)}.")
    subject = Subject(kernel, given)
    yield from record_checks(kernel)
    yield from value_checks(subject)
    for name, copied in round_trips.items():
        yield Check(f"kernel_round_trip_{name}", partial(_round_trip, subject, name, copied))


def check_kernel(kernel: Kernel, objects: Any = None, *, round_trips: RoundTrips = COPIED) -> None:
    """Run every check of `kernel_checks`; AssertionError lists those that fail.

    >>> from mercer import kernels
    >>> from mercer.testing import check_kernel
    >>> check_kernel(kernels.Linear() * kernels.RBF(gamma=0.5))
    """
    run_all(kernel, kernel_checks(kernel, objects, round_trips=round_trips))


def _round_trip(subject: Subject, name: str, copied: Callable[[Any], Any]) -> None:
    """A copy of the kernel is equal; copies of the state, the fitted kernel and the features compute the same."""
    twin = copied(subject.kernel)
    require(twin == subject.kernel and hash(twin) == hash(subject.kernel), f"the kernel after {name} is another")
    fitted: FittedKernel = copied(subject.fitted)
    rebuilt = FittedKernel(twin, copied(subject.fitted.state))
    for other, features in ((fitted, copied(subject.features)), (rebuilt, subject.features)):
        got = block(other, features, features)
        require(np.array_equal(got, subject.tile), f"the fitted kernel after {name} computes other values")
