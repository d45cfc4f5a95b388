"""Explicit feature maps: columns for the features that training objects have, and models folded into weight tables.

A kernel with a feature map names its features by hashes, so that any two batches agree. `Columns` gives the names seen
in training a column each, and makes matrices block by block; what training never saw has no column, but was
counted in the norm that a normalised kernel divides by. `WeightTable` folds the support objects of a model into one
weight per feature: scoring costs what writing down the features costs, however many support objects there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.inputs.ragged import offsets_of
from mercer.inputs.tables import Table
from mercer.kernels.algebra import Scaled, Sum
from mercer.kernels.base import DType, FittedKernel, Float64, Kernel, State
from mercer.kernels.counting import HasFeatureMap
from mercer.kernels.counts import CountFeatures
from mercer.kernels.normalised import Normalised
from mercer.kernels.tables import OnColumns

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


def _streamed(fitted: FittedKernel, objects: Objects) -> Iterator[tuple[int, CountFeatures]]:
    """The features of consecutive objects, as many at a time as fit a block, with the number of the first."""
    start, size = 0, _FIRST_BLOCK
    while start < len(objects):
        found = explicit(fitted, objects.take(slice(start, start + size)))
        yield start, found
        start += len(found)
        size = max(1, min(2**16, _NAMES_PER_BLOCK * len(found) // max(1, len(found.ids))))


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """The features seen in training, each with a column of its own.

    >>> from mercer import kernels
    >>> from mercer.kernels.featuremap import Columns
    >>> fitted = kernels.Spectrum(p=2).fit(["banana", "ananas"])
    >>> columns = Columns.of(fitted, fitted.coerce(["banana", "ananas"]))
    >>> matrix = columns.matrix(fitted.coerce(["banana", "bandana"]))
    >>> matrix.shape, float(matrix[[0]].multiply(matrix[[1]]).sum())
    ((2, 4), 7.0)
    """

    fitted: FittedKernel
    names: Names

    @classmethod
    def of(cls, fitted: FittedKernel, objects: Objects) -> Self:
        """A column for every feature of these objects, read block by block."""
        names: Names = np.empty(0, dtype=np.uint64)
        for _, found in _streamed(fitted, objects):
            names = np.union1d(names, found.ids)
        return cls(fitted, names)

    def __len__(self) -> int:
        return len(self.names)

    def blocks(self, objects: Objects, dtype: DType = np.float64) -> Iterator[sp.csr_array]:
        """The matrix of features, as CSR blocks of rows of some tens of megabytes."""
        for _, found in _streamed(self.fitted, objects):
            yield self._csr(found, dtype)

    def matrix(self, objects: Objects, dtype: DType = np.float64) -> sp.csr_array:
        """The matrix of features in one piece."""
        return sp.csr_array(sp.vstack(list(self.blocks(objects, dtype=dtype)), format="csr"))

    def _csr(self, found: CountFeatures, dtype: DType) -> sp.csr_array:
        place, known = _located(self.names, found.ids)
        rows = np.repeat(np.arange(len(found)), np.diff(found.offsets))[known]
        offsets = offsets_of(np.bincount(rows, minlength=len(found)))
        kind = np.int32 if max(offsets[-1], len(self.names)) < 2**31 else np.int64
        parts = (found.counts[known].astype(dtype), place[known].astype(kind), offsets.astype(kind))
        return sp.csr_array(parts, shape=(len(found), len(self.names)))


@final
@dataclass(frozen=True, eq=False)
class WeightTable:
    """A model as one weight per feature and output: f(x) = sum over features of phi(x) weight, plus the intercept."""

    fitted: FittedKernel
    names: Names
    weights: Float64
    intercept: Float64

    @classmethod
    def of(cls, fitted: FittedKernel, support: Objects, coefficients: Float64, intercept: Any = 0.0) -> Self:
        """Fold support objects with coefficients (one column per output) into weights."""
        columns = coefficients.reshape(len(support), -1)
        names: Names = np.empty(0, dtype=np.uint64)
        weights = np.empty((0, columns.shape[1]))
        for start, found in _streamed(fitted, support):
            rows = np.repeat(columns[start : start + len(found)], np.diff(found.offsets), axis=0)
            names, weights = _merged(
                np.concatenate([names, found.ids]), np.concatenate([weights, found.counts[:, None] * rows])
            )
        return cls(
            fitted, names, weights, np.broadcast_to(np.asarray(intercept, dtype=float), columns.shape[1:]).copy()
        )

    def __call__(self, objects: Any) -> Float64:
        """Decision values, of shape (objects, outputs)."""
        new = objects if isinstance(objects, Objects) else self.fitted.coerce(objects)
        values = np.zeros((len(new), self.weights.shape[1]))
        for start, found in _streamed(self.fitted, new):
            rows = np.repeat(np.arange(start, start + len(found)), np.diff(found.offsets))
            np.add.at(values, rows, found.counts[:, None] * self.of_names(found.ids))
        return values + self.intercept

    def of_names(self, names: Names) -> Float64:
        """The weights of these features; 0 for those that no support object has."""
        place, known = _located(self.names, names)
        found = np.zeros((len(names), self.weights.shape[1]))
        found[known] = self.weights[place[known]]
        return found


def _located(vocabulary: Names, names: Names) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    if not len(vocabulary):
        return np.zeros(len(names), dtype=np.intp), np.zeros(len(names), dtype=bool)
    place = np.minimum(np.searchsorted(vocabulary, names), len(vocabulary) - 1)
    return place, vocabulary[place] == names


def _merged(names: Names, weights: Float64) -> tuple[Names, Float64]:
    merged, where = np.unique(names, return_inverse=True)
    total = np.zeros((len(merged), weights.shape[1]))
    np.add.at(total, where, weights)
    return merged, total
