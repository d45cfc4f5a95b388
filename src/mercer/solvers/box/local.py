"""A dense problem in the form that compiled loops want, with their scratch space."""

from __future__ import annotations

from typing import final

import numpy as np

from mercer._types import Float64, Floating
from mercer.gram.pair_rows import PairRows
from mercer.solvers.box.conjugate import Direction
from mercer.solvers.box.problem import BoxProblem

_RESOLUTION = 4 * float(np.finfo(np.float32).eps)
"""Gaps below so large a share of F are lost in the rounding of float32: steps would go on without end. Larger, and the
slower float64 loops take over too early."""
_SMALLEST, _LARGEST = 1e-15, 1e15
"""Sizes whose squares, as gains are, float32 can still hold."""


@final
class LocalProblem:
    """All of a problem, or the part of a working set, with its block of the matrix. Loops change `b` and `F`."""

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
        """The matrix, with all of its rows."""
        return self.pair.whole()

    def beyond_single(self, gap: float) -> bool:
        """Whether float32 cannot tell who is furthest, where a gap is small next to F or its square not a float32."""
        largest = float(np.abs(self.F).max(initial=0.0))
        return gap < max(_RESOLUTION * largest, _SMALLEST) or largest > _LARGEST
