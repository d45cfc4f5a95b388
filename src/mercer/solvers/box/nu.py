"""Steps for the nu-forms: the sum of the positive coefficients stays, and so does that of the negative ones."""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.solvers.box import nu_loops, pair_loops
from mercer.solvers.box.face import Face
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import Local, Moves, inside, middle, plain_face


@final
class SidedPairs(Moves):
    """One coefficient up, another of the same side of zero down."""

    def steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s = local
        positive = s.upper > 0
        closed = np.float32(-np.inf)
        rising, negative = np.where(positive, s.rising, closed), np.where(positive, closed, s.rising)
        second = np.empty(len(s.b), dtype=np.float32)
        did, gap = nu_loops.sided_steps(
            s.K, s.diagonal, s.b, s.F, s.lower, s.upper, rising, negative, s.falling, positive, tol, limit, s.made,
            s.scratch, s.bits, second, second.view(np.int32),
        )  # fmt: skip
        pair_loops.bars(s.b, s.lower, s.upper, s.rising, s.falling)
        s.made += did
        return did, gap

    def exact_steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s = local
        result = nu_loops.exact_sided_steps(s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.upper > 0, tol, limit)
        pair_loops.bars(s.b, s.lower, s.upper, s.rising, s.falling)
        return result

    def extremes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
        gap = nu_loops.side_gap(b, F, problem.lower, problem.upper, problem.upper > 0)
        return 0.5 * gap, -0.5 * gap

    def slopes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[Float64, Float64]:
        """F around the middle of the gap of its side, so that violators of both sides can be told by one threshold."""
        positive = problem.upper > 0
        high, low, negative_high, negative_low = nu_loops.side_extremes(b, F, problem.lower, problem.upper, positive)
        level = F - np.where(positive, middle(high, low), middle(negative_high, negative_low))
        return level, level

    def free(self, b: Float64, problem: BoxProblem) -> npt.NDArray[np.bool_]:
        return inside(b, problem)

    def face(self, local: Local) -> Face:
        whole = plain_face(local, sides=1)
        positive = (local.upper[whole.ids] > 0).astype(np.float64)
        return replace(whole, sides=np.column_stack((positive, 1.0 - positive)))

    def gap(self, highest: float, lowest: float) -> float:
        return max(highest - lowest, 0.0)

    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        """Half-way between the levels of the two sides."""
        return sum(side_levels(b, F, problem)) / 2


def side_levels(b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
    """The F that free coefficients share at the optimum: of the positive side, and of the negative."""
    positive = problem.upper > 0
    free = inside(b, problem)
    high, low, negative_high, negative_low = nu_loops.side_extremes(b, F, problem.lower, problem.upper, positive)
    sides = ((positive, high, low), (~positive, negative_high, negative_low))
    first, second = (
        float(F[free & side].mean()) if (free & side).any() else middle(top, bottom) for side, top, bottom in sides
    )
    return first, second
