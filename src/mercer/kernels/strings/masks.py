"""Sums over masks of the pairs of windows that agree on them, by walking the tree of masks.

A mask is a set of j positions of a window. G_j(x, z) = the sum over masks of size j of the pairs of windows of x and z
that agree on the mask. With N_d pairs of windows at Hamming distance d,

    G_j = sum over d of C(l - d, j) N_d.

Any function h of the distance is h(d) = sum over j of a_j C(l - d, j) for some a (`coefficients`), and so
sum over d of h(d) N_d = sum over j of a_j G_j. The walk keeps, at each mask, the groups of windows that agree on
it, and drops groups that occur on one side only. With one mask it is the trie algorithm of the spectrum kernel.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Floating
from mercer.kernels.strings.windows import Windows

_SHORT = 300
"""With at most this many windows, comparing all pairs within a string is faster than walking masks."""


def coefficients(profile: list[float], length: int) -> Float64:
    """a_0 ... a_l with h(d) = sum over j of a_j C(l - d, j) for the distances d of the profile, and 0 beyond it.

    If the profile is 0 from distance d on, masks need at least l - d + 1 positions.

    >>> coefficients([13.0, 4.0, 2.0], 4)  # windows within one mismatch of both, p = 4, four letters
    array([ 0.,  0.,  2., -2.,  9.])
    """
    a = np.zeros(length + 1)
    for matches in range(length + 1):  # h as a function of the number of matches, l - d: triangular in j
        distance = length - matches
        target = profile[distance] if distance < len(profile) else 0.0
        a[matches] = target - sum(a[j] * comb(matches, j) for j in range(matches))
    return a


def mask_products(left: Windows, right: Windows, a: Float64, factor: float, out: Floating) -> None:
    """out[i, j] = factor * sum over masks of a_|mask| * the pairs of windows of i and j that agree on it."""
    out[...] = 0
    bounds = np.asarray([0, len(left.starts)], dtype=np.int64), np.asarray([0, len(right.starts)], dtype=np.int64)
    _walk(
        left.columns(), right.columns(), left.owners(), right.owners(), *bounds, factor * a, left.n_symbols, False, out
    )


def mask_diagonal(windows: Windows, a: Float64, factor: float) -> Float64:
    """The same for each string with itself."""
    first = windows.forward()
    out = np.zeros((len(windows), 1))
    profile = np.asarray([sum(a[j] * comb(matches, j) for j in range(matches + 1)) for matches in range(len(a))])
    masks = sum(comb(len(a) - 1, int(j)) for j in np.flatnonzero(a))
    if np.diff(first.offsets).max(initial=0) <= max(_SHORT, masks):
        _compare(windows.symbols, first.starts, first.offsets, windows.starts, windows.offsets, profile, out[:, 0])
        return factor * out[:, 0]
    # All strings in one walk, which starts with one group per string.
    _walk(
        first.columns(), windows.columns(), first.owners(), windows.owners(), first.offsets, windows.offsets,
        factor * a, windows.n_symbols, True, out,
    )  # fmt: skip
    return out[:, 0]


@jit
def _compare(
    symbols: Array, starts: Array, offsets: Array, other_starts: Array, other_offsets: Array, profile: Array, out: Array
) -> None:
    """Short strings: the number of matches of every pair of windows, one by one."""
    length = profile.shape[0] - 1
    for i in range(out.shape[0]):
        total = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            for c in range(other_offsets[i], other_offsets[i + 1]):
                matches = 0
                for q in range(length):
                    matches += symbols[starts[k] + q] == symbols[other_starts[c] + q]
                total += profile[matches]
        out[i] = total


@jit
def _refine(
    row: Array, old: Array, old_bounds: Array, other_row: Array, other_old: Array, other_old_bounds: Array,
    groups: int, new: Array, new_bounds: Array, other_new: Array, other_new_bounds: Array,
    counts: Array, other_counts: Array, seen: Array,
) -> int:  # fmt: skip
    """Split every group by one more symbol, keeping the parts that both sides have."""
    used = 0
    new_bounds[0] = 0
    other_new_bounds[0] = 0
    for g in range(groups):
        n_seen = 0
        for k in range(old_bounds[g], old_bounds[g + 1]):
            symbol = row[old[k]]
            if counts[symbol] == 0:
                seen[n_seen] = symbol
                n_seen += 1
            counts[symbol] += 1
        for k in range(other_old_bounds[g], other_old_bounds[g + 1]):
            other_counts[other_row[other_old[k]]] += 1
        start = new_bounds[used]
        other_start = other_new_bounds[used]
        for t in range(n_seen):
            symbol = seen[t]
            if other_counts[symbol] > 0:
                size = counts[symbol]
                counts[symbol] = start + 1  # from here on: the target of the next one, plus 1; 0 means dropped
                start += size
                used += 1
                new_bounds[used] = start
                size = other_counts[symbol]
                other_counts[symbol] = other_start + 1
                other_start += size
                other_new_bounds[used] = other_start
            else:
                counts[symbol] = 0
        for k in range(old_bounds[g], old_bounds[g + 1]):
            symbol = row[old[k]]
            place = counts[symbol]
            if place > 0:
                new[place - 1] = old[k]
                counts[symbol] = place + 1
        for k in range(other_old_bounds[g], other_old_bounds[g + 1]):
            symbol = other_row[other_old[k]]
            if counts[symbol] > 0:
                place = other_counts[symbol]
                other_new[place - 1] = other_old[k]
                other_counts[symbol] = place + 1
        for k in range(other_old_bounds[g], other_old_bounds[g + 1]):
            other_counts[other_row[other_old[k]]] = 0
        for t in range(n_seen):
            counts[seen[t]] = 0
    return used


@jit
def _walk(
    left: Array, right: Array, left_owner: Array, right_owner: Array, left_bounds: Array, right_bounds: Array,
    a: Array, alphabet: int, diagonal: bool, out: Array,
) -> None:  # fmt: skip
    length = left.shape[0]
    n_left = left.shape[1]
    n_right = right.shape[1]
    deepest = 0
    shallowest_after = np.full(length + 2, length + 1, dtype=np.int64)  # the least size >= j of a mask that counts
    for j in range(length, -1, -1):
        shallowest_after[j] = j if a[j] != 0.0 else shallowest_after[j + 1]
        if a[j] != 0.0:
            deepest = max(deepest, j)
    groups_at_most = left_bounds.shape[0] - 1
    size = max(groups_at_most, min(n_left, n_right)) + 1
    rows = np.empty((deepest + 1, n_left), dtype=np.int32)
    columns = np.empty((deepest + 1, n_right), dtype=np.int32)
    row_bounds = np.zeros((deepest + 1, size), dtype=np.int64)
    column_bounds = np.zeros((deepest + 1, size), dtype=np.int64)
    groups = np.zeros(deepest + 1, dtype=np.int64)
    for k in range(n_left):
        rows[0, k] = k
    for k in range(n_right):
        columns[0, k] = k
    for g in range(left_bounds.shape[0]):
        row_bounds[0, g] = left_bounds[g]
        column_bounds[0, g] = right_bounds[g]
    groups[0] = groups_at_most
    counts = np.zeros(alphabet, dtype=np.int64)
    other_counts = np.zeros(alphabet, dtype=np.int64)
    seen = np.empty(alphabet, dtype=np.int64)
    chosen = np.zeros(deepest + 1, dtype=np.int64)  # chosen[j]: the next position to try after a mask of size j
    group_of = np.empty(n_left, dtype=np.int32)
    owners = np.empty(n_right, dtype=np.uint32)  # unsigned: no test for negative indices in the hot loop
    depth = 0
    if a[0] != 0.0:
        _add(
            a[0], rows[0], columns[0], row_bounds[0], column_bounds[0], groups[0],
            left_owner, right_owner, group_of, owners, diagonal, out,
        )  # fmt: skip
    while depth >= 0:
        position = chosen[depth]
        # Enough positions must remain to reach a mask that counts.
        if depth >= deepest or shallowest_after[depth + 1] - depth > length - position:
            depth -= 1
            continue
        chosen[depth] = position + 1
        found = _refine(
            left[position], rows[depth], row_bounds[depth], right[position], columns[depth], column_bounds[depth],
            groups[depth], rows[depth + 1], row_bounds[depth + 1], columns[depth + 1], column_bounds[depth + 1],
            counts, other_counts, seen,
        )  # fmt: skip
        if found == 0:
            continue
        groups[depth + 1] = found
        depth += 1
        chosen[depth] = position + 1
        if a[depth] != 0.0:
            _add(
                a[depth], rows[depth], columns[depth], row_bounds[depth], column_bounds[depth], found,
                left_owner, right_owner, group_of, owners, diagonal, out,
            )  # fmt: skip


@jit
def _add(
    weight: Any, rows: Array, columns: Array, row_bounds: Array, column_bounds: Array, groups: int,
    left_owner: Array, right_owner: Array, group_of: Array, owners: Array, diagonal: bool, out: Array,
) -> None:  # fmt: skip
    amount = out.dtype.type(weight)
    if diagonal:
        for g in range(groups):
            pairs = (row_bounds[g + 1] - row_bounds[g]) * (column_bounds[g + 1] - column_bounds[g])
            if pairs > 0:
                out[left_owner[rows[row_bounds[g]]], 0] += amount * pairs
        return
    # Row after row, so the row being written stays in the first-level cache.
    group_of[:] = -1
    for g in range(groups):
        for k in range(row_bounds[g], row_bounds[g + 1]):
            group_of[rows[k]] = g
    for c in range(column_bounds[groups]):
        owners[c] = right_owner[columns[c]]
    for k in range(group_of.shape[0]):
        g = group_of[k]
        if g >= 0:
            line = out[left_owner[k]]
            for c in range(column_bounds[g], column_bounds[g + 1]):
                line[owners[c]] += amount
