"""The maximum margin itself: C = inf.

Problem   minimise 1/2 |w|^2 subject to y_i (<w, phi(x_i)> + b) >= 1 for all i, with or without b
Given     a Gram matrix and signs y
Result    b_i = y_i alpha_i and the intercept, or a proof that no such w exists
Source    Bennett and Bredensteiner, Duality and geometry in SVM classifiers (2000): the dual is the pair of nearest
          points of the two convex hulls; without intercept, the point of the hull of all y_i phi(x_i) nearest to zero

The nearest points are found by steps along pairs whose weights stay convex. Their difference d gives w = 2 d / |d|^2
(without intercept d / |d|^2). When |d| vanishes the hulls meet, no hyperplane separates, and the weights are the proof.
So the search always ends: the minimum of |d| is either zero or it is not.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.errors import InseparableError
from mercer.gram.contract import Gram
from mercer.solvers.box.pair_loops import SMALLEST_CURVATURE
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.drive import Run
from mercer.solvers.solution import Solution, Stats, Status

# Relative to the largest |phi(x)|: distances that rounding of K in this precision cannot tell from zero.
DOUBLE_TOLERANCE = 1e-6
SINGLE_TOLERANCE = 2e-3
_PASS_ENTRIES = 2e7


def applies(problem: BoxProblem) -> bool:
    """Whether a problem is a hard margin: unbounded coefficients on one side, and slope -y."""
    if np.isfinite(problem.upper).all() and np.isfinite(problem.lower).all():
        return False
    signs = np.where(problem.upper > 0, 1.0, -1.0)
    unbounded = np.isinf(np.where(signs > 0, problem.upper, problem.lower)).all()
    grounded = (np.where(signs > 0, problem.lower, problem.upper) == 0.0).all()
    two_sided = problem.total is None or (problem.total == 0.0 and len(np.unique(signs)) == 2)
    return bool(len(signs) and unbounded and grounded and two_sided and (problem.linear == -signs).all())


@final
class HardMarginRun(Run):
    """Nearest points of convex hulls."""

    def __init__(self, gram: Gram, problem: BoxProblem, tol: float) -> None:
        self._problem = problem
        self._tol = tol
        self._K: Any = gram.dense()
        self._diagonal = gram.diagonal()
        self._signs = np.where(problem.upper > 0, 1.0, -1.0)
        self._intercept = problem.total is not None
        # Convex weights of each group sum to one: of each class, or without an intercept of all objects together.
        self._groups = (self._signs < 0).astype(np.int64) if self._intercept else np.zeros(len(self._signs), np.int64)
        precise = self._K.dtype == np.float64
        self._tolerance = DOUBLE_TOLERANCE if precise else SINGLE_TOLERANCE
        self._length = float(np.sqrt(self._diagonal.max(initial=0.0)))
        self._weights = np.zeros(len(self._signs))
        for group in np.unique(self._groups):
            self._weights[np.flatnonzero(self._groups == group)[0]] = 1.0
        self._slopes = self._fresh()
        self._claims = 0

    def _fresh(self) -> Float64:
        """y_i (K c)_i for the signed weights c."""
        used = np.flatnonzero(self._weights)
        signed = (self._weights * self._signs)[used]
        products: Float64 = signed @ self._K[used].astype(np.float64, copy=False)
        return self._signs * products

    def step(self, iterations: int) -> None:
        limit = min(iterations, max(16, int(_PASS_ENTRIES / len(self._signs))))
        smallest = (self._tolerance * self._length) ** 2
        did, converged = _nearest_steps(
            self._K,
            self._diagonal,
            self._signs,
            self._groups,
            self._weights,
            self._slopes,
            self._aim(),
            smallest,
            limit,
        )
        self.iterations += did
        if not converged:
            self.gap = self._scaled_gap()
            return
        self._slopes = self._fresh()
        square = self._square()
        if square <= smallest:
            self._refuse(square)
        self.gap = self._scaled_gap()
        self._claims += 1
        if self.gap <= self._tol:
            self.done = True
        elif did == 0 and self._claims > 20:
            self.done, self.status = True, Status.STALLED

    def _aim(self) -> float:
        """The share of |d|^2 to which slopes must agree, so that decision values do to `tol`."""
        return self._tol / 8.0 / 2.0 ** min(self._claims, 20)

    def _square(self) -> float:
        return float(self._weights @ self._slopes)

    def _scaled(self) -> tuple[Float64, Float64]:
        """Coefficients of the machine, and F = y - K b."""
        ends = [self._slopes[(self._groups == g) & (self._weights > 0)].mean() for g in np.unique(self._groups)]
        width = float(sum(ends))  # |d|^2 at the optimum
        scale = (2.0 if self._intercept else 1.0) / width if width > 0 else 1.0
        return scale * self._weights * self._signs, self._signs * (1.0 - scale * self._slopes)

    def _scaled_gap(self) -> float:
        b, F = self._scaled()
        rising, falling = (self._signs > 0) | (b < 0), (self._signs < 0) | (b > 0)
        if self._intercept:
            return max(0.0, float(F[rising].max(initial=-np.inf) - F[falling].min(initial=np.inf)))
        return max(0.0, float(F[rising].max(initial=0.0)), float(-F[falling].min(initial=0.0)))

    def _refuse(self, square: float) -> None:
        distance = float(np.sqrt(max(square, 0.0)))
        positive = np.where(self._signs > 0, self._weights, 0.0)
        negative = np.where(self._signs < 0, self._weights, 0.0)
        if self._intercept:
            what = (
                f"the convex hulls of the two classes meet: a mixture of {np.count_nonzero(positive)} objects of one "
                f"and a mixture of {np.count_nonzero(negative)} of the other"
            )
        else:
            what = f"a convex combination of {np.count_nonzero(self._weights)} of the y_i phi(x_i) is zero; it"
        raise InseparableError(
            f"No hyperplane separates the classes without error: {what} lie {distance:.2g} apart in feature space, "
            f"within the tolerance of {self._tolerance * self._length:.2g}. Use a finite C, or a richer kernel.",
            positive=positive,
            negative=negative,
            distance=distance,
            tolerance=self._tolerance * self._length,
        )

    def finish(self, status: Status, stats: Stats) -> Solution:
        b, F = self._scaled()
        intercept = 0.0
        if self._intercept:
            intercept = float(F[b != 0].mean())
        objective = 0.5 * float(b @ (self._problem.linear - F))
        return Solution(b, -F - self._problem.linear, intercept, objective, status, stats)


@jit
def _nearest_steps(
    K: Array,
    diagonal: Array,
    signs: Array,
    groups: Array,
    weights: Array,
    slopes: Array,
    share: float,
    smallest: float,
    limit: int,
) -> tuple[int, bool]:
    """Move weight between two objects of one group, until slopes within groups agree or |d| is as small as asked."""
    n = weights.shape[0]
    for iteration in range(limit):
        square = 0.0
        i, spread = -1, 0.0
        for group in range(2):
            low, high, place = np.inf, -np.inf, -1
            for t in range(n):
                if groups[t] == group:
                    if slopes[t] < low:
                        low, place = slopes[t], t
                    if weights[t] > 0.0:
                        high = max(high, slopes[t])
                        square += weights[t] * slopes[t]
            if high - low > spread:
                i, spread = place, high - low
        if i < 0 or spread <= share * max(square, 0.0) or square <= smallest:
            return iteration, True
        row = K[i]
        j, best = -1, 0.0
        for t in range(n):
            rise = slopes[t] - slopes[i]
            if groups[t] == groups[i] and weights[t] > 0.0 and rise > 0.0:
                curvature = diagonal[i] + diagonal[t] - 2.0 * signs[i] * signs[t] * row[t]
                gain = rise * rise / max(curvature, SMALLEST_CURVATURE)
                if gain > best:
                    j, best = t, gain
        if j < 0:
            return iteration, True
        other = K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * signs[i] * signs[j] * row[j], SMALLEST_CURVATURE)
        move = min((slopes[j] - slopes[i]) / curvature, weights[j])
        weights[i] += move
        weights[j] = 0.0 if move >= weights[j] else weights[j] - move
        for t in range(n):
            slopes[t] += move * signs[t] * (signs[i] * row[t] - signs[j] * other[t])
    return limit, False
