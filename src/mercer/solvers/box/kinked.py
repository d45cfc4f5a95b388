"""Steps for coefficients whose cost has a kink at zero: support vector regression with one variable per object."""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.solvers.box import kinked_loops
from mercer.solvers.box.face import Face
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import Local, Moves, face_of, inside, middle


@final
class KinkedPairs(Moves):
    """One coefficient up, another down, neither over zero in one step."""

    def steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s = local
        did, gap = kinked_loops.kinked_steps(
            s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, s.rising, s.falling, tol, limit, s.made, s.scratch,
            s.bits,
        )  # fmt: skip
        s.made += did
        return did, gap

    def exact_steps(self, local: Local, tol: float, limit: int) -> tuple[int, float]:
        s = local
        return kinked_loops.exact_kinked_steps(s.K, s.diagonal, s.b, s.F, s.lower, s.upper, s.kink, tol, limit)

    def extremes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[float, float]:
        return kinked_loops.kinked_gap(b, F, problem.lower, problem.upper, kinks(problem))

    def slopes(self, b: Float64, F: Float64, problem: BoxProblem) -> tuple[Float64, Float64]:
        up, down = np.empty_like(F), np.empty_like(F)
        kinked_loops.slopes(b, F, problem.lower, problem.upper, kinks(problem), up, down)
        return up, down

    def free(self, b: Float64, problem: BoxProblem) -> npt.NDArray[np.bool_]:
        rests: npt.NDArray[np.bool_] = b == 0.0
        return inside(b, problem) & ~rests

    def face(self, local: Local) -> Face:
        return face_of(local, np.ones((len(local.b), 1)))

    def gap(self, highest: float, lowest: float) -> float:
        return max(highest - lowest, 0.0)

    def intercept(self, b: Float64, F: Float64, problem: BoxProblem) -> float:
        free = self.free(b, problem)
        if free.any():
            return float((F[free] - np.sign(b[free]) * kinks(problem)[free]).mean())
        return middle(*self.extremes(b, F, problem))


def kinks(problem: BoxProblem) -> Float64:
    """The kinks of a problem that has some."""
    assert problem.kink is not None
    return problem.kink
