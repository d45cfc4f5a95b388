"""The fewest objects that show that a matrix is not positive semi-definite.

A negative diagonal entry needs one object, |k(x, z)| > sqrt(k(x, x) k(z, z)) two. Otherwise objects are removed one by
one, each time the one whose removal keeps the smallest eigenvalue lowest, until ten are left; all subsets of these are
searched by size.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg

from mercer._types import Float64, Indices

_EXHAUSTIVE = 10  # objects of which all subsets are tried: a thousand
_ELIMINATED = 48  # objects from which one after another is removed, with one eigenvalue problem per remaining object
_PAIRS = 3000  # objects of which all pairs are examined; their matrix is copied three times


@final
@dataclass(frozen=True, eq=False)
class Witness:
    """Objects and weights v, |v| = 1, with v'Kv < 0: no feature vectors have such inner products."""

    objects: tuple[int, ...]
    vector: Float64
    value: float
    """v'Kv, the smallest eigenvalue of the matrix of these objects."""
    matrix: Float64


def fewest(K: Float64, tolerance: float, vector: Float64 | None = None, ids: Indices | None = None) -> Witness | None:
    """A small set of objects whose matrix has an eigenvalue below -tolerance.

    `vector` guides the search; `ids` are the positions of the objects in the data, if K is a part of them.
    """
    chosen = _chosen(K, tolerance, vector)
    if not chosen:
        return None
    block = K[np.ix_(chosen, chosen)]
    values, vectors = np.linalg.eigh(block)
    weights = vectors[:, 0]
    sign = 1.0 if weights[np.abs(weights).argmax()] > 0 else -1.0
    objects = chosen if ids is None else ids[chosen].tolist()
    return Witness(tuple(objects), weights * sign, float(values[0]), block)


def _chosen(K: Float64, tolerance: float, vector: Float64 | None) -> list[int]:
    n = len(K)
    own = np.diagonal(K)
    if own.min() < -tolerance:
        return [int(own.argmin())]
    pair = _worst_pair(K[:_PAIRS, :_PAIRS])
    if pair and lowest_eigenvalue(K[np.ix_(pair, pair)]) < -tolerance:
        return pair
    chosen = list(range(n))
    if n > _ELIMINATED:
        if vector is None:
            vector = np.asarray(scipy.linalg.eigh(K, subset_by_index=(0, 0))[1][:, 0])
        width = _ELIMINATED
        order = np.argsort(-np.abs(vector), kind="stable")
        while width < n and lowest_eigenvalue(K[np.ix_(order[:width], order[:width])]) >= -tolerance:
            width = min(n, 2 * width)
        chosen = sorted(int(i) for i in order[:width])
    if lowest_eigenvalue(K[np.ix_(chosen, chosen)]) >= -tolerance:
        return []
    while len(chosen) > _EXHAUSTIVE:
        lowest = [
            lowest_eigenvalue(np.delete(np.delete(K[np.ix_(chosen, chosen)], i, 0), i, 1)) for i in range(len(chosen))
        ]
        best = int(np.argmin(lowest))
        if lowest[best] >= -tolerance:
            break
        # If there are many objects, drop all that hardly count at once: an eigenvalue problem for each would take too
        # long.
        chosen.pop(best) if len(chosen) <= _ELIMINATED else _drop_lightest(K, chosen, tolerance)
    return _smallest_subset(K, chosen, tolerance)


def _drop_lightest(K: Float64, chosen: list[int], tolerance: float) -> None:
    vector = np.abs(scipy.linalg.eigh(K[np.ix_(chosen, chosen)], subset_by_index=(0, 0))[1][:, 0])
    kept = sorted(np.argsort(-vector, kind="stable")[: max(_ELIMINATED, len(chosen) // 2)].tolist())
    fewer = [chosen[i] for i in kept]
    if lowest_eigenvalue(K[np.ix_(fewer, fewer)]) < -tolerance:
        chosen[:] = fewer
    else:
        chosen.pop(int(vector.argmin()))


def _smallest_subset(K: Float64, chosen: list[int], tolerance: float) -> list[int]:
    if len(chosen) > _EXHAUSTIVE:
        return chosen
    for size in range(2, len(chosen)):
        subsets = np.array(list(itertools.combinations(chosen, size)))
        blocks = K[subsets[:, :, None], subsets[:, None, :]]
        lowest = np.linalg.eigvalsh(blocks)[:, 0]
        if lowest.min() < -tolerance:
            return [int(i) for i in subsets[int(lowest.argmin())]]
    return chosen


def _worst_pair(K: Float64) -> list[int]:
    if len(K) < 2:
        return []
    own = np.diagonal(K)
    half, gap = (own[:, None] + own) / 2, (own[:, None] - own) / 2
    lowest = half - np.sqrt(gap**2 + K**2)
    np.fill_diagonal(lowest, np.inf)
    return sorted(int(i) for i in np.unravel_index(int(lowest.argmin()), K.shape))


def lowest_eigenvalue(K: Float64) -> float:
    """The smallest eigenvalue of a symmetric matrix."""
    return float(scipy.linalg.eigvalsh(K, subset_by_index=(0, 0))[0])
