"""The Gram matrix around the mean of its objects, without changing a stored entry.

With H = I - 11'/n, the matrix of centred features is HKH, and its product with v is H K H v. For new objects,
k_c(x, .) a = (k(x, .) - m) H a with m the column means of K: a centred expansion is an ordinary one, with coefficients
that sum to zero and an intercept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel

_STRIP = 2**22
"""Entries that are processed at once: 32 MiB. Fewer mean more calls, more take more memory."""


@final
@dataclass(frozen=True, eq=False)
class Centred:
    """HKH as an operator: products, trace, and expansions for new objects.

    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> X = [[1.0], [2.0], [6.0]]
    >>> Centred.of(gram_of(kernels.Linear().fit(X), X)).product(np.eye(3)).round(6)
    array([[ 4.,  2., -6.],
           [ 2.,  1., -3.],
           [-6., -3.,  9.]])
    """

    gram: Gram
    means: Float64
    """The mean of each column of K."""

    @classmethod
    def of(cls, gram: Gram) -> Centred:
        n = gram.shape[0]
        return cls(gram, gram.matvec(np.ones((n, 1)))[:, 0] / n)

    @property
    def trace(self) -> float:
        return float(self.gram.diagonal().sum() - self.means.sum())

    def product(self, block: Float64) -> Float64:
        """HKH times a block of vectors."""
        values = self.gram.matvec(block - block.mean(axis=0))
        return np.asarray(values - values.mean(axis=0))

    def squares(self) -> float:
        """The sum of the squared entries; infinite if only features are stored, not entries."""
        return squared_entries(self.gram, self._strip)

    def _strip(self, entries: Float64, rows: Indices) -> Float64:
        """Rows of HKH, from those of K."""
        return np.asarray(entries - self.means - (self.means[rows] - self.means.mean())[:, None])

    def dense(self) -> Float64:
        """HKH as one array."""
        K = self.gram.exact()
        return np.asarray(K - self.means - self.means[:, None] + self.means.mean())

    def expansion(self, fitted: FittedKernel, objects: Objects, a: Float64) -> Expansion:
        """x -> k_c(x, .) a for each column of a."""
        balanced = a - a.mean(axis=0)
        return Expansion(fitted, objects, balanced, -(self.means @ balanced))


def squared_entries(gram: Gram, change: Callable[[Float64, Indices], Float64]) -> float:
    """The sum of squares of a matrix whose rows `change` computes from those of K and their positions.

    It is infinite for a matrix made of features, whose entries are never all computed.
    """
    if gram.factor is not None:
        return math.inf
    n, total = gram.shape[0], 0.0
    for rows in np.array_split(np.arange(n), max(1, n * n // _STRIP)):
        total += float(np.square(change(gram.rows(rows).astype(np.float64), rows)).sum())
    return total
