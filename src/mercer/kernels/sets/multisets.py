"""Kernels on multisets, in which every element has a multiplicity."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from math import lgamma, log
from typing import Any, ClassVar, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import DType, Float64, Floating, Int64, UInt64
from mercer.errors import KernelError
from mercer.inputs.hashing import text_of_label
from mercer.inputs.ragged import offsets_of
from mercer.inputs.sets import Sets
from mercer.kernels.algebra.logarithmic import ComputedAsLogarithm
from mercer.kernels.algebra.with_diagonal import WithDiagonal
from mercer.kernels.base import SAFE_IN_SINGLE, Features, Kernel, State
from mercer.kernels.features.counting import Counting, CountsFeatures
from mercer.kernels.features.counts import CountFeatures, align_sparse
from mercer.kernels.features.occurrences import Spelling

_MINIMUM, _COMMON, _LABELLED = range(3)
_MOST_UNARY = 2**28
"""The most features, one per copy of an element, in a feature map: 2 GB of names."""


def counted(objects: Sets, dtype: DType) -> CountFeatures:
    """Multiplicities as features."""
    weights = objects.multiplicities.astype(np.float64)
    return CountFeatures.of(objects.names.astype(np.uint64), objects.offsets, dtype, weights)


@final
@dataclass(frozen=True)
class MultisetDot(Counting):
    """k(A, B) = sum over elements x of m_A(x) m_B(x), with m the multiplicities.

    >>> from mercer import kernels
    >>> kernels.MultisetDot().fit([list("aaabbc")])([list("aaabbc")], [list("aabbbd")])
    array([[12.]])
    """

    domain = Sets

    def counts(self, objects: Sets, state: State, dtype: DType) -> CountFeatures:
        return counted(objects, dtype)

    def spelling(self, objects: Sets, state: State) -> Iterator[Spelling]:
        yield objects.names.astype(np.uint64), lambda k: text_of_label(int(objects.names[k]))


class SharedElements(Kernel):
    """A kernel that adds up a function of two multiplicities over the elements that both multisets have."""

    domain = Sets
    of_sets: ClassVar[bool] = False
    """Whether multiplicities are ignored."""

    @property
    @abstractmethod
    def function(self) -> int:
        """The number of the function."""

    def features(self, objects: Sets, state: State, dtype: DType) -> WithDiagonal:
        if self.of_sets:
            objects = Sets(objects.names, np.ones_like(objects.multiplicities), objects.offsets)
        return WithDiagonal(counted(objects, np.float64), _own(objects.multiplicities, objects.offsets, self.function))

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        rows, columns = align_sparse(left.inner, right.inner)
        return WithDiagonal(rows, left.diagonal), WithDiagonal(columns, right.diagonal)

    def shared(self, left: WithDiagonal, right: WithDiagonal, out: Floating) -> None:
        """out[i, j] = the sum of the function over shared elements."""
        rows: Any = left.inner
        columns: Any = right.inner
        _over_shared(
            rows.columns, rows.counts, rows.offsets, columns.columns, columns.counts, columns.offsets, rows.n_columns,
            self.function, out,
        )  # fmt: skip


@final
@dataclass(frozen=True)
class MultisetIntersection(SharedElements, CountsFeatures):
    """k(A, B) = sum over elements x of min(m_A(x), m_B(x)): the size of the intersection of two multisets.

    >>> from mercer import kernels
    >>> kernels.MultisetIntersection().fit([list("aaabbc")])([list("aaabbc")], [list("aabbbd")])
    array([[4.]])
    """

    function = _MINIMUM

    def tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating) -> None:
        self.shared(left, right, out)

    def diagonal(self, features: WithDiagonal, state: State) -> Float64:
        return features.diagonal

    def counts(self, objects: Sets, state: State, dtype: DType) -> CountFeatures:
        """A 0/1 feature "x at least j times" for every j up to the multiplicity of x."""
        if objects.multiplicities.sum() > _MOST_UNARY:
            raise KernelError("The feature map of MultisetIntersection has one feature per copy: these are too many.")
        names, _, ends = _copies(objects)
        return CountFeatures.of(names, ends[objects.offsets], dtype)

    def spelling(self, objects: Sets, state: State) -> Iterator[Spelling]:
        names, level, _ = _copies(objects)
        elements = np.repeat(objects.names, objects.multiplicities)

        def spell(k: int) -> str:
            times = f" {level[k] + 1} times" if level[k] else ""
            return f"{text_of_label(int(elements[k]))}{times}"

        yield names, spell


class SubMultisets(SharedElements, ComputedAsLogarithm):
    """A product over shared elements: its base-2 logarithm is the sum."""

    def log_tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Float64) -> None:
        self.shared(left, right, out)

    def log_diagonal(self, features: WithDiagonal, state: State) -> Float64:
        return features.diagonal

    def single_precision(self, features: WithDiagonal, state: State) -> bool:
        return bool(features.diagonal.max(initial=0.0) < 20.0)  # the error of a logarithm grows with its size


@final
@dataclass(frozen=True)
class SubMultisetCount(SubMultisets):
    """The number of common sub-multisets: k(A, B) = prod over elements x of (1 + min(m_A(x), m_B(x))), the empty one
    too.

    For sets, without repeats, it is 2^|A and B|, as in `SubsetCount`. Use `kernels.normalise` on large multisets.

    >>> from mercer import kernels
    >>> kernels.SubMultisetCount().fit([list("aaabbc")])([list("aaabbc")], [list("aabbbd")]).round(9)
    array([[9.]])
    """

    function = _COMMON


@final
@dataclass(frozen=True)
class LabelledSubMultisets(SubMultisets):
    """Common sub-multisets of labelled copies: k(A, B) = prod over elements x of C(m_A(x) + m_B(x), m_A(x)).

    A sub-multiset with j copies of x counts C(m_A(x), j) times, once for each choice of copies.

    >>> from mercer import kernels
    >>> kernels.LabelledSubMultisets().fit([list("aaabbc")])([list("aaabbc")], [list("aabbbd")]).round(9)
    array([[100.]])
    """

    function = _LABELLED


@final
@dataclass(frozen=True)
class SubsetCount(SubMultisets):
    """The number of common subsets of two sets: k(A, B) = 2^|A and B|, the empty subset included.

    The all-subsets kernel on indicators. Multiplicities are ignored. `kernels.normalise` of it is computed as
    2^(|A and B| - (|A| + |B|) / 2), without overflow.

    >>> from mercer import kernels
    >>> kernels.SubsetCount().fit([{"A", "B", "C", "D"}])([{"A", "B", "C", "D"}], [{"B", "C", "D", "E"}])
    array([[8.]])
    """

    function = _COMMON
    of_sets = True

    def single_precision(self, features: WithDiagonal, state: State) -> bool:
        return bool(features.diagonal.max(initial=0.0) < 100.0)  # powers of two are exact


class Overlap(SharedElements):
    """The size of the intersection divided by that of the union; 0 for two empty sets."""

    def tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating) -> None:
        self.shared(left, right, out)
        together = (left.diagonal[:, None] + right.diagonal[None, :]).astype(out.dtype) - out
        np.divide(out, together, out=out, where=together > 0)

    def diagonal(self, features: WithDiagonal, state: State) -> Float64:
        return (features.diagonal > 0).astype(np.float64)

    def single_precision(self, features: WithDiagonal, state: State) -> bool:
        return bool(features.diagonal.max(initial=0.0) < SAFE_IN_SINGLE)


@final
@dataclass(frozen=True)
class SetTanimoto(Overlap):
    """k(A, B) = |A and B| / |A or B|, the Jaccard or Tanimoto coefficient of two sets.

    Two empty sets have nothing in common: 0. Multiplicities are ignored: see `MultisetMinMax`.

    >>> from mercer import kernels
    >>> kernels.SetTanimoto().fit([{1, 2, 3}])([{1, 2, 3}], [{2, 3, 4}])
    array([[0.5]])
    """

    function = _MINIMUM
    of_sets = True


@final
@dataclass(frozen=True)
class MultisetMinMax(Overlap):
    """k(A, B) = sum of min(m_A(x), m_B(x)) / sum of max(m_A(x), m_B(x)); 0 for two empty multisets.

    >>> from mercer import kernels
    >>> kernels.MultisetMinMax().fit([list("aaabbc")])([list("aaabbc")], [list("aabbbd")])
    array([[0.5]])
    """

    function = _MINIMUM


def _copies(objects: Sets) -> tuple[UInt64, Int64, Int64]:
    """For every copy of every element, its own name and the number of copies before it; and where elements end."""
    counts = objects.multiplicities
    ends = offsets_of(counts)
    level = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    with np.errstate(over="ignore"):
        names = np.repeat(objects.names.astype(np.uint64), counts) * (2 * level.astype(np.uint64) + np.uint64(1))
    return names, level, ends


@jit
def _value(function: int, a: Any, b: Any) -> float:
    if function == _MINIMUM:
        return float(min(a, b))
    if function == _COMMON:
        return float(np.log2(1.0 + min(a, b)))
    return (lgamma(a + b + 1.0) - lgamma(a + 1.0) - lgamma(b + 1.0)) / log(2.0)


@jit
def _own(counts: Array, offsets: Array, function: int) -> Any:
    values = np.zeros(offsets.shape[0] - 1)
    for i in range(values.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            values[i] += _value(function, float(counts[k]), float(counts[k]))
    return values


@jit
def _over_shared(
    columns: Array, counts: Array, offsets: Array, other_columns: Array, other_counts: Array, other_offsets: Array,
    n_columns: int, function: int, out: Array,
) -> None:  # fmt: skip
    # Each left row is scattered into a dense buffer, which every right row reads.
    line = np.zeros(max(n_columns, 1))
    for i in range(out.shape[0]):
        for k in range(offsets[i], offsets[i + 1]):
            line[columns[k]] = counts[k]
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(other_offsets[j], other_offsets[j + 1]):
                own = line[other_columns[k]]
                if own > 0.0:
                    total += _value(function, own, float(other_counts[k]))
            out[i, j] = total
        for k in range(offsets[i], offsets[i + 1]):
            line[columns[k]] = 0.0
