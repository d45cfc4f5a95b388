"""Sums over the hidden states of a tree, for blocks of pairs of strings.

Upwards: kappa_v(a) = E_a(s_v) E_a(t_v) prod over children c of sum_b T(a -> b) kappa_c(b), without emissions if v emits
nothing; k = sum_a start_a kappa_root(a).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit

LANES = 16
"""Strings compared with one at a time: a multiple of the vector width; more would not fit the first-level cache."""
_NARROW = 1e-200
"""A state less likely than another by this factor may underflow soon, although it may lead to most of the result."""


@jit(reassociate=False)
def tree_block(
    left: Array, left_table: Array, right: Array, right_table: Array, start: Array, transitions: Array,
    parents: Array, places: Array, out: Array,
) -> None:  # fmt: skip
    """out[i, j] = log2 k(left i, right j), or NaN if a state may have underflowed on the way."""
    nodes, states = parents.shape[0], start.shape[0]
    children = np.zeros(nodes, dtype=np.int64)
    for v in range(1, nodes):
        children[parents[v]] += 1
    table = np.ones((nodes, states, LANES))
    below = np.empty((nodes, states, LANES))
    kappa = np.empty((states, LANES))
    exponents = np.empty(LANES)
    narrow = np.empty(LANES)
    for first in range(0, right.shape[0], LANES):
        count = min(LANES, right.shape[0] - first)
        for v in range(nodes):
            if places[v] >= 0:
                for lane in range(LANES):
                    symbol = right[first + min(lane, count - 1), places[v]]
                    for a in range(states):
                        table[v, a, lane] = right_table[a, symbol]
        for i in range(left.shape[0]):
            below[:] = 1.0
            exponents[:] = 0.0
            narrow[:] = 1.0
            for v in range(nodes - 1, -1, -1):
                for a in range(states):
                    own = left_table[a, left[i, places[v]]] if places[v] >= 0 else 1.0
                    for lane in range(LANES):
                        kappa[a, lane] = below[v, a, lane] * table[v, a, lane] * own
                _rescale(kappa, exponents, narrow)
                if v > 0:
                    parent = parents[v]
                    for a in range(states):
                        _message(kappa, transitions[a], below[parent, a])
                    if children[parent] > 1:
                        _rescale(below[parent], exponents, narrow)
            for lane in range(count):
                total = 0.0
                for a in range(states):
                    total += start[a] * kappa[a, lane]
                if narrow[lane] < _NARROW:
                    out[i, first + lane] = np.nan
                else:
                    out[i, first + lane] = np.log2(total) + exponents[lane] if total > 0.0 else -np.inf


@jit(reassociate=False)
def _message(kappa: Array, row: Array, target: Array) -> None:
    """target *= sum_b T(a -> b) kappa(b)."""
    sums = np.zeros(LANES)
    for b in range(row.shape[0]):
        for lane in range(LANES):
            sums[lane] += row[b] * kappa[b, lane]
    for lane in range(LANES):
        target[lane] *= sums[lane]


@jit(reassociate=False)
def _rescale(values: Array, exponents: Array, narrow: Array) -> None:
    """Scale the largest of each lane to about 1 by a power of two, and record the smallest nonzero one."""
    for lane in range(LANES):
        highest = 0.0
        for a in range(values.shape[0]):
            highest = max(highest, values[a, lane])
        power = np.int64(np.float64(highest).view(np.int64) >> np.int64(52)) - np.int64(1023)
        power = power if highest > 0.0 else np.int64(0)
        factor = np.int64((np.int64(1023) - power) << np.int64(52)).view(np.float64)
        exponents[lane] += power
        for a in range(values.shape[0]):
            value = values[a, lane] * factor
            values[a, lane] = value
            narrow[lane] = min(narrow[lane], value if value > 0.0 else 1.0)


@jit(reassociate=False)
def log_pair(
    left: Array, left_logs: Array, right: Array, right_logs: Array, start: Array, transitions: Array,
    parents: Array, places: Array,
) -> Any:  # fmt: skip
    """The same for one pair; all tables are natural logarithms."""
    nodes, states = parents.shape[0], start.shape[0]
    below = np.zeros((nodes, states))
    for v in range(nodes - 1, -1, -1):
        if places[v] >= 0:
            for a in range(states):
                below[v, a] += left_logs[a, left[places[v]]] + right_logs[a, right[places[v]]]
        if v > 0:
            for a in range(states):
                below[parents[v], a] += log_sum(transitions[a], below[v])
    return log_sum(start, below[0]) / np.log(2.0)


@jit(reassociate=False)
def log_sum(first: Array, second: Array) -> Any:
    """log of the sum over b of e^(first[b] + second[b])."""
    highest = -np.inf
    for b in range(first.shape[0]):
        highest = max(highest, first[b] + second[b])
    if highest == -np.inf:
        return highest
    total = 0.0
    for b in range(first.shape[0]):
        total += np.exp(first[b] + second[b] - highest)
    return highest + np.log(total)
