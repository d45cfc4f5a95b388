"""What the algorithms of the slides share: they are driven like every other solver, and leave a trace.

An iteration is one step of the slide. The driver cuts steps into short chunks, so that Ctrl-C, time limits and progress
work; where the cuts fall changes nothing in the result.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import final

from mercer._types import Float64
from mercer.lectures.trace import Recorder, Trace
from mercer.solvers.drive import Limits, OnChunk, Run, drive
from mercer.solvers.solution import Solution, Stats, Status


@final
@dataclass(frozen=True, eq=False)
class TracedFit:
    """One machine: signed coefficients of the training objects (or weights of the features), and how it came about."""

    coefficients: Float64
    intercept: float
    trace: Trace
    status: Status
    updates: Float64 | None = None
    """How often a perceptron was corrected by each object."""


class LectureRun(Run):
    """An algorithm under way, with a recorder of `what` it is judged by."""

    def __init__(self, what: str) -> None:
        self.recorder = Recorder(what)
        self.diverged = False

    @abstractmethod
    def point(self) -> tuple[Float64, Float64, float]:
        """Coefficients or weights, the outputs on the training objects less the intercept, and the intercept."""

    def finish(self, status: Status, stats: Stats) -> Solution:
        coefficients, outputs, intercept = self.point()
        return Solution(coefficients, outputs, intercept, self.trace.last, status, stats)

    def result(self, limits: Limits | None, on_chunk: OnChunk | None) -> TracedFit:
        """Run to the end, or as far as the limits allow; the status says which."""
        found = drive(self, 0.0, limits or Limits(), on_chunk, time.monotonic())
        return TracedFit(found.coefficients, found.intercept, self.trace, found.status)

    @property
    def trace(self) -> Trace:
        return self.recorder.trace(diverged=self.diverged)
