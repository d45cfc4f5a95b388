"""The variance of the Gaussian process behind a ridge machine: on the features of its kernel, or on its Gram matrix.

However the machine was trained, explicit features are used if they are fewer than the training objects, so nothing of
the size of the matrix is stored. Both forms are built on demand from what every ridge machine keeps: all training
objects, their weights, and alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.errors import KernelError, MemoryBudgetError
from mercer.gram import budget
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.inputs.vectors import squared_lengths
from mercer.kernels.features.space import FeatureSpace, entries_per_object
from mercer.solvers.ridge.normal_equations import MOST_FEATURES
from mercer.solvers.ridge.variance import Scatter, explaining

_COPIES = 4
"""Feature-by-feature matrices that exist at the same time: the scatter, its factor, and two temporary ones."""
_ENTRIES = 2**22
"""Kernel values with new objects that are computed at a time: 32 MiB."""
_ROUNDING = 1e-12
"""A squared norm outside the known features below this fraction of the whole is rounding error."""


@final
@dataclass(frozen=True, eq=False)
class ByFeatures:
    """Variances from the features of the training objects; unseen features keep their prior variance."""

    expansion: Expansion
    space: FeatureSpace
    scatter: Scatter

    @property
    def small(self) -> bool:
        """Whether this object is small enough to keep with the machine."""
        return len(self.scatter.matrix) <= MOST_FEATURES

    def variances(self, objects: Objects, alphas: Float64) -> Float64:
        """Those of new objects, of shape (objects, alphas), never negative."""
        rows = self.space.matrix(objects)
        found = np.empty((len(objects), len(alphas)))
        for value in np.unique(alphas):
            found[:, alphas == value] = self.scatter.variances(rows, float(value))[:, None]
        if self.space.words:  # otherwise all features are known
            fitted = self.expansion.kernel
            prior = fitted.diagonal(fitted.features(objects))
            beyond = prior - squared_lengths(rows)
            found += np.where(beyond > _ROUNDING * prior, beyond, 0.0)[:, None]
        return found


@final
@dataclass(frozen=True, eq=False)
class ByMatrix:
    """Variances from the Gram matrix and its factor."""

    expansion: Expansion
    weights: Float64
    memory: budget.Memory

    @property
    def small(self) -> bool:
        """Always False: it holds a Gram matrix."""
        return False

    def variances(self, objects: Objects, alphas: Float64) -> Float64:
        """Those of new objects, of shape (objects, alphas), never negative."""
        fitted, training = self.expansion.kernel, self.expansion.support
        K = gram_of(fitted, training, dtype=np.float64, memory=self.memory).exact()
        across = gram_of(fitted, objects, training, dtype=np.float64, memory=self.memory)
        prior = fitted.diagonal(fitted.features(objects))
        found = np.empty((len(objects), len(alphas)))
        step = max(64, _ENTRIES // max(1, len(training)))
        for value in np.unique(alphas):
            explained = explaining(K, self.weights, float(value))
            for start in range(0, len(objects), step):
                part = slice(start, start + step)
                left = prior[part] - explained(across.view(part, slice(None)).exact())
                found[part, alphas == value] = np.maximum(left, 0.0)[:, None]
        return found


Process = ByFeatures | ByMatrix


def process_of(expansion: Expansion, weights: Float64, alphas: Float64, memory: budget.Memory) -> Process:
    """The representation that takes less memory."""
    written = _written(expansion, memory)
    if written is None:
        return ByMatrix(expansion, weights, memory)
    space, rows = written
    return ByFeatures(expansion, space, Scatter.of(rows, weights, float(alphas.min())))


def _written(expansion: Expansion, memory: budget.Memory) -> tuple[FeatureSpace, Any] | None:
    """The features of the training objects if they are fewer than the objects, else None."""
    fitted, n = expansion.kernel, len(expansion.support)
    if fitted.feature_map() is None:
        return None
    most = min(n - 1, int(np.sqrt(budget.stored_bytes(memory) / _COPIES / np.dtype(np.float64).itemsize)))
    try:
        if entries_per_object(fitted, expansion.support) > most:
            return None
        space, rows = FeatureSpace.of(fitted, expansion.support)
    except (KernelError, MemoryBudgetError):  # too many features to list
        return None
    return (space, rows) if 0 < rows.shape[1] <= most else None
