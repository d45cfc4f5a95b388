"""The feature space of a kernel, written down: one column for each feature that training objects have.

Kernels that count name their features by hashes; those seen in training are compacted to columns, and what new objects
have besides has none, but counts in the norm that a normalised kernel divides by. Kernels on vectors with few features
(dot products, polynomials of low degree, random waves), and kernels that embed, have their columns from the start.
Sums put columns side by side.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp

from mercer._types import DType, Float64
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.inputs.row_products import squared_lengths
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra.constant import Constant
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.algebra.sums import Scaled, Sum
from mercer.kernels.algebra.through import Through
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.counting import HasFeatureMap
from mercer.kernels.features.embedding import Embedding
from mercer.kernels.features.feature_map import csr, explicit, has_feature_map, streamed
from mercer.kernels.features.vocabulary import Names, Vocabulary
from mercer.kernels.vectors.features import is_sparse

_SAMPLE = 32
_BLOCK = 2**14
_IN_SINGLE = 2**25
"""From so many entries on, matrices of counts are float32: half a gigabyte then."""


def has_feature_space(kernel: Kernel) -> bool:
    """Whether `FeatureSpace` can write down the features of this kernel."""
    if has_feature_map(kernel):
        return True
    if isinstance(kernel, Sum):
        return all(has_feature_space(term) for term in kernel.terms)
    if isinstance(kernel, Scaled | Normalised | Through):
        return has_feature_space(kernel.kernel)
    if isinstance(kernel, HasFeatureMap):
        return False
    return isinstance(kernel, Embedding | Constant) or _has_rows(kernel) or hasattr(kernel, "feature_matrix")


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
    """

    fitted: FittedKernel
    words: tuple[Vocabulary, ...]
    """The names of counted features, one vocabulary for each part of the kernel that counts."""

    @classmethod
    def of(cls, fitted: FittedKernel, objects: Objects) -> tuple[Self, Any]:
        """A column for every feature of these objects, and their matrix, read once, block by block."""
        _refuse_without_features(fitted.kernel)
        space = cls(fitted, tuple(Vocabulary() for _ in range(parts_that_count(fitted.kernel))))
        single = bool(space.words) and entries_per_object(fitted, objects) * len(objects) > _IN_SINGLE
        dtype: DType = np.float32 if single else np.float64
        blocks = space._blocks(objects, dtype, grow=True)
        if space.words and not has_feature_map(fitted.kernel):  # columns of one part are final once all are read
            for _ in blocks:
                pass
            blocks = space._blocks(objects, dtype, grow=False)
        return space, _stacked(list(blocks))

    @classmethod
    def restored(cls, fitted: FittedKernel, names: Sequence[Names]) -> Self:
        """The space with these columns."""
        return cls(fitted, tuple(Vocabulary.of(part) for part in names))

    def matrix(self, objects: Objects) -> Any:
        """phi of each object over these columns: an array, or CSR."""
        return _stacked(list(self._blocks(objects, np.float64, grow=False)))

    def blocks(self, objects: Objects) -> Iterator[Any]:
        """The same in blocks of rows of some tens of megabytes."""
        return self._blocks(objects, np.float64, grow=False)

    def _blocks(self, objects: Objects, dtype: DType, *, grow: bool) -> Iterator[Any]:
        kernel, state = self.fitted.kernel, self.fitted.state
        if has_feature_map(kernel):
            for _, found in streamed(self.fitted, objects):
                yield _counted(found, self.words[0], dtype, grow=grow)
            return
        step = _BLOCK if self.words else max(1, len(objects))
        for start in range(0, len(objects), step):
            part = objects if step >= len(objects) else objects.take(slice(start, start + step))
            yield _rows(kernel, state, part, iter(self.words), dtype, grow)[0]


def entries_per_object(fitted: FittedKernel, objects: Objects) -> float:
    """How many features an object has, by an evenly spread sample."""
    _refuse_without_features(fitted.kernel)
    sample = objects.take(np.unique(np.linspace(0, len(objects) - 1, _SAMPLE).astype(np.intp)))
    words = iter([Vocabulary() for _ in range(parts_that_count(fitted.kernel))])
    rows, _ = _rows(fitted.kernel, fitted.state, sample, words, np.float64, True)
    return float(rows.nnz if is_sparse(rows) else rows.size) / len(sample)


def columns_at_least(kernel: Kernel, objects: Objects) -> int:
    """How many features there are at least, without writing any down: what can be told of monomials, which are many."""
    from mercer.kernels.vectors.polynomial import Polynomial

    if isinstance(kernel, Polynomial) and isinstance(objects, Vectors):
        return kernel.number_of_features(objects.n_features)
    if isinstance(kernel, Sum):
        return sum(columns_at_least(term, objects) for term in kernel.terms)
    return columns_at_least(kernel.kernel, objects) if isinstance(kernel, Scaled | Normalised) else 0


