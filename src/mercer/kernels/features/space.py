"""The feature space of a fitted kernel: one column for each feature that training objects have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from mercer import _deadline
from mercer._types import DType, Float64, UInt64
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.inputs.vectors import is_sparse
from mercer.kernels.features.feature_map import Columns, FeatureMap
from mercer.kernels.features.occurrences import Weigh
from mercer.kernels.features.rows import FeatureMatrix, stacked
from mercer.kernels.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from mercer.kernels.base import FittedKernel

_SAMPLE = 32
"""Objects sampled to estimate the features per object: few enough to take no time, evenly spaced in the batch."""
_IN_SINGLE = 2**25
"""Count matrices with more entries than this, half a gigabyte in float64, are float32 to save memory."""
_FIRST_BLOCK = 32
"""Objects in the first block when columns grow; their features determine the size of the next block."""
_ENTRIES_PER_BLOCK = 2**22
"""The approximate number of features per block: 64 MiB. Smaller blocks need more calls, larger ones more memory."""
_MOST_PER_BLOCK = 2**16
"""The most objects in a block, however few features they have."""


@final
@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """The columns of a fitted kernel.

    >>> from mercer import kernels
    >>> from mercer.kernels.features.space import FeatureSpace
    >>> fitted = kernels.Spectrum(p=2).fit(["banana", "ananas"])
    >>> space, matrix = FeatureSpace.of(fitted, fitted.coerce(["banana", "ananas"]))
    >>> new = space.matrix(fitted.coerce(["bandana"]))
    >>> matrix.shape, (new @ matrix.T).toarray().tolist()
    ((2, 4), [[7.0, 6.0]])
    >>> space.names(fitted.coerce(["banana", "ananas"]))
    ('ba', 'na', 'an', 'as')
    """

    fitted: FittedKernel
    words: tuple[Vocabulary, ...]
    """The names of counted features, one vocabulary for each part of the kernel that counts."""

    @property
    def features(self) -> FeatureMap:
        """Created whenever it is needed: maps contain functions, which cannot be pickled."""
        return features_of(self.fitted)

    @classmethod
    def of(cls, fitted: FittedKernel, objects: Objects) -> tuple[Self, Any]:
        """A column for every feature of these objects, and their matrix, read once, block by block."""
        space = cls._empty(fitted)
        single = bool(space.words) and entries_per_object(fitted, objects) * len(objects) > _IN_SINGLE
        dtype: DType = np.float32 if single else np.float64
        blocks = space._blocks(objects, dtype, grow=True)
        if space.words and not space.features.counted:  # columns of a part are final only when all objects are read
            for _ in blocks:
                pass
            blocks = space._blocks(objects, dtype, grow=False)
        return space, stacked(list(blocks))

    @classmethod
    def folded(cls, fitted: FittedKernel, objects: Objects, coefficients: Float64) -> tuple[Self, Float64]:
        """The space of these objects, and sum_i c_i phi(x_i) in it: one row per feature, one column per output.

        Counted features are summed block by block, without a matrix of all objects.
        """
        space = cls._empty(fitted)
        if not space.features.counted:
            space, rows = cls.of(fitted, objects)
            return space, np.asarray(rows.T @ coefficients, dtype=np.float64)
        weights, start = np.zeros((0, coefficients.shape[1])), 0
        for rows in space._blocks(objects, np.float64, grow=True):
            weights = np.concatenate([weights, np.zeros((rows.shape[1] - len(weights), weights.shape[1]))])
            weights += rows.T @ coefficients[start : start + rows.shape[0]]
            start += rows.shape[0]
        return space, weights

    @classmethod
    def restored(cls, fitted: FittedKernel, names: Sequence[UInt64]) -> Self:
        """The space with these columns."""
        return cls(fitted, tuple(Vocabulary.of(part) for part in names))

    @classmethod
    def _empty(cls, fitted: FittedKernel) -> Self:
        return cls(fitted, tuple(Vocabulary() for _ in range(features_of(fitted).vocabularies)))

    def matrix(self, objects: Objects) -> Any:
        """phi of each object over these columns: an array, or CSR."""
        return stacked(list(self.blocks(objects)))

    def blocks(self, objects: Objects) -> Iterator[Any]:
        """The same in blocks of rows of some tens of megabytes."""
        return self._blocks(objects, np.float64, grow=False)

    def names(self, objects: Objects, columns: Columns = None) -> tuple[Any, ...]:
        """The names of the columns.

        Columns of vectors have the user's names (`columns`) or their position, monomials those of their factors.
        Counted features that these objects have are spelt out: words, neighbourhoods, subtrees.
        """
        return tuple(self.features.names(objects, iter(self.words), columns))

    def weigh(self, weights: Float64) -> Weigh:
        """A function from names of counted features to their rows of `weights`; 0 for unknown names."""

        def weights_of(names: UInt64) -> Float64:
            place = self.words[0].find(np.ascontiguousarray(names))
            found = np.zeros((len(names), weights.shape[1]))
            found[place >= 0] = weights[place[place >= 0]]
            return found

        return weights_of

    def _blocks(self, objects: Objects, dtype: DType, *, grow: bool) -> Iterator[Any]:
        start, size = 0, _FIRST_BLOCK if self.words else len(objects)
        timed = _deadline.Work(f"the features of {len(objects):,} objects", len(objects))
        while start < len(objects):
            part = objects.take(slice(start, start + size)) if self.words else objects
            rows, _ = self.features.rows(part, iter(self.words), dtype, grow=grow)
            yield rows
            start += len(part)
            timed.advance(len(part))
            size = max(1, min(_MOST_PER_BLOCK, _ENTRIES_PER_BLOCK * len(part) // max(1, _entries(rows))))
            size = min(size, _FIRST_BLOCK) if _deadline.is_limited() else size


def _entries(rows: Any) -> int:
    return int(rows.nnz if is_sparse(rows) else rows.size)


def features_of(fitted: FittedKernel) -> FeatureMap:
    """The feature map of a kernel that has one."""
    features = fitted.feature_map()
    if features is None:
        raise KernelError(
            f"{fitted.kernel} has no explicit features. Linear, Polynomial, kernels that count "
            "(Spectrum, GappedKmer, WeisfeilerLehman, SetIntersection ...), their sums and their normalised forms do."
        )
    return features


def feature_matrix(fitted: FittedKernel, objects: Objects, columns: Columns = None) -> FeatureMatrix:
    """phi of each object, with a name for each feature that any of them has."""
    space, matrix = FeatureSpace.of(fitted, objects)
    return FeatureMatrix(matrix, space.names(objects, columns))


def entries_per_object(fitted: FittedKernel, objects: Objects) -> float:
    """The average number of features per object, from an evenly spaced sample."""
    features = features_of(fitted)
    sample = objects.take(np.unique(np.linspace(0, len(objects) - 1, _SAMPLE).astype(np.intp)))
    words = iter([Vocabulary() for _ in range(features.vocabularies)])
    rows, _ = features.rows(sample, words, np.float64, grow=True)
    return _entries(rows) / len(sample)
