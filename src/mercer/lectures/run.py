"""What the algorithms of the slides share: they are driven like every other solver, and leave a trace.

Each algorithm is a dataclass: its fields are the data and the settings of the slide. An iteration is one step of the
slide. The driver cuts steps into short chunks, so that Ctrl-C, time limits and progress work; where the cuts fall
changes nothing in the result.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from mercer._types import Float64
from mercer.lectures.trace import Trace
from mercer.solvers.drive import CHUNK_SECONDS, Limits, OnChunk, Run, drive
from mercer.solvers.solution import Solution, Stats, Status


@final
@dataclass(frozen=True, eq=False)
class TracedFit:
    """One machine, and how training went."""

    coefficients: Float64
    """Signed coefficients of the training objects, or weights of the features."""
    intercept: float
    trace: Trace
    status: Status
    updates: Float64 | None = None
    """How often a perceptron learnt from each object."""


class LectureRun(Run):
    """An algorithm under way."""

    traced: ClassVar[str] = "objective"
    """What the trace records."""
    steps: int
    """The largest number of steps."""
    diverged: bool = False
    updates: Float64 | None = None

    def __post_init__(self) -> None:
        self._recorded: list[tuple[int, float]] = []

    @abstractmethod
    def point(self) -> tuple[Float64, float]:
        """The coefficients or weights that were reached, and the intercept."""

    def one_step(self) -> None:
        """Make one step, count it, and set `done` after the last; or override `step`."""
        raise NotImplementedError

    def step(self, iterations: int) -> None:
        deadline = time.monotonic() + CHUNK_SECONDS  # a step may be a product with a matrix of gigabytes
        for _ in range(iterations):
            if self.done:
                return
            self.one_step()
            if time.monotonic() > deadline:
                return

    def record(self, step: int, value: float) -> None:
        """Add a value to the trace."""
        self._recorded.append((step, value))

    @property
    def trace(self) -> Trace:
        steps, values = zip(*self._recorded, strict=True)
        return Trace(self.traced, np.array(steps, dtype=np.int64), np.array(values), self.diverged)

    def finish(self, status: Status, stats: Stats) -> Solution:
        coefficients, intercept = self.point()
        not_needed = np.zeros(0)  # outputs on the training objects certify other machines; these have no certificate
        return Solution(coefficients, not_needed, intercept, self._recorded[-1][1], status, stats)

    def fit(self, limits: Limits | None = None, on_chunk: OnChunk | None = None) -> TracedFit:
        """Run to the end, or as far as the limits allow; the status says which."""
        found = drive(self, 0.0, limits or Limits(), on_chunk, time.monotonic())
        return TracedFit(found.coefficients, found.intercept, self.trace, found.status, self.updates)
