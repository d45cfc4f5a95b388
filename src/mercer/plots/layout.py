"""Positions for the nodes of a graph, at distances proportional to the numbers of steps between them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse.csgraph

from mercer._types import Float64

_ROUNDS = 200
"""Rounds of majorisation. Each lowers the stress; molecules and small graphs stop moving visibly within a hundred, and
200 rounds take milliseconds on them."""


def layout(adjacency: Float64) -> Float64:
    """Two coordinates per node: classical scaling of the path lengths, improved by stress majorisation (SMACOF).

    Parts that are not connected are put side by side.

    >>> import numpy as np
    >>> path = np.diag(np.ones(3), 1)
    >>> places = layout(path + path.T)
    >>> np.linalg.norm(np.diff(places, axis=0), axis=1).round(2).tolist()
    [1.0, 1.0, 1.0]
    """
    n = len(adjacency)
    if n == 0:
        return np.zeros((0, 2))
    links = (adjacency + adjacency.T) != 0
    count, parts = scipy.sparse.csgraph.connected_components(links, directed=False)
    places = np.zeros((n, 2))
    right = 0.0
    for part in range(count):
        ids = np.flatnonzero(parts == part)
        own = _connected(links[np.ix_(ids, ids)])
        own -= own.min(axis=0)
        places[ids] = own + np.array([right, 0.0])
        right += float(own[:, 0].max()) + 1.5
    return np.asarray(places - places.mean(axis=0))


def _connected(links: npt.NDArray[np.bool_]) -> Float64:
    n = len(links)
    if n == 1:
        return np.zeros((1, 2))
    steps = scipy.sparse.csgraph.shortest_path(links.astype(float), directed=False, unweighted=True)
    H = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * H @ steps**2 @ H)
    places = vectors[:, [-1, -2 if n > 1 else -1]] * np.sqrt(np.maximum(values[[-1, -2 if n > 1 else -1]], 0.0))
    places = places + 1e-3 * np.column_stack([np.cos(np.arange(n)), np.sin(np.arange(n))])  # no two at the same place
    weight = np.where(steps > 0, 1.0 / np.maximum(steps, 1.0) ** 2, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        ratio = np.where(apart > 1e-12, weight * steps / np.maximum(apart, 1e-12), 0.0)
        places = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return np.asarray(places)
