"""The geometry of a Gram matrix: angles, distances, and positions around the mean."""

from __future__ import annotations

import numpy as np

from mercer._types import Float64


def centred(K: Float64) -> Float64:
    """HKH with H = I - 11'/n: the inner products around the mean of the objects."""
    rows = K.mean(axis=0)
    return np.asarray(K - rows - K.mean(axis=1)[:, None] + rows.mean())


def cosines(K: Float64) -> Float64:
    """k(x, z) / sqrt(k(x, x) k(z, z)); 0 if an object has length 0."""
    root = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    inverse = np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0)
    return np.asarray(K * inverse * inverse[:, None])


def squared_distances(K: Float64, *, own: float = 0.0) -> Float64:
    """k(x, x) + k(z, z) - 2 k(x, z), and `own` for an object with itself; rounding may make some negative."""
    diagonal = np.diagonal(K)
    squared = diagonal[:, None] + diagonal - 2.0 * K
    np.fill_diagonal(squared, own)
    return np.asarray(squared)
