"""The compiled passes of sequential minimal optimisation, over one dense matrix that the caller keeps contiguous.

Problem   minimise 1/2 b'Kb + linear'b  over  lower <= b <= upper,  with or without sum(b) fixed
Given     K, its diagonal, b, and F = -(Kb + linear); `rising` is 0 where b may grow and -inf where it may not,
          `falling` 0 where b may shrink and +inf where it may not
Result    b and F after at most `limit` steps, the number of steps, and what is left of the gap
Source    Fan, Chen and Lin, Working set selection using second order information (2005), algorithm 2

Each step makes two passes over a row of K, both without branches. Candidates are compared in float32, through the
integers that their bits make: that order is the same, and only integer maxima are vectorised. F itself is float64.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer.gram.pair_rows import assemble
from mercer.solvers.box.conjugate import HITS, conjugate_step, look

SMALLEST_CURVATURE = 1e-12
_BLOCK = 256
CHECK_EVERY = 16
_MINUS_INFINITY = np.int32(-2139095041)
_LOWEST = np.int32(-2147483648)
_MAGNITUDE = np.int32(0x7FFFFFFF)
_SIGN = np.int32(31)


@jit
def bars(b: Array, lower: Array, upper: Array, rising: Array, falling: Array) -> None:
    """Fill `rising` and `falling` from where b lies."""
    for t in range(b.shape[0]):
        rising[t] = np.float32(-np.inf) if b[t] >= upper[t] else np.float32(0)
        falling[t] = np.float32(np.inf) if b[t] <= lower[t] else np.float32(0)


@jit
def extremes(b: Array, F: Array, lower: Array, upper: Array) -> tuple[float, float]:
    """The highest F that may rise and the lowest that may fall; at an optimum the first does not exceed the second."""
    highest, lowest = -np.inf, np.inf
    for t in range(b.shape[0]):
        if b[t] < upper[t]:
            highest = max(highest, F[t])
        if b[t] > lower[t]:
            lowest = min(lowest, F[t])
    return highest, lowest


@jit
def largest(keys: Array) -> int:
    """Where the largest float32 lies whose bits are these integers; -1 if all are -inf."""
    n = keys.shape[0]
    best, place = _MINUS_INFINITY, -1
    for start in range(0, n, _BLOCK):
        block = keys[start : min(start + _BLOCK, n)]
        value = _LOWEST
        for k in range(block.shape[0]):
            bits = block[k]
            value = max(value, bits ^ ((bits >> _SIGN) & _MAGNITUDE))
        if value > best:
            best, place = value, start
    if place < 0:
        return -1
    best = best ^ ((best >> _SIGN) & _MAGNITUDE)
    while keys[place] != best:
        place += 1
    return place


@jit
def largest_positive(keys: Array) -> int:
    """The same where none is negative; -1 if all are zero."""
    n = keys.shape[0]
    best, place = np.int32(0), -1
    for start in range(0, n, _BLOCK):
        block = keys[start : min(start + _BLOCK, n)]
        value = np.int32(0)
        for k in range(block.shape[0]):
            value = max(value, block[k])
        if value > best:
            best, place = value, start
    if place < 0:
        return -1
    while keys[place] != best:
        place += 1
    return place


@jit
def write_gains(row: Array, own: Array, diagonal: Array, F: Array, falling: Array, top: float, out: Array) -> None:
    """What a pair with the object of this row would gain, for every other one."""
    zero = np.float32(0)
    smallest = np.float32(SMALLEST_CURVATURE)
    for t in range(F.shape[0]):
        rise = max(np.float32(top - F[t]) - falling[t], zero)
        curvature = max(np.float32(own + diagonal[t] - row.dtype.type(2) * row[t]), smallest)
        out[t] = rise * rise / curvature


@jit
def update(F: Array, row: Array, other: Array, move: float, rising: Array, out: Array) -> None:
    """Move along two rows, and write down what may rise."""
    for t in range(F.shape[0]):
        value = F[t] - move * (row[t] - other[t])
        F[t] = value
        out[t] = np.float32(value) + rising[t]


@jit
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

    Rows of K that are not `there` are assembled from its blocks (`gram.pair_rows`). The last six arguments are the
    last direction (`conjugate`).
    `before` steps were made earlier: the gap is looked at in the same steps however they are cut into calls.
    """
    closed_up, closed_down, opened = np.float32(-np.inf), np.float32(np.inf), np.float32(0)
    for t in range(F.shape[0]):
        scratch[t] = np.float32(F[t]) + rising[t]
    i = largest(bits)
    for iteration in range(limit):
        if i < 0:
            return iteration, 0.0
        top = F[i]
        if (before + iteration) % CHECK_EVERY == 0:
            for t in range(F.shape[0]):
                scratch[t] = -np.float32(F[t]) - falling[t]
            lowest = largest(bits)
            if lowest < 0:
                return iteration, 0.0
            if top - F[lowest] <= tol:
                return iteration, top - F[lowest]
        assemble(K, there, first, second, across, i)
        row = K[i]
        write_gains(row, diagonal[i], diagonal, F, falling, top, scratch)
        j = largest_positive(bits)
        if j < 0:
            return iteration, 0.0
        assemble(K, there, first, second, across, j)
        other = K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], SMALLEST_CURVATURE)
        if look(before + iteration, p, places, listed, state):
            conjugate_step(
                row, other, i, j, curvature, b, F, lower, upper, rising, falling, p, image, places, listed, length,
                state, scratch,
            )  # fmt: skip
            i = largest(bits)
            continue
        up, down = upper[i] - b[i], b[j] - lower[j]
        move = min((top - F[j]) / curvature, up, down)
        state[HITS] += move >= up or move >= down
        b[i] = upper[i] if move >= up else b[i] + move  # clipped ones lie exactly on their bounds
        b[j] = lower[j] if move >= down else b[j] - move
        rising[i] = closed_up if b[i] >= upper[i] else opened
        falling[i] = closed_down if b[i] <= lower[i] else opened
        rising[j] = closed_up if b[j] >= upper[j] else opened
        falling[j] = closed_down if b[j] <= lower[j] else opened
        update(F, row, other, move, rising, scratch)
        i = largest(bits)
    highest, bottom = extremes(b, F, lower, upper)
    return limit, max(highest - bottom, 0.0)


