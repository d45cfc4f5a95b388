"""Newton's method on a face of the box: all coefficients that rest on nothing, at once.

Problem   minimise 1/2 b'Kb + linear'b over the coefficients inside their bounds, with the others held and sums kept
Given     K, b, F = -(Kb + linear), and the ends up to which each coefficient may go
Result    b and F at the best point of the face, or on the way to it where an end is met; the objective never rises
Source    Scheinberg, An efficient implementation of an active set method for support vector machines (2006); several
          ends at once are met as in Bertsekas, Projected Newton methods (1982)

Steps along pairs soon find who rests on a bound. But then they crawl where K is badly conditioned: features on unlike
scales, large penalties, flat kernels. There one linear system does what millions of steps do not.
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
"""Coefficients for which a linear system is solved: a fraction of a second."""
_MOST_WORK = 2e9
"""Entries of factors that one sequence of such steps may compute: a second, and far less as a rule."""
_PASSES = 4
"""Passes over a row that one step along a pair makes, about: what a sequence costs, told in steps."""
_MEETINGS = 6
"""Rounds in which ends that would be passed are held. Each solves a system again; later ones hold few more."""
_REFINEMENTS = 4
"""Corrections for what rounding left of a system. One is enough where scales agree; each costs a product."""
_OFF = 1e-12
"""By how much, as a share of the way, sums may be missed. More would add up over the steps of a run."""
_RIDGES = (1e-13, 1e-10, 1e-7, 1e-4)
"""Shares of the mean diagonal that are added to it, one after the other, until the system has a factor: a smaller one
leaves flat directions their length, a larger one always works."""


@final
@dataclass(frozen=True, eq=False)
class Face:
    """Coefficients that may move both ways."""

    ids: Indices
    gains: Float64
    """What a small rise of each gains: F, less the slope of a kink."""
    low: Float64
    high: Float64
    """The nearest ends: bounds, or kinks."""
    sides: Float64
    """One column for each sum that stays, 1 for those that it counts."""


def face_of(local: LocalProblem) -> Face:
    """The face on which a point lies."""
    b, problem = local.b, local.problem
    ids = np.flatnonzero(problem.free(b))
    low, high = problem.ends(b)
    return Face(ids, problem.slopes(b, local.F)[0][ids], low[ids], high[ids], problem.sums[ids])


def polish(local: LocalProblem) -> int:
    """Move all free coefficients at once, where steps have become slow; the number of steps that would take as long."""
    work = 0.0
    while work < _MOST_WORK:
        face = face_of(local)
        work += float(len(face.ids)) ** 3 + 1.0
        if not descend(local, face):
            break
    local.direction = Direction(len(local.b))
    return int(work / (_PASSES * len(local.b)))


def descend(local: LocalProblem, face: Face) -> bool:
    """One step to the best point of the face, shortened where the objective would rise; whether an end was met.

    If so, the point lies on a smaller face, and the next step on that one may lead further.
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
        if not gain > 0.0:  # held at ends, all may have come too far
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
    """From b to the minimum over the face, as far as the first end; and with all that would pass an end held there."""
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
    """As far as the first end on the way, and exactly there."""
    room = np.where(way > 0, face.high - b, face.low - b)
    shares = np.divide(room, way, out=np.ones_like(way), where=way != 0.0)
    share = min(1.0, float(shares.min(initial=1.0)))
    return np.where(shares <= share, room, share * way)


def _solved(part: Float64, right: Float64, sides: Float64, sums: Float64) -> Float64 | None:
    """The way with these sums that minimises 1/2 way' part way - right' way.

    Directions without curvature get a little of it, so that the way along them is long, and ends at an end.
    """
    used = np.flatnonzero(sides.any(axis=0))
    if np.delete(sums, used).any():  # a sum that counts none of them is kept or not without them
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
    """Solve with multipliers for the sums, and then for what rounding left, which is much where scales differ."""
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
