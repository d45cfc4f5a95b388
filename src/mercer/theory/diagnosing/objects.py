"""Unusual objects: copies, near copies, copies with other labels, and objects far from all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.theory.diagnosing.targets import Target
from mercer.theory.geometry import squared_distances

Pairs = tuple[tuple[int, int], ...]

_SHOWN = 10  # the most pairs or objects in a list: nobody reads more
_NEAR = 1e-4
"""The squared distance of near copies, relative to that of typical neighbours: a hundredth of the distance. A larger
value would mistake close neighbours for copies."""
_FAR = 3.0  # interquartile ranges above the third quartile: Tukey's outer fence, since 1.5 names too many


@final
@dataclass(frozen=True, eq=False)
class UnusualObjects:
    """Positions of pairs and objects in the data, at most ten in each list; counts cover the whole sample."""

    duplicates: int
    """Objects that the kernel cannot distinguish from an earlier one."""
    duplicate_pairs: Pairs
    near_duplicates: int
    near_pairs: Pairs
    conflicting: int
    """Objects with a (near) copy that has another label."""
    conflicting_pairs: Pairs
    outliers: tuple[int, ...]
    """Objects whose nearest neighbour is far away, beyond the third quartile by three times the spread."""


def unusual_objects(K: Float64, target: Target | None, ids: Indices) -> UnusualObjects:
    """Copies and outliers by distances in feature space; `ids` are the positions of the objects in the data."""
    n = len(K)
    if n < 2:
        return UnusualObjects(0, (), 0, (), 0, (), ())
    squared = np.maximum(squared_distances(K, own=np.inf), 0.0)
    exact = squared <= 64 * np.finfo(float).eps * max(float(np.abs(np.diagonal(K)).max()), 1e-300)
    nearest = squared.min(axis=1)
    apart = nearest[~exact.any(axis=1)]
    near = ~exact & (squared <= _NEAR * float(np.median(apart))) if len(apart) else np.zeros_like(exact)
    upper = np.triu(np.ones((n, n), dtype=bool), 1)
    copies = int((exact & upper).any(axis=0).sum())
    conflicts = np.zeros_like(exact)
    if target is not None and target.classes is not None:
        conflicts = (exact | near) & (target.codes[:, None] != target.codes)
    return UnusualObjects(
        copies,
        _pairs(exact & upper, ids),
        int((near & upper).any(axis=0).sum()),
        _pairs(near & upper, ids),
        int(conflicts.any(axis=1).sum()),
        _pairs(conflicts & upper, ids),
        _outliers(np.sqrt(nearest), ids),
    )


def _pairs(found: npt.NDArray[np.bool_], ids: Indices) -> Pairs:
    return tuple((int(ids[i]), int(ids[j])) for i, j in np.argwhere(found)[:_SHOWN])


def _outliers(distance: Float64, ids: Indices) -> tuple[int, ...]:
    if len(distance) < 8:
        return ()
    low, high = np.quantile(distance, [0.25, 0.75])
    if high - low <= 1e-6 * high:  # all equal, as in the identity
        return ()
    far = np.flatnonzero(distance > high + _FAR * (high - low))
    return tuple(int(ids[i]) for i in far[np.argsort(-distance[far], kind="stable")][:_SHOWN])
