"""Newton's method for the nu forms and for one class, on the weights of few features.

Problem   minimise 1/2 |w|^2 + sum_s (S_s level_s + sum_{i of s} C_i max(0, sign_s (F_i - level_s))) over w and levels,
          F_i = -(<w, x_i> + linear_i): the primal of a `BoxProblem` in which the coefficients on either side of zero
          have a fixed sum S_s
Given     rows x_i, dense or CSR, of up to about a thousand features
Result    b, feasible, with w = sum_i b_i x_i; the levels (F of free coefficients) of both sides; the duality gap
Source    Moreau's envelope as the smooth loss, as in `smoothed`; the levels are minimised out in every step

For given w the best level of a side is where its coefficients add up to their sum: one equation in one unknown. So b is
always feasible, and a smooth function of w alone remains, whose gradient is w - X'b.
"""

from __future__ import annotations

import time
from typing import Any, final

import numpy as np

from mercer._process import single_threaded_blas
from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.gram.cost import MOST_FEATURES
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.drive import Limits, OnChunk, Run, drive
from mercer.solvers.numerics.line_search import flat_point
from mercer.solvers.solution import Solution, Stats, Status
from mercer.solvers.weights.newton import descent_direction
from mercer.solvers.weights.row_products import rows_of

_ROUNDING = 1e-13
"""The relative rounding error of a sum over many coefficients."""
_OFF = 1e-10
"""The relative error of a sum of coefficients above which some of them are moved to correct it."""
_SECTIONS = 200
"""Maximum steps of bisection and Newton's method for a level: a dozen is usual, and bisection alone needs fewer than
this."""
_NARROWER = 8.0
"""The ratio of successive widths. With larger steps more rows change sides at once; with smaller ones more intermediate
optima are computed."""
_NARROWEST = 1e-12
"""Narrower parabolas are lost to rounding."""
_SHARE_OF_TOL = 0.2
"""The fraction of the tolerance allowed for the optimum of one width; the width itself takes the rest."""
_LESS = 0.5
"""A step within rounding of the optimum must reduce the squared gradient to this fraction."""
_FINER = 1e-3
"""If w is accurate enough but the image of b, which lags behind, is not, the current optimum is computed this much more
accurately."""


def applies(gram: Gram, problem: BoxProblem) -> bool:
    """Whether the matrix is made of rows of few features, and every coefficient belongs to a side with a fixed sum."""
    rows = gram.factor
    if rows is None or rows.shape[1] > MOST_FEATURES or problem.total is None or problem.kink is not None:
        return False
    return problem.absolute_sum is not None or bool((problem.lower >= 0).all())


def solve(
    gram: Gram, problem: BoxProblem, *, tol: float, limits: Limits | None = None, on_chunk: OnChunk | None = None
) -> tuple[Solution, tuple[float, float]]:
    """The solution to within a relative duality gap of `tol`, and the levels of both sides."""
    began = time.monotonic()
    with single_threaded_blas():
        run = NuNewtonRun(gram.factor, problem, tol)
        found = drive(run, tol, limits or Limits(), on_chunk, began)
    return found, run.levels


