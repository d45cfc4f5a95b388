"""State shared by many fits on the same objects: where the last one ended, and a way to stop them all."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.losses.base import Loss
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.problem import LossProblem

_ONE_FACTOR = 1e-9
"""Ratios of box sizes that differ by less count as equal. A larger tolerance would give starts that violate the sum."""

_Key = tuple[Loss, bytes, bool]


@final
@dataclass(frozen=True, eq=False)
class WarmStart:
    """Passed by a search to estimators that it fits in turn on the same objects with different penalties.

    Problems are told apart by their loss, their targets and whether there is an intercept (without one, coefficients
    have no sum to keep), so machines may be trained in any order.
    """

    stop: threading.Event = field(default_factory=threading.Event)
    """Set from outside: every running solver then raises `Stopped` within a fraction of a second."""
    warm: bool = True
    """Whether a problem starts where it ended before."""
    _ended: dict[_Key, tuple[BoxProblem, Float64]] = field(default_factory=dict)

    def stop_of_one_fit(self) -> threading.Event:
        """An event for the machines of one fit: set when `stop` is, but a failing fit does not stop the others."""
        return _Below(self.stop)

    def start(self, problem: LossProblem, box: BoxProblem) -> Float64 | None:
        """A feasible start: where the same problem ended with other penalties, if it was solved before.

        Coefficients on a bound stay on it, and free ones stay where they were, as far as their sum allows.
        """
        found = self._ended.get(_key(problem))
        if found is None:
            return None
        before, b = found
        size, size_before = box.upper - box.lower, before.upper - before.lower
        if not (np.isfinite(size).all() and np.isfinite(size_before).all()) or (size_before <= 0).any():
            return None
        factor = size / size_before
        if np.ptp(factor) > _ONE_FACTOR * factor[0]:  # factors differ: the sum would change
            return None
        high, low = b >= before.upper, b <= before.lower
        moved = np.where(high, box.upper, np.where(low, box.lower, b))
        missing = float(b.sum() - moved.sum())
        least, most = box.ends(b)
        room = np.where(before.free(b), (most if missing > 0 else least) - moved, 0.0)
        if factor[0] < 1.0 or abs(room.sum()) <= abs(missing):  # one factor for all: always feasible
            return np.where(high | low, moved, np.clip(b * factor[0], box.lower, box.upper))
        return moved + room * (missing / room.sum()) if missing else moved

    def record(self, problem: LossProblem, box: BoxProblem, coefficients: Float64) -> None:
        """Record where a problem ended."""
        if self.warm:
            self._ended[_key(problem)] = (box, coefficients)


def _key(problem: LossProblem) -> _Key:
    return problem.loss, problem.y.tobytes(), problem.intercept


class _Below(threading.Event):
    """An event that is also set when another one is."""

    def __init__(self, above: threading.Event) -> None:
        super().__init__()
        self._above = above

    def is_set(self) -> bool:
        return super().is_set() or self._above.is_set()
