"""The compiled passes of the nu forms: each pair lies on one side of zero, so the sum of either side is kept.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper, each box on one side of zero, both sides' sums fixed
Given     K, its diagonal, b, F = -(Kb + linear), and which coefficients are positive
Result    b and F after at most `limit` steps, the number of steps, and the remaining gap
Source    Chang and Lin, Training nu-support vector classifiers (2001), with second-order working sets as in LIBSVM

On either side, the candidate is the coefficient with the highest F among those that may rise. The partner that gains
most with the candidate of its own side decides which pair moves.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.solvers.box.exact_loops import gap_of_pairs
from mercer.solvers.box.scans import (
    CHECK_EVERY,
    SMALLEST_CURVATURE,
    largest,
    largest_positive,
    move_pair,
    set_bars,
)


@jit
def _write_gains(
    row: Array,
    negative_row: Array,
    own: Array,
    negative_own: Array,
    diagonal: Array,
    F: Array,
    falling: Array,
    positive: Array,
    top: float,
    negative_top: float,
    out: Array,
) -> None:
    """For every object, the gain of a pair with the candidate of its side."""
    zero = np.float32(0)
    smallest = np.float32(SMALLEST_CURVATURE)
    two = row.dtype.type(2)
    for t in range(F.shape[0]):
        one, other = row[t], negative_row[t]
        here = positive[t]
        slope = max(np.float32((top if here else negative_top) - F[t]) - falling[t], zero)
        curvature = (own if here else negative_own) + diagonal[t] - two * (one if here else other)
        out[t] = slope * slope / max(np.float32(curvature), smallest)


@jit
def _update(
    F: Array, row: Array, other: Array, move: float, rising: Array, positive: Array, first: Array, second: Array
) -> None:
    """Update F along two rows, and store the candidates for a rise on the positive and on the negative side."""
    closed = np.float32(-np.inf)
    for t in range(F.shape[0]):
        moved = F[t] - move * (row[t] - other[t])
        F[t] = moved
        value = np.float32(moved) + rising[t]
        first[t] = value if positive[t] else closed
        second[t] = closed if positive[t] else value


@jit
def nu_steps(
    K: Array,
    diagonal: Array,
    b: Array,
    F: Array,
    lower: Array,
    upper: Array,
    kink: Array,
    positive: Array,
    rising: Array,
    falling: Array,
    tol: float,
    limit: int,
    before: int,
    first: Array,
    first_bits: Array,
    second: Array,
    second_bits: Array,
) -> tuple[int, float]:
    """Steps along pairs of one side; `kink` is zero. For the other arguments see `pair_loops`."""
    for t in range(F.shape[0]):
        set_bars(t, b, lower, upper, kink, rising, falling)
    _update(F, K[0], K[0], 0.0, rising, positive, first, second)
    for iteration in range(limit):
        i, h = largest(first_bits), largest(second_bits)
        if (before + iteration) % CHECK_EVERY == 0:
            gap = gap_of_pairs(b, F, lower, upper, kink, positive)
            if gap <= tol:
                return iteration, gap
        top = F[i] if i >= 0 else -np.inf
        negative_top = F[h] if h >= 0 else -np.inf
        i, h = max(i, 0), max(h, 0)
        _write_gains(K[i], K[h], diagonal[i], diagonal[h], diagonal, F, falling, positive, top, negative_top, first)
        j = largest_positive(first_bits)
        if j < 0:
            return iteration, gap_of_pairs(b, F, lower, upper, kink, positive)
        if not positive[j]:
            i, top = h, negative_top
        row, other = K[i], K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], SMALLEST_CURVATURE)
        move, _ = move_pair(i, j, top - F[j], curvature, b, lower, upper, kink)
        set_bars(i, b, lower, upper, kink, rising, falling)
        set_bars(j, b, lower, upper, kink, rising, falling)
        _update(F, row, other, move, rising, positive, first, second)
    return limit, gap_of_pairs(b, F, lower, upper, kink, positive)