@jit
def exact_pair_steps(
    K: Array, diagonal: Array, b: Array, F: Array, lower: Array, upper: Array, tol: float, limit: int
) -> tuple[int, float]:
    """The same steps with every comparison in float64: for gaps so small that float32 cannot order candidates."""
    n, flat = b.shape[0], SMALLEST_CURVATURE * np.float64(diagonal.max())
    for iteration in range(limit):
        i, highest = -1, -np.inf
        for t in range(n):
            if b[t] < upper[t] and F[t] > highest:
                i, highest = t, F[t]
        if i < 0:
            return iteration, 0.0
        row = K[i]
        j, best, lowest = -1, -1.0, np.inf
        for t in range(n):
            if b[t] > lower[t]:
                lowest = min(lowest, F[t])
                rise = highest - F[t]
                if rise > 0.0:
                    gain = rise * rise / max(diagonal[i] + diagonal[t] - 2.0 * row[t], flat)
                    if gain > best:
                        j, best = t, gain
        if j < 0 or highest - lowest <= tol:
            return iteration, max(highest - lowest, 0.0)
        other = K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], flat)
        up, down = upper[i] - b[i], b[j] - lower[j]
        move = min((highest - F[j]) / curvature, up, down)
        b[i] = upper[i] if move >= up else b[i] + move
        b[j] = lower[j] if move >= down else b[j] - move
        for t in range(n):
            F[t] -= move * (row[t] - other[t])
    highest, bottom = extremes(b, F, lower, upper)
    return limit, max(highest - bottom, 0.0)