@final
class _Side:
    """The coefficients on one side of zero, as positive numbers."""

    def __init__(self, problem: BoxProblem, sign: float, total: float) -> None:
        bound = problem.upper if sign > 0 else -problem.lower
        self.ids = np.flatnonzero((problem.upper > 0) if sign > 0 else (problem.upper <= 0))
        self.sign, self.total = sign, total
        self.C = bound[self.ids]
        self._last = 0.0

    def heights(self, F: Float64) -> Float64:
        return np.asarray(self.sign * F[self.ids])

    def level(self, heights: Float64, width: float) -> float:
        """Where sum_i C_i clip((height_i - level) / width, 0, 1) is the total."""
        low, high = float(heights.min()) - width, float(heights.max())
        level = min(max(self._last, low), high)
        for _ in range(_SECTIONS):
            share = (heights - level) / width
            held = np.clip(share, 0.0, 1.0, out=share)
            excess = float(self.C @ held) - self.total
            if abs(excess) <= _ROUNDING * self.total:
                break
            low, high = (level, high) if excess > 0 else (low, level)
            steep = float(self.C[(held > 0.0) & (held < 1.0)].sum()) / width
            level += excess / steep if steep > 0 else np.inf
            if not low < level < high:
                level = 0.5 * (low + high)
            if high - low <= np.finfo(np.float64).eps * max(abs(low), abs(high)):
                break
        self._last = level
        return level

    def shares(self, excess: Float64, width: float) -> Float64:
        """Each coefficient as a fraction of its bound; free ones absorb the rounding error of the total.

        If parabolas are narrower than rounding there may be no free ones: then those nearest to the level absorb it.
        """
        share = np.clip(excess / width, 0.0, 1.0)
        free = (share > 0.0) & (share < 1.0)
        if free.any():
            missing = (self.total - float(self.C @ share)) / float(self.C[free].sum())
            share[free] = np.clip(share[free] + missing, 0.0, 1.0)
        missing = self.total - float(self.C @ share)
        if abs(missing) > _OFF * self.total:
            order = np.argsort(-excess if missing > 0 else excess, kind="stable")
            room = (self.C * ((1.0 - share) if missing > 0 else share))[order]
            taken = np.clip(abs(missing) - (np.cumsum(room) - room), 0.0, room)
            share[order] += np.sign(missing) * np.divide(taken, self.C[order], out=np.zeros_like(room), where=room > 0)
            np.clip(share, 0.0, 1.0, out=share)
        return share

    def exact_level(self, heights: Float64) -> float:
        """The same for parabolas of zero width: the height at which the total is reached from above."""
        order = np.argsort(-heights, kind="stable")
        reached = np.searchsorted(np.cumsum(self.C[order]), self.total * (1.0 - _ROUNDING))
        return float(heights[order[min(int(reached), len(order) - 1)]])


