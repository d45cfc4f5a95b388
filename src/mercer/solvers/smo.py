"""Sequential minimal optimisation with second-order working sets, for problems with the sum constraint.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper,  sum(b) = total
Given     a Gram matrix K and a `BoxProblem` with a total
Result    b, the intercept, and the largest violation of the optimality conditions
Source    Fan, Chen and Lin, Working set selection using second order information (2005), algorithm 2, written for
          signed coefficients b_i = y_i alpha_i

With F = -(Kb + linear), a point is optimal when max F over {b < upper} does not exceed min F over {b > lower}. Each
step moves one coefficient up and one down along the pair with the largest guaranteed gain. K may be float32, F is
float64 and is recomputed from scratch before convergence is claimed.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.gram.matrix import Gram
from mercer.solvers.drive import Run, Solver
from mercer.solvers.problem import BoxProblem
from mercer.solvers.solution import Float64, Solution, Stats, Status

_SMALLEST_CURVATURE = 1e-12


class SMO(Solver):
    """Pairs of coefficients at a time, on a stored Gram matrix."""

    def init(self, gram: Gram, problem: BoxProblem, *, start: Float64 | None, tol: float) -> Run:
        return _SMORun(gram, problem, start, tol)


class _SMORun(Run):
    def __init__(self, gram: Gram, problem: BoxProblem, start: Float64 | None, tol: float) -> None:
        self._problem = problem
        self._tol = tol
        self._K = gram.dense()
        self._diagonal = gram.diagonal()
        self._b = np.zeros(len(problem.linear)) if start is None else start.copy()
        self._F = self._fresh()
        self._claims = 0

    def _fresh(self) -> Float64:
        used = np.flatnonzero(self._b)
        values = -self._problem.linear.copy()
        for start in range(0, len(used), 256):  # float64 sums of float32 rows, in short blocks
            part = used[start : start + 256]
            values -= self._b[part] @ self._K[part].astype(np.float64)
        return values

    def step(self, iterations: int) -> None:
        problem = self._problem
        did, gap = _steps(
            self._K, self._diagonal, self._b, self._F, problem.lower, problem.upper, self._tol, iterations
        )
        self.iterations += did
        self.gap = gap
        if gap > self._tol:
            return
        before = self._F
        self._F = self._fresh()
        self.gap = _gap(self._b, self._F, problem.lower, problem.upper)
        self._claims += 1
        if self.gap <= self._tol:
            self.done = True
        elif self._claims > 100 or np.array_equal(before, self._F):
            self.done, self.status = True, Status.STALLED

    def finish(self, status: Status, stats: Stats) -> Solution:
        problem = self._problem
        objective = 0.5 * float(self._b @ (problem.linear - self._F))
        intercept = _intercept(self._b, self._F, problem)
        return Solution(self._b, -self._F - problem.linear, intercept, objective, status, stats)


def _intercept(b: Float64, F: Float64, problem: BoxProblem) -> float:
    """The mean of F over free coefficients; without any, the middle of the interval that optimality leaves."""
    free = (b > problem.lower) & (b < problem.upper)
    if free.any():
        return float(F[free].mean())
    highest = F[b < problem.upper].max(initial=-np.inf)
    lowest = F[b > problem.lower].min(initial=np.inf)
    if np.isfinite(highest) and np.isfinite(lowest):
        return float((highest + lowest) / 2)
    return float(highest if np.isfinite(highest) else lowest if np.isfinite(lowest) else 0.0)


@jit
def _gap(b: Array, F: Array, lower: Array, upper: Array) -> float:
    highest, lowest = -np.inf, np.inf
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            highest = max(highest, F[t])
        if b[t] > lower[t]:
            lowest = min(lowest, F[t])
    return max(highest - lowest, 0.0)


@jit
def _steps(
    K: Array, diagonal: Array, b: Array, F: Array, lower: Array, upper: Array, tol: float, limit: int
) -> tuple[int, float]:
    n = b.shape[0]
    for iteration in range(limit):
        i, highest = -1, -np.inf
        for t in range(n):
            if b[t] < upper[t] and F[t] > highest:
                i, highest = t, F[t]
        if i < 0:
            return iteration, 0.0
        row = K[i]
        j, best, lowest = -1, -1.0, np.inf
        for t in range(n):
            if b[t] > lower[t]:
                lowest = min(lowest, F[t])
                rise = highest - F[t]
                if rise > 0.0:
                    curvature = max(diagonal[i] + diagonal[t] - 2.0 * row[t], _SMALLEST_CURVATURE)
                    gain = rise * rise / curvature
                    if gain > best:
                        j, best = t, gain
        if j < 0 or highest - lowest <= tol:
            return iteration, max(highest - lowest, 0.0)
        other = K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], _SMALLEST_CURVATURE)
        move = (highest - F[j]) / curvature
        up, down = upper[i] - b[i], b[j] - lower[j]
        move = min(move, up, down)
        b[i] = upper[i] if move >= up else b[i] + move  # clipped ones lie exactly on their bounds
        b[j] = lower[j] if move >= down else b[j] - move
        for t in range(n):
            F[t] -= move * (row[t] - other[t])
    return limit, _gap(b, F, lower, upper)
