"""Estimates the cost of all work on a Gram matrix before it begins, and refuses absurd amounts.

entries x the measured cost of an entry, as often as each is computed + passes over stored entries + products with many
vectors + flops of a direct solver. The estimate is measured on this machine under its current load. It is accurate to
within a factor of about two, enough to tell minutes from days.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer import _deadline, _speed
from mercer.errors import CostError, CostWarning
from mercer.gram import budget
from mercer.gram.contract import Gram
from mercer.gram.cost import MULTIPLY
from mercer.gram.executors import default_threads

SAID, REFUSED = 120.0, 3600.0
"""Seconds above which a cost is announced, and above which it is refused unless a time limit allows it."""
_ASKED, _ASKED_IF_DEAR = 1e8, 1e5
"""The number of entries above which the cost is estimated, for cheap and for expensive kernels: fewer take seconds at
most, and the estimate takes some hundredths of a second.
"""
_AGAIN = 5
"""How often cheap entries are timed again before minutes of work are announced: some tenths of a second."""
_SECONDS_PER_BYTE = 2e-10  # reading stored entries from memory, at five gigabytes a second
_SECONDS_PER_PRODUCT = 1e-9 * MULTIPLY
"""Multiplying an entry by a number of a wide vector, on one core."""


@final
@dataclass(frozen=True)
class Effort:
    """What a learner does with its matrix."""

    owner: str
    """The name of the learner, for messages."""
    passes: float = 1.0
    """The approximate number of products with the whole matrix: each recomputes all entries if they are not stored."""
    flops_per_cube: float = 0.0
    """The cost of decompositions of the whole matrix, in float64: see `_speed`."""
    columns: float = 0.0
    """The number of vectors in all products together, where these are many: each entry is multiplied by as many
    numbers, which takes longer than to compute it.
    """
    remedy: str = "Train on a random part of the objects, or on landmarks: kernels.Nystrom(kernel, 1000)."

    def announce(self, gram: Gram) -> None:
        """Announce long work, and refuse absurd work."""
        n, m = gram.shape
        if n * m < (_ASKED_IF_DEAR if gram.expensive else _ASKED) or gram.in_memory or gram.factor is not None:
            return
        what = f"{self.owner} on {max(n, m):,} objects"
        if self.flops_per_cube:
            budget.require(16 * n * m, gram.budget, f"{what} (two matrices in float64)", self.remedy)
        stored = gram.fits()
        seconds = self._seconds(gram, gram.seconds, stored=stored)
        if seconds > SAID and not gram.expensive and not _deadline.is_limited():
            # The machine may have been busy with something else for a moment.
            again = min(gram.view(np.arange(n), np.arange(m)).seconds for _ in range(_AGAIN))
            seconds = min(seconds, self._seconds(gram, again, stored=stored))
        _deadline.expect(seconds)
        if seconds < SAID or _deadline.is_limited():  # a limit ends what takes too long, and says so
            return
        times = "" if stored else f", each about {self.passes:,.0f} times, since they do not fit into memory"
        said = (
            f"{what} will take about {_deadline.shown_seconds(seconds)}: {n * m:,} kernel values{times}. {self.remedy}"
        )
        if seconds > REFUSED:
            raise CostError(f"{said} To go ahead all the same, say how long it may take: time_limit.")
        warnings.warn(said, CostWarning, stacklevel=5)

    def _seconds(self, gram: Gram, entries: float, *, stored: bool) -> float:
        """The seconds of all of the work, if computing all entries once takes so many."""
        n, m = gram.shape
        computed = entries * (1.0 if stored else self.passes)
        read = _SECONDS_PER_BYTE * gram.bytes * self.passes if stored else 0.0
        multiplied = _SECONDS_PER_PRODUCT * n * m * self.columns / default_threads()
        return computed + read + multiplied + _speed.seconds(self.flops_per_cube, n)
