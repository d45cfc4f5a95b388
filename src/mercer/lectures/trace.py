"""What a teaching solver did, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64


@final
@dataclass(frozen=True, eq=False)
class Trace:
    """One value after each recorded step, ready to plot: ``plt.plot(trace.steps, trace.values)``.

    >>> trace = Trace("objective", np.array([0, 1, 2]), np.array([3.0, 1.0, 2.0]))
    >>> len(trace), trace.last, trace.best
    (3, 2.0, 1.0)
    """

    what: str
    """What was recorded: the objective, or the number of mistakes."""
    steps: npt.NDArray[np.int64]
    """After how many steps; 0 is the start."""
    values: Float64
    diverged: bool = False
    """Whether the values outgrew all numbers, so that the run was ended."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def last(self) -> float:
        return float(self.values[-1])

    @property
    def best(self) -> float:
        return float(self.values.min())


@final
class Recorder:
    """Collects a trace."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._steps: list[int] = []
        self._values: list[float] = []

    def add(self, step: int, value: float) -> None:
        self._steps.append(step)
        self._values.append(value)

    def trace(self, *, diverged: bool = False) -> Trace:
        return Trace(self._what, np.array(self._steps, dtype=np.int64), np.array(self._values), diverged)
