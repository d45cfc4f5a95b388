"""Box problems on a float32 matrix, solved for the kernel itself: steps in single precision, residuals in double.

Problem   a `BoxProblem` whose matrix is known to seven digits, and whose solution must be accurate to more
Given     a Gram matrix that can compute rows in float64, at more than twice the cost (`Gram.refined`)
Result    b, Kb in float64 with a bound on its errors; optimal for the kernel to within the tolerance
Source    iterative refinement, Wilkinson, Rounding errors in algebraic processes (1963), for box problems

With K = S + E for the matrix S in float32, Kb = K b0 + S (b - b0) + E (b - b0): once K b0 is known, the remaining error
shrinks with the moves from b0. So the problem is solved on S, Kb is computed, and the problem is solved again from
there, each time with an error smaller by orders of magnitude. Usually none of this is needed: the effect of float32 is
bounded, from the errors of entries or from a sample of rows, and if the solution is optimal despite it, nothing more is
done.

Only rows of objects that could matter are computed in float64: those with a coefficient, and those close to getting
one. For all others the loss is flat within any possible error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import numpy.typing as npt

from mercer import _deadline
from mercer._types import Float64, Indices
from mercer.errors import TimeLimitError
from mercer.gram.contract import Gram, InDouble
from mercer.gram.finer import hardest_of, lengths
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.box.step_rules import rule_for
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.solution import Solution, Stats, Status

_SHARE = 0.9
"""The float32 problem is solved to this fraction of the tolerance; the rest is left for its errors. A smaller fraction
takes more steps in every problem, a larger one means that more problems are refined."""
_AGAIN = 0.5
"""The same once errors are known to matter: each round is repeated with smaller errors, so it may leave more."""
_DEVIATIONS = 6.0
"""A sum of errors stays within this many standard deviations, except in one case in a billion."""
_NEAR = 2.0
"""Safety factor on the largest measured error. The true maximum is hardly larger, since the worst objects are
measured."""
_SAMPLED = 96
"""Number of rows of each kind whose error is measured: spread evenly over those with a coefficient and over the others,
and those with the largest loss."""
_SAFETY = 4.0
"""Safety factor on the largest error of these rows. Errors are sums of thousands of rounding errors: the largest of a
million is less than twice the largest of a hundred."""
_WORTH = 8
"""A sample is used only if there are this many times as many rows; otherwise all rows that matter are computed at
once."""
_REACH = 2.0
"""An object is ignored if its distance from the margin exceeds its own error by this factor: the level has an error,
too."""
_BETTER = 0.25
"""A round of refinement must reduce the violation at least to this fraction. Otherwise float32 has too few digits for
the problem, and float64 takes over."""


def solve(
    gram: Gram,
    problem: BoxProblem,
    *,
    start: Float64 | None = None,
    tol: float,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """Solve to within `tol` for the kernel in float64, whatever the precision of the matrix."""
    finer = gram.setting.finer
    if finer is None:
        return SMO().solve(gram, problem, start=start, tol=tol, limits=limits, on_chunk=on_chunk)
    if problem.is_hard_margin:  # built from two points whose distance may be close to zero
        return SMO().solve(gram.refined(), problem, start=start, tol=tol, limits=limits, on_chunk=on_chunk)
    return _Refinement(gram, finer, problem, tol, limits or Limits(), on_chunk).solution(start)


@final
@dataclass(frozen=True, eq=False)
class _Known:
    """A point b, and what is known of K @ b."""

    b: Float64
    image: Float64
    off: Float64
    """Error bound for each entry ..."""
    exact: npt.NDArray[np.bool_]
    """... which is only float64 rounding for these entries."""


@final
class _Refinement:
    """The refinement of one problem from float32 to float64."""

    def __init__(
        self,
        gram: Gram,
        finer: InDouble,
        problem: BoxProblem,
        tol: float,
        limits: Limits,
        on_chunk: OnChunk | None,
    ) -> None:
        chosen = gram.axes[0].chosen
        self._gram, self._problem, self._tol = gram, problem, tol
        self._finer = finer if chosen is None else finer.of(chosen)
        self._limits, self._on_chunk = limits, on_chunk
        self._rule = rule_for(problem)
        self._lengths, self._hardness = lengths(gram.diagonal()), self._finer.hardness()
        self._iterations, self._seconds = 0, 0.0

    def solution(self, start: Float64 | None) -> Solution:
        """Solve in float32, then refine until the solution is accurate enough for the kernel itself."""
        if _deadline.is_limited():
            self._finer.rounding()  # bounds the errors of a machine if there is no time to certify it
        found = self._solved(self._gram, self._problem, start, _SHARE * self._tol)
        known = self._bounded_by_entries(found, None)
        try:
            return self._refined(found, known)
        except TimeLimitError:
            return self._finished(known, Status.OUT_OF_TIME)

    def _refined(self, found: Solution, known: _Known) -> Solution:
        """Refine from float32 to float64, in as many rounds as necessary."""
        last = np.inf
        if found.status is Status.OUT_OF_TIME:
            return self._finished(known, found.status)
        known = self._bounded(found, known)
        if not self._enough(known):
            known = self._recomputed(known, None)
        while not self._enough(known):
            if found.status in (Status.OUT_OF_ITERATIONS, Status.OUT_OF_TIME):
                return self._finished(known, found.status)
            gap = self._gap(known)
            if found.status is Status.STALLED or gap > _BETTER * last:
                return self._in_double(known)
            last = gap
            around = replace(self._problem, known=(known.b, known.image))
            found = self._solved(self._gram, around, known.b, _AGAIN * self._tol)
            known = self._recomputed(self._bounded_by_entries(found, known), known)
        return self._finished(known, Status.CONVERGED)

    def _solved(self, gram: Gram, problem: BoxProblem, start: Float64 | None, tol: float) -> Solution:
        limits = self._limits
        if limits.max_iter >= 0:
            limits = replace(limits, max_iter=max(limits.max_iter - self._iterations, 0))
        found = SMO().solve(gram, problem, start=start, tol=tol, limits=limits, on_chunk=self._on_chunk)
        self._iterations += found.stats.iterations
        self._seconds += found.stats.seconds
        return found

    def _finished(self, known: _Known, status: Status) -> Solution:
        b, problem = known.b, self._problem
        F = -(known.image + problem.linear)
        stats = Stats(self._iterations, self._gap(known), self._seconds)
        intercept, objective = self._rule.intercept(b, F, problem), problem.objective(b, F)
        return Solution(b, known.image, intercept, objective, status, stats, known.off)

    def _in_double(self, known: _Known) -> Solution:
        """Continue in float64, on a matrix that is stored if the float32 one was."""
        gram = self._gram.refined()
        if self._gram.in_memory:
            gram = gram.stored_if_it_fits()
        found = self._solved(gram, self._problem, known.b, self._tol)
        return replace(found, stats=replace(found.stats, iterations=self._iterations, seconds=self._seconds))

    # ------------------------------------------------------------------------------------------------------- judgement

    def _gap(self, known: _Known) -> float:
        """The largest violation of optimality that is possible within the error bounds."""
        up, down = self._rule.slopes(known.b, -(known.image + self._problem.linear), self._problem)
        return self._rule.gap(*self._rule.extremes_of(up + known.off, down - known.off))

    def _enough(self, known: _Known) -> bool:
        return self._gap(known) <= self._tol

    def _matter(self, known: _Known) -> npt.NDArray[np.bool_]:
        """Objects with a coefficient, and those that could get one or have a loss within the error bounds."""
        up, down = self._rule.slopes(known.b, -(known.image + self._problem.linear), self._problem)
        highest, lowest = self._rule.extremes_of(up, down)
        slack = np.minimum(lowest - up, down - highest)
        return np.asarray((known.b != 0.0) | ~(slack > _REACH * known.off))

    # ------------------------------------------------------------------------------------------------------ evaluation

    @property
    def _few(self) -> bool:
        return len(self._lengths) <= _WORTH * 3 * _SAMPLED

    def _bounded_by_entries(self, found: Solution, before: _Known | None) -> _Known:
        """The possible violation, from bounds on the errors of single entries."""
        b = found.coefficients
        off = self._error(b if before is None else b - before.b, few=self._few)
        if before is not None:
            off = off + before.off
        return _Known(b, found.outputs, off, np.zeros(len(b), dtype=bool))

    def _bounded(self, found: Solution, known: _Known) -> _Known:
        """The same; if that is too large, from the measured errors of a sample of rows."""
        if self._few or self._enough(known):
            return known
        b = found.coefficients
        used, idle = np.flatnonzero(b), np.flatnonzero(b == 0.0)
        ids = np.concatenate((_spread(used, _SAMPLED), _spread(idle, _SAMPLED), hardest_of(self._hardness, _SAMPLED)))
        ids = np.unique(ids)
        return self._seen(known, ids, self._products(ids, b))

    def _error(self, moves: Float64, *, few: bool) -> Float64:
        """A bound on the errors of K @ moves, from the largest errors of entries.

        Errors of a few entries have random signs and add up accordingly, except those of near neighbours, which are the
        largest. Among many entries, equal values have equal errors, so their errors do not cancel.
        """
        sizes, rounding = np.abs(moves) * self._lengths, self._finer.rounding()
        total = np.zeros(2)
        for place, weights in enumerate((sizes, sizes * self._hardness)):
            most = _NEAR * rounding.largest * float(weights.sum())
            together = _DEVIATIONS * rounding.typical * math.sqrt(float(weights @ weights))
            near = _NEAR * rounding.largest * float(weights.max(initial=0.0))
            total[place] = 0.5 * (min(together + near, most) if few else most)
        return np.asarray(self._lengths * (total[0] * self._hardness + total[1]))

    def _seen(self, known: _Known, ids: Indices, products: Float64, before: _Known | None = None) -> _Known:
        """What is known once these rows are computed in float64; their errors also bound those of the other rows."""
        image, off, exact = known.image.copy(), known.off.copy(), known.exact.copy()
        if len(ids) >= _SAMPLED:  # too few to say anything about the others
            scale = self._lengths * self._hardness
            errors = np.abs(products - known.image[ids]) / scale[ids]
            already = 0.0 if before is None else before.off
            off = np.minimum(off, already + _SAFETY * float(errors.max()) * scale)
        image[ids], off[ids], exact[ids] = products, 0.0, True
        return _Known(known.b, image, off, exact)

    def _recomputed(self, known: _Known, before: _Known | None) -> _Known:
        """All rows that matter in float64, starting from the previous point where that is known."""
        while True:
            wanted = self._matter(known) & ~known.exact
            if not wanted.any():
                return known
            ids = np.flatnonzero(wanted)
            if before is None or not before.exact[ids].all():
                products = self._products(ids, known.b)
            else:
                products = before.image[ids] + self._products(ids, known.b - before.b)
            known = self._seen(known, ids, products, before)

    def _products(self, ids: Indices, b: Float64) -> Float64:
        """K[ids] @ b in float64."""
        columns = np.flatnonzero(b)
        objects = np.union1d(ids, columns)
        rows = self._gram.refined(objects).view(np.searchsorted(objects, ids), np.searchsorted(objects, columns))
        return rows.matvec(b[columns])


def _spread(ids: Indices, count: int) -> Indices:
    """At most `count` of them, evenly spread."""
    return ids if len(ids) <= count else ids[np.linspace(0, len(ids) - 1, count).astype(np.intp)]
