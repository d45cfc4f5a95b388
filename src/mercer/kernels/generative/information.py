"""Fisher information: how scores are scaled before they are compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels.base import Float64

INFORMATION = ("identity", "empirical")
_NULL = 1e-10


def whitening(scores: Any) -> Float64:
    """W with W W' = I^+, the pseudo-inverse of the mean of phi phi' over the training objects.

    `scores` is a matrix with a row for each object, dense or sparse. Whichever of its two products is smaller is
    decomposed.
    """
    n, width = scores.shape
    if width <= n:
        values, vectors = np.linalg.eigh(_dense(scores.T @ scores) / n)
        kept = _kept(values)
        return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
    values, vectors = np.linalg.eigh(_dense(scores @ scores.T) / n)
    kept = _kept(values)
    return np.asarray(scores.T @ (vectors[:, kept] / (values[kept] * np.sqrt(n))))


def _kept(values: Float64) -> Any:
    return values > _NULL * max(float(values[-1]), 1e-300) if len(values) else slice(0)


def _dense(product: Any) -> Any:
    return product if isinstance(product, np.ndarray) else product.toarray()
