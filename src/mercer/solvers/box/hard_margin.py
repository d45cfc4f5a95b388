"""The maximum margin itself: C = inf.

Problem   minimise 1/2 |w|^2 subject to y_i (<w, phi(x_i)> + b) >= 1 for all i, with or without b
Given     a Gram matrix and signs y
Result    b_i = y_i alpha_i and the intercept, or a proof that no such w exists
Source    Bennett and Bredensteiner, Duality and geometry in SVM classifiers (2000): the dual is the pair of nearest
          points of the two convex hulls; without intercept, the point of the hull of all y_i phi(x_i) nearest to zero

The nearest points are found by steps along pairs that keep the weights convex. Their difference d gives w = 2 d / |d|^2
(without intercept d / |d|^2). If |d| = 0 the hulls intersect, no hyperplane separates the classes, and the weights
prove it. So the search always ends with a margin or with a proof.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.errors import InseparableError
from mercer.gram.contract import Gram
from mercer.solvers.box.exact_loops import exact_pair_steps
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.drive import Run
from mercer.solvers.solution import Solution, Stats, Status

DOUBLE_TOLERANCE = 1e-6
"""Relative to the largest |phi(x)|: distances that float64 rounding of K cannot distinguish from zero. If smaller, the
search would never end on overlapping classes; if larger, narrow margins would be missed."""
SINGLE_TOLERANCE = 2e-3
"""The same in float32."""
_PASS_ENTRIES = 2e7
"""Entries that one call of the compiled loop reads at most: a few hundredths of a second, so Ctrl-C is answered."""
_CLAIMS = 20
"""How often the target is halved when slopes agree to within the tolerance but decision values do not."""


@final
class HardMarginRun(Run):
    """Nearest points of convex hulls, by the steps of the nu forms on weights without upper bounds."""

    def __init__(self, gram: Gram, problem: BoxProblem, tol: float) -> None:
        self._problem = problem
        self._tol = tol
        self._signs = np.where(problem.upper > 0, 1.0, -1.0)
        self._intercept = problem.total is not None
        # Weights of each group sum to one: of each class, or without an intercept of all y_i phi(x_i) together.
        K: Any = gram.dense()
        turned = self._signs.astype(K.dtype)
        self._K = K if self._intercept else turned[:, None] * K * turned
        self._ways = self._signs if self._intercept else np.ones(len(turned))
        self._positive = (self._signs > 0) if self._intercept else np.zeros(len(turned), dtype=bool)
        self._lower, self._upper = np.where(self._ways > 0, 0.0, -np.inf), np.where(self._ways > 0, np.inf, 0.0)
        self._diagonal = gram.diagonal()
        self._length = float(np.sqrt(self._diagonal.max(initial=0.0)))
        self._tolerance = (DOUBLE_TOLERANCE if K.dtype == np.float64 else SINGLE_TOLERANCE) * self._length
        self._c = np.zeros(len(turned))
        for group in self._groups():
            first = np.flatnonzero(group)[0]
            self._c[first] = self._ways[first]
        self._F = self._fresh()
        self._claims = 0

    def _groups(self) -> list[npt.NDArray[np.bool_]]:
        return [group for group in (self._positive, ~self._positive) if group.any()]

    def _fresh(self) -> Float64:
        """-Kc, for the signed weights c."""
        used = np.flatnonzero(self._c)
        return -np.asarray(self._c[used] @ self._K[used].astype(np.float64, copy=False))

    def step(self, iterations: int) -> None:
        limit = min(iterations, max(16, int(_PASS_ENTRIES / len(self._c))))
        # Slopes must agree to this fraction of |d|^2 for decision values to agree to `tol`.
        aim = self._tol / 8.0 / 2.0 ** min(self._claims, _CLAIMS) * max(self._square(), 0.0)
        did, _ = exact_pair_steps(
            self._K, self._diagonal, self._c, self._F, self._lower, self._upper, np.zeros(len(self._c)),
            self._positive, aim, limit,
        )  # fmt: skip
        self.iterations += did
        if did < limit or self._square() <= self._tolerance**2:
            self._F = self._fresh()
            if self._square() <= self._tolerance**2:
                self._refuse()
            self._claims += 1
        self.gap = self._scaled_gap()
        if did < limit and self.gap <= self._tol:
            self.done = True
        elif did == 0 and self._claims > _CLAIMS:
            self.done, self.status = True, Status.STALLED

    def _square(self) -> float:
        """|d|^2."""
        return -float(self._c @ self._F)

    def _scaled(self) -> tuple[Float64, Float64]:
        """Coefficients of the machine, and F = y - K b."""
        slopes, weights = -self._ways * self._F, np.abs(self._c)
        width = float(sum(slopes[group & (weights > 0)].mean() for group in self._groups()))  # |d|^2 at the optimum
        scale = (2.0 if self._intercept else 1.0) / width if width > 0 else 1.0
        return scale * weights * self._signs, self._signs * (1.0 - scale * slopes)

    def _scaled_gap(self) -> float:
        return self._problem.violation(*self._scaled())

    def _refuse(self) -> None:
        distance = float(np.sqrt(max(self._square(), 0.0)))
        positive = np.where(self._signs > 0, np.abs(self._c), 0.0)
        negative = np.where(self._signs < 0, np.abs(self._c), 0.0)
        if self._intercept:
            what = (
                f"the convex hulls of the two classes meet: a mixture of {np.count_nonzero(positive)} objects of one "
                f"and a mixture of {np.count_nonzero(negative)} of the other"
            )
        else:
            what = f"a convex combination of {np.count_nonzero(self._c)} of the y_i phi(x_i) is zero; it"
        raise InseparableError(
            f"No hyperplane separates the classes without error: {what} lie {distance:.2g} apart in feature space, "
            f"within the tolerance of {self._tolerance:.2g}. Use a finite C, or a richer kernel.",
            positive=positive,
            negative=negative,
            distance=distance,
            tolerance=self._tolerance,
        )

    def finish(self, status: Status, stats: Stats) -> Solution:
        b, F = self._scaled()
        intercept = float(F[b != 0].mean()) if self._intercept else 0.0
        return Solution(b, -F - self._problem.linear, intercept, self._problem.objective(b, F), status, stats)
