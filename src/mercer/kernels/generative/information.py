"""Fisher information: how scores are scaled before they are compared."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.errors import KernelWarning

INFORMATION = ("identity", "empirical")
_NULL = 1e-10


def whitening(scores: Any, owner: str) -> Float64:
    """W with W W' = I^+, the pseudo-inverse of the mean of phi phi' over the training objects.

    `scores` is a matrix with a row for each object, dense or sparse. Whichever of its two products is smaller is
    decomposed. With no fewer directions than objects, the training objects all become orthogonal: that is told.
    """
    found = _whitening(scores)
    if 1 < scores.shape[0] <= found.shape[1]:
        warnings.warn(
            f"The empirical information of {owner} has as many directions as there are training objects, "
            f"{scores.shape[0]}: under it they share nothing with each other. Train on more, use a smaller model, or "
            "information='identity'.",
            KernelWarning,
            stacklevel=5,
        )
    return found


def _whitening(scores: Any) -> Float64:
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
