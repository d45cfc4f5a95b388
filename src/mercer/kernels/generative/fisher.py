"""Fisher kernels: the scores of a model, scaled by its information."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.errors import KernelWarning
from mercer.kernels.base import State
from mercer.kernels.features.embedding import Embedding

INFORMATION = ("identity", "empirical")
_NULL = 1e-10
"""Eigenvalues below this fraction of the largest are rounding: dividing by them would amplify noise."""


class Fisher(Embedding):
    """k(x, z) = phi(x)' I^-1 phi(z), with phi the gradient of log P(x). Subclasses define `model` and `scores`."""

    information: str

    reason = "its features are the scores of the model"

    @abstractmethod
    def model(self, objects: Any) -> State:
        """The parameters of the model: given, or trained on these objects."""

    @abstractmethod
    def scores(self, objects: Any, state: State) -> Float64:
        """phi of each object; refuses objects that have none."""

    def resolve(self, objects: Any) -> State:
        state = self.model(objects)
        scores = self.scores(objects, state)
        if self.information == "identity":
            return state
        return State({**state.values, "whitening": whitening(scores, type(self).__name__)})

    def coordinates(self, objects: Any, state: State) -> Float64:
        scores = self.scores(objects, state)
        return scores if self.information == "identity" else scores @ state.values["whitening"]


def whitening(scores: Any, owner: str) -> Float64:
    """W with W W' = I^+, the pseudo-inverse of the mean of phi phi' over the training objects.

    `scores` is a matrix with a row for each object, dense or sparse. The smaller of its two products is decomposed.
    Warns if there are at least as many directions as objects, because all training objects are then orthogonal.
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
