"""The compiled passes of sequential minimal optimisation, over one dense matrix that the caller keeps contiguous.

Problem   minimise 1/2 b'Kb + linear'b + kink'|b|  over  lower <= b <= upper,  sum(b) fixed
Given     K, its diagonal, b, and F = -(Kb + linear)
Result    b and F after at most `limit` steps, the number of steps, and what is left of the gap
Source    Fan, Chen and Lin, Working set selection using second order information (2005), algorithm 2; where the cost
          has a kink, on one variable per object where LIBSVM has two: a step ends at zero

Each step makes two passes over a row of K, both without branches. F is float64, though candidates are compared in
float32 (`scans`): `rising` holds what a rise of b adds to F (-kink from zero on, kink below, -inf where b may not
grow), `falling` the same for a fall. So a kink only shifts what the passes compare.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.gram.stored import assemble
from mercer.solvers.box.conjugate import HITS, conjugate_step, look
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
    """The most that a rise gains and the least that a fall costs: at an optimum, the first is not the larger."""
    highest, lowest = -np.inf, np.inf
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            highest = max(highest, rise(b[t], F[t], kink[t]))
        if b[t] > lower[t]:
            lowest = min(lowest, fall(b[t], F[t], kink[t]))
    return highest, lowest


@jit
def _write_gains(row: Array, own: Array, diagonal: Array, F: Array, falling: Array, top: float, out: Array) -> None:
    """What a pair with the object of this row would gain, for every other one."""
    zero = np.float32(0)
    smallest = np.float32(SMALLEST_CURVATURE)
    for t in range(F.shape[0]):
        slope = max(np.float32(top - F[t]) - falling[t], zero)
        curvature = max(np.float32(own + diagonal[t] - row.dtype.type(2) * row[t]), smallest)
        out[t] = slope * slope / curvature


@jit
def _update(F: Array, row: Array, other: Array, move: float, rising: Array, out: Array) -> None:
    """Move along two rows, and write down what may rise."""
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
    """Steps along pairs, which keep the sum of b. `diagonal` has the dtype of K; `bits` is the int32 view of `scratch`.

    Rows of K that are not `there` are assembled from its blocks (`gram.stored`). The last six arguments are the
    last direction (`conjugate`).
    `before` steps were made earlier: the gap is looked at in the same steps however they are cut into calls.
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
        if look(before + iteration, p, places, listed, state):
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
