"""What an algorithm of the slides did, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from mercer._types import Float64, Int64


@final
@dataclass(frozen=True, eq=False)
class Trace:
    """One value after each recorded step, ready to plot: ``plt.plot(trace.steps, trace.values)``.

    >>> import numpy as np
    >>> trace = Trace("objective", np.array([0, 1, 2]), np.array([3.0, 1.0, 2.0]))
    >>> len(trace), trace.last, trace.best
    (3, 2.0, 1.0)
    """

    what: str
    """What was recorded: the objective, or the number of mistakes."""
    steps: Int64
    """The number of steps before each value; 0 is the start."""
    values: Float64
    diverged: bool = False
    """Whether the values grew beyond the largest float, which ended the run."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def last(self) -> float:
        return float(self.values[-1])

    @property
    def best(self) -> float:
        return float(self.values.min())
