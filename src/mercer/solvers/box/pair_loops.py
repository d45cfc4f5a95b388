"""The compiled passes of sequential minimal optimisation, over one dense, contiguous matrix.

Problem   minimise 1/2 b'Kb + linear'b + kink'|b|  over  lower <= b <= upper,  sum(b) fixed
Given     K, its diagonal, b, and F = -(Kb + linear)
Result    b and F after at most `limit` steps, the number of steps, and the remaining gap
Source    Fan, Chen and Lin, Working set selection using second order information (2005), algorithm 2; where the cost
          has a kink there is one variable per object (LIBSVM has two), and a step ends at zero

Each step makes two branch-free passes over a row of K. F is float64, but candidates are compared in float32 (`scans`).
`rising` is what a rise of b adds to F (-kink from zero on, kink below, -inf where b may not grow), and `falling` the
same for a fall. So a kink only shifts the numbers that the passes compare.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.gram.stored import assemble
from mercer.solvers.box.conjugate import HITS, conjugate_step, should_be_conjugate
from mercer.solvers.box.scans import (
    CHECK_EVERY,
    SMALLEST_CURVATURE,
    fall,
    largest,
    largest_positive,
    move_pair,
    rise,
    set_bars,
)


@jit
def extremes(b: Array, F: Array, lower: Array, upper: Array, kink: Array) -> tuple[float, float]:
    """The largest gain of a rise and the smallest cost of a fall: at an optimum, the first does not exceed the
    second."""
    highest, lowest = -np.inf, np.inf
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            highest = max(highest, rise(b[t], F[t], kink[t]))
        if b[t] > lower[t]:
            lowest = min(lowest, fall(b[t], F[t], kink[t]))
    return highest, lowest


@jit
def _write_gains(row: Array, own: Array, diagonal: Array, F: Array, falling: Array, top: float, out: Array) -> None:
    """For every object, the gain of a pair with the object of this row."""
    zero = np.float32(0)
    smallest = np.float32(SMALLEST_CURVATURE)
    for t in range(F.shape[0]):
        slope = max(np.float32(top - F[t]) - falling[t], zero)
        curvature = max(np.float32(own + diagonal[t] - row.dtype.type(2) * row[t]), smallest)
        out[t] = slope * slope / curvature


@jit
def _update(F: Array, row: Array, other: Array, move: float, rising: Array, out: Array) -> None:
    """Update F along two rows, and store the candidates for a rise."""
    for t in range(F.shape[0]):
        value = F[t] - move * (row[t] - other[t])
        F[t] = value
        out[t] = np.float32(value) + rising[t]


@jit(inline=True)
def pair_steps(
    K: Array,
    there: Array,
    first: Array,
    second: Array,
    across: Array,
    diagonal: Array,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    kink: Array,
    rising: Array,
    falling: Array,
    tol: float,
    limit: int,
    before: int,
    scratch: Array,
    bits: Array,
    p: Array,
    image: Array,
    places: Array,
    listed: Array,
    length: Array,
    state: Array,
) -> tuple[int, float]:
    """Take steps along pairs, which keep the sum of b. `diagonal` has the dtype of K; `bits` is the int32 view of
    `scratch`.

    Rows of K that are not `there` are assembled from its blocks (`gram.stored`). The last six arguments are the last
    direction (`conjugate`). `before` is the number of earlier steps: the gap is checked at the same steps however they
    are divided into calls.
    """
    for t in range(F.shape[0]):
        set_bars(t, b, lower, upper, kink, rising, falling)
        scratch[t] = np.float32(F[t]) + rising[t]
    i = largest(bits)
    for iteration in range(limit):
        if i < 0:
            return iteration, 0.0
        top = rise(b[i], F[i], kink[i])
        if (before + iteration) % CHECK_EVERY == 0:
            for t in range(F.shape[0]):
                scratch[t] = -np.float32(F[t]) - falling[t]
            lowest = largest(bits)
            if lowest < 0:
                return iteration, 0.0
            gap = top - fall(b[lowest], F[lowest], kink[lowest])
            if gap <= tol:
                return iteration, gap
        assemble(K, there, first, second, across, i)
        row = K[i]
        _write_gains(row, diagonal[i], diagonal, F, falling, top, scratch)
        j = largest_positive(bits)
        if j < 0:
            return iteration, 0.0
        assemble(K, there, first, second, across, j)
        other = K[j]
        slope = top - fall(b[j], F[j], kink[j])
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], SMALLEST_CURVATURE)
        if should_be_conjugate(before + iteration, p, places, listed, state):
            conjugate_step(
                row, other, i, j, slope, curvature, b, F, lower, upper, kink, rising, falling, p, image, places, listed,
                length, state, scratch,
            )  # fmt: skip
        else:
            move, met = move_pair(i, j, slope, curvature, b, lower, upper, kink)
            state[HITS] += met
            set_bars(i, b, lower, upper, kink, rising, falling)
            set_bars(j, b, lower, upper, kink, rising, falling)
            _update(F, row, other, move, rising, scratch)
        i = largest(bits)
    highest, bottom = extremes(b, F, lower, upper, kink)
    return limit, max(highest - bottom, 0.0)
