"""Lloyd's algorithm on few columns of numbers, in compiled loops.

Problem   minimise  sum_i |x_i - m_c(i)|^2  over assignments c, with m_c the mean of cluster c
Given     rows of a few numbers each: the coordinates of an embedding
Source    Lloyd, Least squares quantization in PCM (1982); Arthur and Vassilvitskii, k-means++ (2007), for the starts

`kmeans.py` does the same in feature space, where products with a Gram matrix are the whole cost.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mercer import _deadline
from mercer._jit import Array, jit
from mercer._types import Float64, Indices

_MOST_ROUNDS = 300
"""Maximum number of rounds: ten times as many as most runs take; longer runs have little left to gain."""
_AT_ONCE = 2e7
"""Multiplications per compiled call: a few hundredths of a second, after which the clock and Ctrl-C are checked."""


def kmeans(rows: Float64, k: int, *, runs: int, rng: np.random.Generator) -> Indices:
    """The labels of the best of several runs, or of as many as there is time for; each has a k-means++ start.

    >>> kmeans(np.array([[0.0], [0.1], [5.0], [5.1]]), 2, runs=3, rng=np.random.default_rng(0)).tolist() in (
    ...     [0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    best, least = np.zeros(len(rows), dtype=np.intp), math.inf
    for _ in range(runs):
        labels, inertia = _one_run(rows, k, rng)
        if inertia < least:
            best, least = labels, inertia
        if _deadline.left() <= 0:
            break
    return best


def _one_run(rows: Float64, k: int, rng: np.random.Generator) -> tuple[Indices, float]:
    """The labels, and the sum of squared distances from the means."""
    n, width = rows.shape
    labels, distances, centres = np.full(n, -1, dtype=np.intp), np.empty(n), np.empty((k, width))
    _start(rows, rng.random((k, 2 + int(math.log(k)))), centres)
    at_once = max(1, int(_AT_ONCE / (n * k * width)))
    for _ in range(0, _MOST_ROUNDS, at_once):
        if _rounds(rows, centres, labels, distances, at_once) or _deadline.left() <= 0:
            break
    return labels, float(distances.sum())


@jit(inline=True)
def _squared_distance(rows: Array, i: int, centres: Array, c: int) -> Any:
    total = 0.0
    for j in range(rows.shape[1]):
        difference = rows[i, j] - centres[c, j]
        total += difference * difference
    return total


@jit
def _drawn(weights: Array, total: float, uniform: float) -> Any:
    """The object at which the cumulative weight exceeds a fraction of the total."""
    wanted, reached, last = uniform * total, 0.0, 0
    for i in range(weights.shape[0]):
        if weights[i] > 0.0:
            reached += weights[i]
            last = i
            if reached > wanted:
                return i
    return last


@jit
def _start(rows: Array, uniforms: Array, centres: Array) -> None:
    """Choose each centre as the best of a few objects, drawn in proportion to their squared distances."""
    n, k, trials = rows.shape[0], uniforms.shape[0], uniforms.shape[1]
    nearest, closer, best = np.ones(n), np.empty(n), np.empty(n)
    total = float(n)
    for c in range(k):
        least = np.inf
        for trial in range(trials if c else 1):
            if total > 0.0:
                drawn = _drawn(nearest, total, uniforms[c, trial])
            else:  # every object coincides with a centre
                drawn = min(n - 1, int(uniforms[c, trial] * n))
            left = 0.0
            for i in range(n):
                distance = _squared_distance(rows, i, rows, drawn)
                closer[i] = distance if c == 0 or distance < nearest[i] else nearest[i]
                left += closer[i]
            if left < least:
                least = left
                best[:] = closer
                centres[c] = rows[drawn]
        nearest[:] = best
        total = least


@jit
def _assign(rows: Array, centres: Array, labels: Array, distances: Array) -> Any:
    """Assign every object to the nearest centre; returns whether any moved."""
    moved = False
    for i in range(rows.shape[0]):
        nearest, least = 0, np.inf
        for c in range(centres.shape[0]):
            distance = _squared_distance(rows, i, centres, c)
            if distance < least:
                nearest, least = c, distance
        moved = moved or labels[i] != nearest
        labels[i], distances[i] = nearest, least
    return moved


@jit
def _fill_empty(labels: Array, distances: Array, sizes: Array) -> None:
    """Give an empty cluster the object farthest from its own mean, from a cluster that has others."""
    for c in range(sizes.shape[0]):
        if sizes[c] == 0:
            far = -1
            for i in range(labels.shape[0]):
                if sizes[labels[i]] > 1 and (far < 0 or distances[i] > distances[far]):
                    far = i
            if far >= 0:
                sizes[labels[far]] -= 1
                labels[far], distances[far], sizes[c] = c, 0.0, 1


@jit
def _rounds(rows: Array, centres: Array, labels: Array, distances: Array, most: int) -> Any:
    """Run at most this many rounds; returns whether no object moved in the last."""
    n, k = rows.shape[0], centres.shape[0]
    sizes = np.empty(k, dtype=np.intp)
    for _ in range(most):
        if not _assign(rows, centres, labels, distances):
            return True
        sizes[:] = 0
        for i in range(n):
            sizes[labels[i]] += 1
        _fill_empty(labels, distances, sizes)
        centres[:] = 0.0
        for i in range(n):
            for j in range(rows.shape[1]):
                centres[labels[i], j] += rows[i, j]
        for c in range(k):
            for j in range(rows.shape[1]):
                centres[c, j] /= max(1, sizes[c])
    return False
