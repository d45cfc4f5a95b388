"""What one step of a solver moves: a pair of coefficients whose sum stays, or a single one.

Everything around the steps (working sets, rows, checks, limits) is the same for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Floating
from mercer.gram.pair_rows import PairRows
from mercer.solvers.box import pair_loops, single_loops
from mercer.solvers.box.conjugate import Direction
from mercer.solvers.box.face import MOST_WORK, Face, descend
from mercer.solvers.box.problem import BoxProblem

_PASSES = 4
_RESOLUTION = 4 * float(np.finfo(np.float32).eps)
_SMALLEST, _LARGEST = 1e-15, 1e15


@final
class Local:
    """A dense problem in the form that compiled loops want, with their scratch space."""

    def __init__(
        self,
        matrix: Floating | PairRows,
        diagonal: Float64,
        b: Float64,
        F: Float64,
        lower: Float64,
        upper: Float64,
        kink: Float64 | None = None,
    ) -> None:
        n = len(b)
        self.kink = np.zeros(n) if kink is None else kink
        self.pair = matrix if isinstance(matrix, PairRows) else PairRows.of(matrix)
        self.diagonal = diagonal.astype(self.pair.square.dtype)
        self.b, self.F, self.lower, self.upper = b, F, lower, upper
        self.rising = np.empty(n, dtype=np.float32)
        self.falling = np.empty(n, dtype=np.float32)
        pair_loops.bars(b, lower, upper, self.rising, self.falling)
        self.made = 0
        """Steps made so far."""
        self.scratch = np.empty(n, dtype=np.float32)
        self.bits = self.scratch.view(np.int32)
        self.direction = Direction(n)

    @property
    def K(self) -> Floating:
        """The matrix, with all of its rows."""
        return self.pair.whole()


def inside(b: Float64, problem: BoxProblem) -> npt.NDArray[np.bool_]:
    """Which coefficients rest on none of their bounds."""
    within: npt.NDArray[np.bool_] = (b > problem.lower) & (b < problem.upper)
    return within


def plain_face(local: Local, sides: int) -> Face:
    """The face of coefficients that rest on none of their bounds, with no sum that stays or one of them all."""
    ids = np.flatnonzero((local.b > local.lower) & (local.b < local.upper))
    return Face(ids, local.F[ids], local.lower[ids], local.upper[ids], np.ones((len(ids), sides)))


def face_of(local: Local, sides: Float64) -> Face:
    """The face of coefficients that rest neither on a bound nor on a kink; `sides` has a row per coefficient."""
    b, kinked = local.b, local.kink > 0.0
    ids = np.flatnonzero((b > local.lower) & (b < local.upper) & ((b != 0.0) | ~kinked))
    sign = np.where(kinked[ids], np.sign(b[ids]), 0.0)
    low = np.where(sign > 0, np.maximum(local.lower[ids], 0.0), local.lower[ids])
    high = np.where(sign < 0, np.minimum(local.upper[ids], 0.0), local.upper[ids])
    return Face(ids, local.F[ids] - sign * local.kink[ids], low, high, sides[ids])


def middle(highest: float, lowest: float) -> float:
    """The middle of the interval that optimality leaves, or its one end that is finite."""
    if np.isfinite(highest) and np.isfinite(lowest):
        return (highest + lowest) / 2
    return float(highest if np.isfinite(highest) else lowest if np.isfinite(lowest) else 0.0)


def beyond_single(F: Float64, gap: float) -> bool:
    """Whether float32 cannot tell who is furthest, so that steps would go on without end.

    So it is where a gap is small beside F, and where its square is too large or too small a number.
    """
    largest = float(np.abs(F).max(initial=0.0))
    return gap < max(_RESOLUTION * largest, _SMALLEST) or largest > _LARGEST


class Moves(ABC):
    """A kind of step: how it is made, and how far a point is from where no such step helps."""

    @abstractmethod
    def steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        """At most `limit` steps; how many were made, and the gap that is left."""

    @abstractmethod
    def exact_steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        """The same, slower, with all comparisons in float64."""

    @abstractmethod
    def extremes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
        """(highest, lowest): what may rise and lies above `lowest`, or may fall and lies below `highest`, violates."""

    @abstractmethod
    def slopes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[Float64, Float64]:
        """The F of a rise and that of a fall, on the scale of `extremes`."""

    @abstractmethod
    def free(self, b: Float64, problem: BoxProblem) -> npt.NDArray[np.bool_]:
        """Which coefficients rest on nothing, and so move again and again."""

    @abstractmethod
    def face(self, local: Local) -> Face:
        """The coefficients that rest on nothing, and the sums that steps keep."""

    @final
    def polish(self, local: Local) -> int:
        """Move all of these coefficients at once, where steps have become slow; the steps that would take as long."""
        work = 0.0
        while work < MOST_WORK:
            face = self.face(local)
            work += float(len(face.ids)) ** 3 + 1.0
            if not descend(local, face):
                break
        pair_loops.bars(local.b, local.lower, local.upper, local.rising, local.falling)
        local.direction = Direction(len(local.b))
        return int(work / (_PASSES * len(local.b)))

    @abstractmethod
    def gap(self, highest: float, lowest: float) -> float:
        """The largest violation."""

    @abstractmethod
    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        """The intercept that belongs to a solution."""


@final
class Pairs(Moves):
    """One coefficient up, another down: the sum stays."""

    def steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s, pair, last = local, local.pair, local.direction
        did, gap = pair_loops.pair_steps(
            pair.square, pair.there, pair.first, pair.second, pair.across, s.diagonal, s.b, s.F, s.lower, s.upper,
            s.rising, s.falling, tol, limit, s.made, s.scratch, s.bits,
            last.p, last.image, last.places, last.listed, last.length, last.state,
        )  # fmt: skip
        s.made += did
        return did, gap

    def exact_steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s = local
        result = pair_loops.exact_pair_steps(s.K, s.diagonal, s.b, s.F, s.lower, s.upper, tol, limit)
        pair_loops.bars(s.b, s.lower, s.upper, s.rising, s.falling)
        s.direction = Direction(len(s.b))  # the last one of the other kind of steps is not the last any more
        return result

    def extremes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
        return pair_loops.extremes(b, F, problem.lower, problem.upper)

    def slopes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[Float64, Float64]:
        return F, F

    def free(self, b: Float64, problem: BoxProblem) -> npt.NDArray[np.bool_]:
        return inside(b, problem)

    def face(self, local: Local) -> Face:
        return plain_face(local, sides=1)

    def gap(self, highest: float, lowest: float) -> float:
        return max(highest - lowest, 0.0)

    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        """The mean of F over free coefficients; without any, the middle of the interval that optimality leaves."""
        free = inside(b, problem)
        return float(F[free].mean()) if free.any() else middle(*self.extremes(b, F, problem))


@final
class Singles(Moves):
    """One coefficient by itself: there is no intercept, and no sum to keep."""

    def steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s = local
        scale = (1.0 / np.maximum(s.diagonal, pair_loops.SMALLEST_CURVATURE)).astype(np.float32)
        did, gap = single_loops.single_steps(
            s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, s.rising, s.falling, tol, limit, s.made, s.scratch,
            s.bits, scale,
        )  # fmt: skip
        s.made += did
        return did, gap

    def exact_steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s = local
        return single_loops.exact_single_steps(s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, tol, limit)

    def extremes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
        up, down = problem.slopes(b, F)
        return float(up.max(initial=0.0)), float(down.min(initial=0.0))

    def slopes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[Float64, Float64]:
        return problem.slopes(b, F)

    def free(self, b: Float64, problem: BoxProblem) -> npt.NDArray[np.bool_]:
        return problem.free(b)

    def face(self, local: Local) -> Face:
        return face_of(local, np.ones((len(local.b), 0)))

    def gap(self, highest: float, lowest: float) -> float:
        return max(highest, -lowest)

    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        return 0.0
