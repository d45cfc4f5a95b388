"""A dense problem as compiled loops take it, with their scratch space and the state kept between their calls."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Floating
from mercer.gram.stored import PairRows
from mercer.solvers.box.problem import BoxProblem

_RESOLUTION = 4 * float(np.finfo(np.float32).eps)
"""Gaps below this fraction of F are lost in float32 rounding, and steps would never end. With a larger value, the
slower float64 loops would take over too early."""
_SMALLEST, _LARGEST = 1e-15, 1e15
"""The range of numbers whose squares (gains are squares) float32 can represent."""


@final
class Direction:
    """The last direction p, and the other state kept from one step to the next."""

    def __init__(self, n: int) -> None:
        self.p = np.zeros(n)
        self.image = np.zeros(n)
        """Kp."""
        self.places = np.zeros(n, dtype=np.int64)
        """Indices at which p may be nonzero."""
        self.listed = np.zeros(n, dtype=bool)
        self.length = np.zeros(1)
        """p'Kp."""
        self.state: Any = np.zeros(3, dtype=np.int64)
        """The number of listed indices, whether steps are currently conjugate, and how many recent steps ended on a
        bound."""


@final
class LocalProblem:
    """A whole problem, or that of a working set, with its block of the matrix. Loops change `b` and `F`."""

    def __init__(
        self, matrix: Floating | PairRows, diagonal: Float64, b: Float64, F: Float64, problem: BoxProblem
    ) -> None:
        n = len(b)
        self.pair = matrix if isinstance(matrix, PairRows) else PairRows.of(matrix)
        self.diagonal = diagonal.astype(self.pair.square.dtype)
        self.b, self.F, self.problem = b, F, problem
        self.lower, self.upper = problem.lower, problem.upper
        self.kink = np.zeros(n) if problem.kink is None else problem.kink
        self.positive = problem.positive
        self.rising, self.falling, self.scratch = (np.empty(n, dtype=np.float32) for _ in range(3))
        self.bits = self.scratch.view(np.int32)
        self.made = 0
        """Steps made so far."""
        self.direction = Direction(n)

    @property
    def K(self) -> Floating:
        """The matrix with all its rows."""
        return self.pair.whole()

    def fresh(self) -> Float64:
        """-(Kb + linear), summed in float64."""
        values, moves = self.problem.begun(self.b)
        used = np.flatnonzero(moves)
        self.pair.ensure(used)
        subtract_rows(values, self.pair.square, used, moves[used], 0, len(values))
        return values

    def beyond_single(self, gap: float) -> bool:
        """Whether float32 cannot rank the candidates: the gap is small relative to F, or its square is out of range."""
        largest = float(np.abs(self.F).max(initial=0.0))
        return gap < max(_RESOLUTION * largest, _SMALLEST) or largest > _LARGEST


@jit
def subtract_rows(F: Array, matrix: Array, places: Array, moves: Array, start: int, stop: int) -> None:
    """F[start:stop] -= sum over rows of move * matrix[place, start:stop], four rows at a time, in float64."""
    count = places.shape[0]
    part = F[start:stop]
    whole = count // 4 * 4
    for r in range(0, whole, 4):
        first, second = matrix[places[r], start:stop], matrix[places[r + 1], start:stop]
        third, fourth = matrix[places[r + 2], start:stop], matrix[places[r + 3], start:stop]
        a, b, c, d = moves[r], moves[r + 1], moves[r + 2], moves[r + 3]
        for t in range(part.shape[0]):
            part[t] -= a * first[t] + b * second[t] + c * third[t] + d * fourth[t]
    for r in range(whole, count):
        row, move = matrix[places[r], start:stop], moves[r]
        for t in range(part.shape[0]):
            part[t] -= move * row[t]
