"""An order of the objects that puts similar ones together, so that blocks of a Gram matrix become visible."""

from __future__ import annotations

import numpy as np
import scipy.cluster.hierarchy
import scipy.linalg
import scipy.spatial.distance

from mercer._types import Float64, Indices
from mercer.theory.geometry import centred, squared_distances

_BY_TREE = 400
"""The most objects for which a tree is built. The time for its best order grows at least with their square."""


def seriation(K: Float64, groups: Indices | None = None) -> Indices:
    """Positions of the objects, similar ones together; with `groups`, group after group, each ordered.

    Small matrices are ordered by the leaves of a tree of clusters, turned so that neighbours are close; large ones
    along the leading direction of the centred matrix.

    >>> import numpy as np
    >>> seriation(np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.1], [0.9, 0.1, 1.0]])).tolist() in ([0, 2, 1], [1, 2, 0])
    True
    """
    if groups is None:
        return _ordered(K)
    parts = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return np.concatenate([part[_ordered(K[np.ix_(part, part)])] for part in parts])


def _ordered(K: Float64) -> Indices:
    n = len(K)
    if n < 3:
        return np.arange(n)
    if n <= _BY_TREE:
        squared = np.maximum(squared_distances(K), 0.0)
        flat = scipy.spatial.distance.squareform(np.sqrt((squared + squared.T) / 2), checks=False)
        tree = scipy.cluster.hierarchy.linkage(flat, method="average", optimal_ordering=True)
        return np.asarray(scipy.cluster.hierarchy.leaves_list(tree), dtype=np.intp)
    HKH = centred(K)
    leading = scipy.linalg.eigh((HKH + HKH.T) / 2, subset_by_index=(n - 1, n - 1))[1][:, 0]
    return np.argsort(leading, kind="stable")
