"""The graph of similarities, scaled by degrees: D^-1/2 W D^-1/2, with W a Gram matrix without its diagonal.

Its leading eigenvectors embed objects, and with Y = D^1/2 Z (Z'DZ)^-1/2 for an assignment Z to k clusters, k minus the
trace of Y'(D^-1/2 W D^-1/2)Y is the normalised cut: the fraction of each cluster's similarities that lead out of it,
summed over clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.centring import squared_entries
from mercer.gram.contract import Gram


@final
@dataclass(frozen=True, eq=False)
class ScaledByDegrees:
    """The scaled graph as an operator; an object that is similar to no other is a component of its own."""

    gram: Gram
    degrees: Float64
    """Row sums without the diagonal."""

    @classmethod
    def of(cls, gram: Gram) -> ScaledByDegrees:
        n = gram.shape[0]
        return cls(gram, gram.matvec(np.ones((n, 1)))[:, 0] - gram.diagonal())

    @property
    def _alone(self) -> Float64:
        return np.where(self.degrees > 0, 0.0, 1.0)

    @property
    def root(self) -> Float64:
        """D^-1/2, and 1 for objects that are similar to no other."""
        return np.asarray(1.0 / np.sqrt(np.where(self.degrees > 0, self.degrees, 1.0)))

    @property
    def trace(self) -> float:
        return float(self._alone.sum())

    def product(self, block: Float64) -> Float64:
        """The product with a block of vectors."""
        root, alone, own = self.root[:, None], self._alone[:, None], self.gram.diagonal()[:, None]
        scaled = root * block
        return np.asarray(root * (self.gram.matvec(scaled) - own * scaled) + alone * block)

    def dense(self) -> Float64:
        """The operator as one array."""
        matrix = self.product(np.eye(len(self.degrees)))
        return np.asarray(0.5 * (matrix + matrix.T))

    def squares(self) -> float:
        """The sum of the squared entries; infinite if only features are stored, not entries."""
        return squared_entries(self.gram, self._strip)

    def _strip(self, entries: Float64, rows: Indices) -> Float64:
        out = self.root[rows][:, None] * entries * self.root
        out[np.arange(len(rows)), rows] = self._alone[rows]
        return out
