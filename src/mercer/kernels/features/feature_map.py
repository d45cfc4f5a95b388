"""Explicit feature maps of kernels that count, and models folded into weight tables.

A kernel with a feature map names its features by hashes, so that any two batches agree. `WeightTable` folds the support
objects of a model into one weight per feature: scoring costs what writing down the features costs, however many
support objects there are. `mercer.kernels.features.space` makes matrices of features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._types import DType, Float64
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.inputs.tables import Table
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.algebra.sums import Scaled, Sum
from mercer.kernels.algebra.tables import OnColumns
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.counting import HasFeatureMap
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.vocabulary import Vocabulary

Names = npt.NDArray[np.uint64]
_NAMES_PER_BLOCK = 2**22
_FIRST_BLOCK = 32


def has_feature_map(kernel: Kernel) -> bool:
    """Whether `explicit` can write down the features of this kernel."""
    if isinstance(kernel, Sum):
        return all(has_feature_map(term) for term in kernel.terms)
    if isinstance(kernel, Scaled | Normalised | OnColumns):
        return has_feature_map(kernel.kernel)
    return isinstance(kernel, HasFeatureMap) and kernel.explicit


def explicit(fitted: FittedKernel, objects: Objects, dtype: DType = np.float64) -> CountFeatures:
    """phi of each object, for kernels with a feature map, their sums, positive multiples and cosines."""
    return _explicit(fitted.kernel, objects, fitted.state, dtype)


def _explicit(kernel: Kernel, objects: Objects, state: State, dtype: DType) -> CountFeatures:
    if isinstance(kernel, HasFeatureMap) and kernel.explicit:
        return kernel.feature_map(objects, state, dtype)
    if isinstance(kernel, Sum):
        parts = zip(kernel.terms, state.parts, strict=True)
        maps = (_explicit(term, objects, own, dtype) for term, own in parts)
        return CountFeatures.side_by_side([found.renamed(number) for number, found in enumerate(maps)])
    if isinstance(kernel, Scaled):
        inner = _explicit(kernel.kernel, objects, state.parts[0], dtype)
        return inner.scaled(np.full(len(inner), np.sqrt(kernel.factor)))
    if isinstance(kernel, Normalised):
        inner = _explicit(kernel.kernel, objects, state.parts[0], dtype)
        norms = np.sqrt(inner.squared_lengths)
        return inner.scaled(np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0))
    if isinstance(kernel, OnColumns) and isinstance(objects, Table):
        own = objects.objects(kernel.columns, kernel.kernel.domain, kernel.as_)
        return _explicit(kernel.kernel, own, state.parts[0], dtype)
    raise KernelError(
        f"{kernel} has no feature map that could be written down. Kernels that count (Spectrum, GappedKmer, "
        "WeightedDegree, SetIntersection ...), their sums and their normalised forms have one."
    )


def streamed(fitted: FittedKernel, objects: Objects) -> Iterator[tuple[int, CountFeatures]]:
    """The features of consecutive objects, as many at a time as fit a block, with the number of the first."""
    start, size = 0, _FIRST_BLOCK
    while start < len(objects):
        found = explicit(fitted, objects.take(slice(start, start + size)))
        yield start, found
        start += len(found)
        size = max(1, min(2**16, _NAMES_PER_BLOCK * len(found) // max(1, len(found.ids))))


@final
@dataclass(frozen=True, eq=False)
class WeightTable:
    """A model as one weight per feature and output: f(x) = sum over features of phi(x) weight, plus the intercept."""

    fitted: FittedKernel
    words: Vocabulary
    weights: Float64
    intercept: Float64

    @classmethod
    def of(cls, fitted: FittedKernel, support: Objects, coefficients: Float64, intercept: Any = 0.0) -> Self:
        """Fold support objects with coefficients (one column per output) into weights."""
        columns = coefficients.reshape(len(support), -1)
        words = Vocabulary()
        weights = np.zeros((0, columns.shape[1]))
        for start, found in streamed(fitted, support):
            block = csr(found, words.add(found.ids), len(words))
            weights = np.concatenate([weights, np.zeros((len(words) - len(weights), columns.shape[1]))])
            weights += block.T @ columns[start : start + len(found)]
        constants = np.broadcast_to(np.asarray(intercept, dtype=float), columns.shape[1:]).copy()
        return cls(fitted, words, weights, constants)

    @property
    def names(self) -> Names:
        """The names of the features, in the order of the weights."""
        return self.words.names

    def __call__(self, objects: Any) -> Float64:
        """Decision values, of shape (objects, outputs)."""
        new = objects if isinstance(objects, Objects) else self.fitted.coerce(objects)
        values = np.zeros((len(new), self.weights.shape[1]))
        for start, found in streamed(self.fitted, new):
            values[start : start + len(found)] = csr(found, self.words.find(found.ids), len(self.words)) @ self.weights
        return values + self.intercept

    def of_names(self, names: Names) -> Float64:
        """The weights of these features; 0 for those that no support object has."""
        place = self.words.find(np.ascontiguousarray(names))
        found = np.zeros((len(names), self.weights.shape[1]))
        found[place >= 0] = self.weights[place[place >= 0]]
        return found


def csr(found: CountFeatures, columns: Any, width: int, dtype: DType = np.float64) -> sp.csr_array:
    """Features as rows over numbered columns; those numbered -1 are left out."""
    counts, offsets = found.counts, found.offsets
    known = columns >= 0
    if not known.all():
        kept = np.concatenate([[0], np.cumsum(known)])
        counts, columns, offsets = counts[known], columns[known], kept[offsets]
    kind = np.int32 if max(len(columns), width) < 2**31 else np.int64
    parts = (counts.astype(dtype, copy=False), columns.astype(kind, copy=False), offsets.astype(kind))
    return sp.csr_array(parts, shape=(len(found), width))
