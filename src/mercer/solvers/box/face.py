"""Newton's method on a face of the box: moves all free coefficients at once.

Problem   minimise 1/2 b'Kb + linear'b over the coefficients inside their bounds, with the others and the sums fixed
Given     K, b, F = -(Kb + linear), and how far each coefficient may move
Result    b and F at the minimum over the face, or where a bound is met on the way; the objective never increases
Source    Scheinberg, An efficient implementation of an active set method for support vector machines (2006); several
          bounds are met at once as in Bertsekas, Projected Newton methods (1982)

Steps along pairs soon identify the coefficients on bounds, but then converge slowly where K is badly conditioned:
features on different scales, large penalties, flat kernels. There one linear system replaces millions of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg

from mercer._types import Float64, Indices
from mercer.solvers.box.local import Direction, LocalProblem, subtract_rows

MOST = 3000
"""The largest linear system that is solved: a fraction of a second."""
_MOST_WORK = 2e9
"""Entries of factors that one sequence of such steps may compute: at most a second of work, usually far less."""
_PASSES = 4
"""A step along a pair passes over a row about this many times: it converts the cost of a sequence into steps."""
_MEETINGS = 6
"""Rounds of fixing coefficients that would pass their bounds. Each solves the system again; later rounds fix few
more."""
_REFINEMENTS = 4
"""Steps of iterative refinement. One suffices where scales are similar; each costs a product."""
_OFF = 1e-12
"""Tolerance on the fixed sums, relative to the length of the step. A larger error would accumulate over a run."""
_RIDGES = (1e-13, 1e-10, 1e-7, 1e-4)
"""Multiples of the mean diagonal that are added to the diagonal, in turn, until the system can be factored: a smaller
one changes flat directions less, a larger one always works."""


@final
@dataclass(frozen=True, eq=False)
class Face:
    """The coefficients that may move in both directions."""

    ids: Indices
    gains: Float64
    """The gain from a small rise of each: F minus the slope of the kink."""
    low: Float64
    high: Float64
    """The nearest bounds or kinks."""
    sides: Float64
    """One column for each fixed sum: 1 for the coefficients it includes."""


def face_of(local: LocalProblem) -> Face:
    """The face that contains a point."""
    b, problem = local.b, local.problem
    ids = np.flatnonzero(problem.free(b))
    low, high = problem.ends(b)
    return Face(ids, problem.slopes(b, local.F)[0][ids], low[ids], high[ids], problem.sums[ids])


def polish(local: LocalProblem) -> int:
    """Move all free coefficients at once, when steps have become slow; returns the cost in steps."""
    work = 0.0
    while work < _MOST_WORK:
        face = face_of(local)
        work += float(len(face.ids)) ** 3 + 1.0
        if not descend(local, face):
            break
    local.direction = Direction(len(local.b))
    return int(work / (_PASSES * len(local.b)))


def descend(local: LocalProblem, face: Face) -> bool:
    """One step towards the minimum over the face, shortened if the objective would rise; returns whether it met a
    bound.

    If so, the point lies on a smaller face, where another step may improve it further.
    """
    ids = face.ids
    if not 0 < len(ids) <= MOST:
        return False
    local.pair.ensure(ids)
    K = local.pair.square
    part = K[np.ix_(ids, ids)].astype(np.float64)
    b = local.b[ids]
    best, reached = 0.0, b
    for way in _ways(part, face, b):
        gain, curvature = float(face.gains @ way), float(way @ part @ way)
        if not gain > 0.0:  # with coefficients fixed at their ends, the whole step may be too long
            continue
        share = min(1.0, gain / curvature) if curvature > 0.0 else 1.0
        lower_by = share * (gain - 0.5 * share * curvature)
        if lower_by > best:
            best, reached = lower_by, np.clip(b + share * way, face.low, face.high)
    if best == 0.0:
        return False
    local.b[ids] = reached
    subtract_rows(local.F, K, ids, reached - b, 0, len(local.F))
    return bool(((reached == face.low) | (reached == face.high)).any())


def _ways(part: Float64, face: Face, b: Float64) -> Iterator[Float64]:
    """Two steps from b towards the minimum over the face: up to the first bound, and with every coefficient that would
    pass its bound fixed there."""
    open_ones = np.ones(len(b), dtype=bool)
    way = np.zeros(len(b))
    for meeting in range(_MEETINGS):
        free, held = np.flatnonzero(open_ones), np.flatnonzero(~open_ones)
        if not len(free):
            return
        right = face.gains[free] - part[np.ix_(free, held)] @ way[held]
        found = _solved(part[np.ix_(free, free)], right, face.sides[free], -way[held] @ face.sides[held])
        if found is None:
            return
        way[free] = found
        target = b[free] + found
        low, high = target < face.low[free], target > face.high[free]
        if not (low | high).any():
            yield way
            return
        if meeting == 0:
            yield _shortened(way, face, b)
        way[free[low]] = face.low[free[low]] - b[free[low]]
        way[free[high]] = face.high[free[high]] - b[free[high]]
        open_ones[free[low | high]] = False


def _shortened(way: Float64, face: Face, b: Float64) -> Float64:
    """The step cut off at the first bound, and exactly on it."""
    room = np.where(way > 0, face.high - b, face.low - b)
    shares = np.divide(room, way, out=np.ones_like(way), where=way != 0.0)
    share = min(1.0, float(shares.min(initial=1.0)))
    return np.where(shares <= share, room, share * way)


def _solved(part: Float64, right: Float64, sides: Float64, sums: Float64) -> Float64 | None:
    """The step with these sums that minimises 1/2 way' part way - right' way.

    Directions without curvature are given a little, so the step along them is long and ends on a bound.
    """
    used = np.flatnonzero(sides.any(axis=0))
    if np.delete(sums, used).any():  # a sum that includes none of them does not constrain the step
        return None
    sides, sums = sides[:, used], sums[used]
    scale = float(np.trace(part)) / len(part)
    for ridge in _RIDGES:
        system = part.copy()
        system.flat[:: len(part) + 1] += ridge * scale
        try:
            found = _refined(system, right, sides, sums)
        except np.linalg.LinAlgError:
            continue
        off = np.abs(sides.T @ found - sums).max(initial=0.0)
        if np.isfinite(found).all() and off <= _OFF * float(np.abs(found).sum()):
            return found
    return None


def _refined(system: Float64, right: Float64, sides: Float64, sums: Float64) -> Float64:
    """Solve with multipliers for the sums, then refine: rounding errors are large where scales differ."""
    factor = scipy.linalg.cho_factor(system, lower=True, check_finite=False)
    answers = scipy.linalg.cho_solve(factor, sides, check_finite=False)
    between = sides.T @ answers
    way, multipliers = np.zeros(len(right)), np.zeros(len(sums))
    for _ in range(_REFINEMENTS):
        missing = right - system @ way - sides @ multipliers
        part = scipy.linalg.cho_solve(factor, missing, check_finite=False)
        shift = np.linalg.solve(between, sides.T @ (part + way) - sums)
        way += part - answers @ shift
        multipliers += shift
    return way