@final
class NuNewtonRun(Run):
    """Steps on w by a Cholesky factor of the normal matrix; parabolas are narrowed once their optimum is found."""

    first_chunk = 1

    def __init__(self, rows: Any, problem: BoxProblem, tol: float) -> None:
        self._problem, self._tol, self._inner = problem, tol, _SHARE_OF_TOL * tol
        self._rows = rows_of(rows)
        total, mass = float(problem.total or 0.0), problem.absolute_sum
        sums = [(1.0, total if mass is None else (mass + total) / 2)]
        sums += [] if mass is None else [(-1.0, (mass - total) / 2)]
        self._sides = [_Side(problem, sign, held) for sign, held in sums]
        self.b = np.zeros(len(problem.linear))
        for side in self._sides:  # equal at first: the difference of two means
            self.b[side.ids] = side.sign * side.C * (side.total / side.C.sum())
        self.w = self._rows.combination(self.b)
        F = self._outputs(self.w)
        largest = float(np.abs(F).max()) or 1.0
        self._width = max(float(np.ptp(side.heights(F))) for side in self._sides) or largest
        self._narrowest = _NARROWEST * max(self._width, largest)
        self._evaluate(self.w, F)
        self._best = self.w, F, self.b, self._image

    def _outputs(self, w: Float64) -> Float64:
        return -(self._rows.all_outputs(w) + self._problem.linear)

    def _coefficients(self, F: Float64) -> Float64:
        """The feasible b of these F for the current width; stores where the parabolas are and their cost."""
        b = np.zeros(len(F))
        self._cost, self._curvature = 0.0, np.zeros(len(F))
        for side in self._sides:
            heights = side.heights(F)
            level = side.level(heights, self._width)
            excess = heights - level
            share = side.shares(excess, self._width)
            b[side.ids] = side.sign * side.C * share
            self._cost += side.total * level + float(side.C @ (share * (excess - 0.5 * self._width * share)))
            self._curvature[side.ids] = np.where((share > 0) & (share < 1), side.C / self._width, 0.0)
        return b

    def _evaluate(self, w: Float64, F: Float64) -> None:
        self.w, self._F, self.b = w, F, self._coefficients(F)
        self._image = self._rows.combination(self.b)
        self._gradient = w - self._image
        self._steepness = float(self._gradient @ self._gradient)
        self._value = 0.5 * float(w @ w) + self._cost

    def step(self, iterations: int) -> None:
        del iterations  # one is enough for a chunk
        self.iterations += 1
        size = max(abs(self._value), 0.5 * float(self.w @ self.w), np.finfo(np.float64).tiny)
        settled = 0.5 * self._steepness <= self._inner * size
        if not settled and self._move(size):
            return
        # The machine is given by b: the gap at its image is what matters, and w only approaches that image.
        gap = self._true_gap(self._image, self._outputs(self._image))
        if gap < self.gap:
            self.gap, self._best = gap, (self.w, self._F, self.b, self._image)
        self.done = self.gap <= self._tol
        if self.done:
            return
        if settled and self._true_gap(self.w, self._F) <= self._tol:
            self._inner *= _FINER
        elif self._width <= self._narrowest or (gap > self.gap and not settled):
            self.done, self.status = True, Status.STALLED
        else:
            self._narrow()

    def _narrow(self) -> None:
        """Narrow the parabolas; w is updated as if the rows on them stayed the same, which most of them do."""
        self._width = max(self._width / _NARROWER, self._narrowest)
        curved = self._curvature > 0
        w, F, b = self.w, self._F, self.b.copy()
        for side in self._sides:
            own = curved[side.ids]
            if own.any():
                ids, C = side.ids[own], side.C[own]
                held = float((side.sign * b[ids]).sum())  # what those on the parabola hold together
                heights = side.heights(F)[own]
                level = (float(C @ heights) - self._width * held) / float(C.sum())
                b[ids] = side.sign * C * (heights - level) / self._width
                self._curvature[ids] = C / self._width
        self._gradient = w - self._rows.combination(b)
        direction = self._direction()
        self._evaluate(w, F)
        steepness = self._steepness
        self._evaluate(w + direction, F - self._rows.all_outputs(direction))
        if self._steepness > steepness:
            self._evaluate(w, F)

    def _move(self, size: float) -> bool:
        """Take one descent step; False if rounding leaves none."""
        direction = self._direction()
        descent = float(direction @ self._gradient)
        w, F, change = self.w, self._F, -self._rows.all_outputs(direction)

        def slope(length: float) -> float:
            return float((w + length * direction) @ direction) + float(self._coefficients(F + length * change) @ change)

        # Within rounding of the optimum, values are no guide: a step must reduce the gradient.
        told = -descent > _ROUNDING * size
        length, value, steepness = flat_point(slope, descent) if told else 1.0, self._value, self._steepness
        self._evaluate(w + length * direction, F + length * change)
        if (told and self._value < value) or self._steepness < _LESS * steepness:
            return True
        self._evaluate(w, F)
        return False

    def _direction(self) -> Float64:
        rows, curvature = self._rows, self._curvature
        matrix = rows.normal(curvature)
        matrix.flat[:: len(matrix) + 1] += 1.0
        for side in self._sides:  # levels follow w, which subtracts the mean of the side's curved rows
            own = np.zeros(len(curvature))
            own[side.ids] = curvature[side.ids]
            weight = float(own.sum())
            if weight > 0:
                mean = rows.combination(own) / weight
                matrix -= weight * np.outer(mean, mean)
        np.fill_diagonal(matrix, np.maximum(np.diagonal(matrix), 1.0))  # as it is in exact arithmetic
        return descent_direction(matrix, self._gradient)

    def _true_gap(self, w: Float64, F: Float64) -> float:
        """The relative duality gap between w and b of the problem itself, whose parabolas have zero width."""
        primal = 0.5 * float(w @ w)
        for side in self._sides:
            heights = side.heights(F)
            level = side.exact_level(heights)
            primal += side.total * level + float(side.C @ np.maximum(heights - level, 0.0))
        squared = 0.5 * float(self._image @ self._image)
        dual = -squared - float(self._problem.linear @ self.b)
        return (primal - dual) / max(abs(dual), squared, np.finfo(np.float64).tiny)

    @property
    def levels(self) -> tuple[float, float]:
        """The F of free coefficients on the positive and on the negative side (equal if there is one side)."""
        first, last = (
            side.sign * side.exact_level(side.heights(self._F)) for side in (self._sides[0], self._sides[-1])
        )
        return first, last

    def finish(self, status: Status, stats: Stats) -> Solution:
        gap = self._true_gap(self._image, self._outputs(self._image))
        if gap > self.gap:  # an earlier point was better
            self.w, self._F, self.b, self._image = self._best
        self.gap = min(gap, self.gap)
        products = self._rows.all_outputs(self._image)
        self._F = -(products + self._problem.linear)
        objective = 0.5 * float(self._image @ self._image) + float(self._problem.linear @ self.b)
        return Solution(self.b, products, sum(self.levels) / 2, objective, status, stats)