def _rows(
    kernel: Kernel, state: State, objects: Objects, words: Iterator[Vocabulary], dtype: DType, grow: bool
) -> tuple[Any, Float64]:
    """phi of each object, and its squared length, in which features without a column count too."""
    if has_feature_map(kernel):
        found = explicit(FittedKernel(kernel, state), objects)
        return _counted(found, next(words), dtype, grow=grow), found.squared_lengths
    if isinstance(kernel, Sum):
        pairs = zip(kernel.terms, state.parts, strict=True)
        parts = [_rows(term, own, objects, words, dtype, grow) for term, own in pairs]
        return _side_by_side([rows for rows, _ in parts]), np.sum([lengths for _, lengths in parts], axis=0)
    if isinstance(kernel, Scaled):
        rows, lengths = _rows(kernel.kernel, state.parts[0], objects, words, dtype, grow)
        return rows * np.sqrt(kernel.factor), lengths * kernel.factor
    if isinstance(kernel, Normalised):
        rows, lengths = _rows(kernel.kernel, state.parts[0], objects, words, dtype, grow)
        shrunk = np.divide(1.0, np.sqrt(lengths), out=np.zeros_like(lengths), where=lengths > 0)
        scaled = sp.csr_array(rows.multiply(shrunk[:, None])) if is_sparse(rows) else rows * shrunk[:, None]
        return scaled, (lengths > 0).astype(np.float64)
    if isinstance(kernel, Through):
        return _rows(kernel.kernel, state.parts[0], kernel.images(objects), words, dtype, grow)
    rows = plain_features(kernel, state, objects)
    return rows, squared_lengths(rows)


def plain_features(kernel: Kernel, state: State, objects: Any) -> Any:
    """The features of kernels that always have the same columns."""
    from mercer.kernels.vectors.linear import Linear
    from mercer.kernels.vectors.polynomial import Polynomial

    if isinstance(kernel, Linear):
        return objects.values
    if isinstance(kernel, Constant):
        return np.full((len(objects), 1), np.sqrt(kernel.value))
    if isinstance(kernel, Embedding):
        return np.ascontiguousarray(kernel.coordinates(objects, state))
    if _has_rows(kernel):
        return kernel.features(objects, state, np.float64).rows  # type: ignore[attr-defined]
    own: Any = kernel
    found = own.feature_matrix(objects, state=state) if isinstance(kernel, Polynomial) else own.feature_matrix(objects)
    rows = found.matrix
    return rows if is_sparse(rows) else np.ascontiguousarray(rows)


def _has_rows(kernel: Kernel) -> bool:
    """Whether what the kernel keeps of each object is the row that it multiplies."""
    from mercer.kernels.vectors.linear import Linear
    from mercer.kernels.vectors.randomised import SampledKernel

    return isinstance(kernel, Linear | SampledKernel)


def parts_that_count(kernel: Kernel) -> int:
    """How many parts of the kernel name their features by hashes: sums of those that all do are one."""
    if has_feature_map(kernel):
        return 1
    if isinstance(kernel, Sum):
        return sum(parts_that_count(term) for term in kernel.terms)
    return parts_that_count(kernel.kernel) if isinstance(kernel, Scaled | Normalised | Through) else 0


def _counted(found: Any, words: Vocabulary, dtype: DType, *, grow: bool) -> Any:
    numbers = words.add(found.ids) if grow else words.find(found.ids)
    return csr(found, numbers, len(words), dtype)


def _side_by_side(parts: list[Any]) -> Any:
    if not any(is_sparse(rows) for rows in parts):
        return np.hstack(parts)
    return sp.csr_array(sp.hstack([sp.csr_array(rows) for rows in parts], format="csr"))


def _stacked(blocks: list[Any]) -> Any:
    """Blocks of rows as one matrix; of CSR blocks that grew, later ones have more columns."""
    if len(blocks) == 1:
        return _sorted(blocks[0])
    if not is_sparse(blocks[0]):
        return np.vstack(blocks)
    width = blocks[-1].shape[1]
    sizes = [0, *itertools.accumulate(block.nnz for block in blocks)]
    kind = np.int32 if max(sizes[-1], width) < 2**31 else np.int64
    indptr = np.concatenate([[0], *(block.indptr[1:] + start for block, start in zip(blocks, sizes, strict=False))])
    data, indices = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("data", "indices"))
    shape = (len(indptr) - 1, width)
    return _sorted(sp.csr_array((data, indices.astype(kind, copy=False), indptr.astype(kind)), shape=shape))


def _sorted(rows: Any) -> Any:
    if is_sparse(rows):
        rows.sort_indices()
    return rows


def _refuse_without_features(kernel: Kernel) -> None:
    if not has_feature_space(kernel):
        raise KernelError(
            f"{kernel} has no features that could be written down. Linear, Polynomial, kernels that count (Spectrum, "
            "GappedKmer, WeisfeilerLehman, SetIntersection ...), their sums and their normalised forms have."
        )
