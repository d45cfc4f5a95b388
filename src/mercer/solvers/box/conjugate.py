"""Directions conjugate to the last one, for the many steps between two that end on a bound.

Problem   as in `pair_loops`, at a large penalty: most moving coefficients are free, and each pair partly undoes earlier
          pairs
Given     the pair that second-order selection proposes
Result    a step along p = pair + share * last p, with share such that p'K(last p) = 0
Source    Torres-Barran, Alaiz and Dorronsoro, Faster SVM training via conjugate SMO (2021)

Such a step costs one more vector to keep, Kp, and saves a third of all steps at C = 100. Where many steps end on a
bound nothing is saved, so it is used only while fewer than one in twenty does.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.scans import end_of_fall, end_of_rise, set_bars

LOOK_EVERY = 256
"""Number of steps over which those that end on a bound are counted. Fewer would be noise; more would react too late
..."""
_FEW = 13
"""... and one in twenty of that number: when more steps end on a bound, conjugate directions saved nothing in
measurements."""
MOST = 12
"""A direction with more nonzero entries than this is dropped: updating it would cost more than it saves."""
_INDEPENDENT = 1e-3
"""The fraction of a pair's curvature that must remain after the last direction is projected out. With less, the new
direction would be mostly rounding error."""
_SHORTEST = 1e-12
"""Lower limit on the curvature of a direction, as for pairs: identical objects would otherwise cause infinite steps."""
COUNT, STEADY, HITS = 0, 1, 2  # places in `Direction.state`


@jit
def should_be_conjugate(made: int, p: Array, places: Array, listed: Array, state: Array) -> bool:
    """Whether the next step should be conjugate. Decided by counting steps, never by time, so results are
    reproducible."""
    if made > 0 and made % LOOK_EVERY == 0:
        state[STEADY] = state[HITS] < _FEW
        state[HITS] = 0
        if not state[STEADY]:
            forget(p, places, listed, state)
    return bool(state[STEADY] == 1)


@jit
def forget(p: Array, places: Array, listed: Array, state: Array) -> None:
    """Restart from the next pair."""
    for k in range(state[COUNT]):
        p[places[k]] = 0.0
        listed[places[k]] = False
    state[COUNT] = 0


@jit
def _add(c: int, places: Array, listed: Array, state: Array) -> None:
    if not listed[c]:
        listed[c] = True
        places[state[COUNT]] = c
        state[COUNT] += 1


@jit
def conjugate_step(
    row: Array,
    other: Array,
    i: int,
    j: int,
    slope: float,
    curvature: float,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    kink: Array,
    rising: Array,
    falling: Array,
    p: Array,
    image: Array,
    places: Array,
    listed: Array,
    length: Array,
    state: Array,
    out: Array,
) -> None:
    """Raise b_i and lower b_j, plus the multiple of the last direction that makes the two conjugate, and update F."""
    share = 0.0
    if state[COUNT] > 0:
        across = image[i] - image[j]
        share = -across / length[0]
        if state[COUNT] > MOST or curvature + share * across < _INDEPENDENT * curvature:
            forget(p, places, listed, state)
            share = 0.0
    for k in range(state[COUNT]):
        p[places[k]] *= share
    _add(i, places, listed, state)
    _add(j, places, listed, state)
    p[i] += 1.0
    p[j] -= 1.0
    squared, room = 0.0, np.inf
    for k in range(state[COUNT]):
        c = places[k]
        squared += p[c] * (share * image[c] + row[c] - other[c])
        if p[c] > 0.0:
            room = min(room, (end_of_rise(b[c], upper[c], kink[c]) - b[c]) / p[c])
        elif p[c] < 0.0:
            room = min(room, (end_of_fall(b[c], lower[c], kink[c]) - b[c]) / p[c])
    length[0] = max(squared, _SHORTEST)
    move = min(slope / length[0], room)  # the slope along the last direction is zero: that step was exact
    for k in range(state[COUNT]):
        c = places[k]
        end = end_of_rise(b[c], upper[c], kink[c]) if p[c] > 0.0 else end_of_fall(b[c], lower[c], kink[c])
        if p[c] != 0.0:  # clipped coefficients lie exactly on their bound or kink
            b[c] = end if (end - b[c]) / p[c] <= move else b[c] + move * p[c]
        set_bars(c, b, lower, upper, kink, rising, falling)
    for t in range(F.shape[0]):
        image[t] = share * image[t] + (row[t] - other[t])
        value = F[t] - move * image[t]
        F[t] = value
        out[t] = np.float32(value) + rising[t]
    if move >= room:
        state[HITS] += 1
        forget(p, places, listed, state)
