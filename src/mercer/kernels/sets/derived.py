"""Sets compared by comparing all their elements."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._record import boolean
from mercer._types import DType, Float64, Floating, Index, Int64
from mercer.inputs.bags import Bags
from mercer.inputs.ragged import take_rows
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.base import Features, Kernel, State

_BLOCK = 1024
"""Elements compared at a time: a block of 8 MB stays in the last-level cache while it is summed."""
_MOST_ENTRIES = 2**28
"""Pairs of elements per tile: about a second for the cheapest kernels."""


@final
@dataclass(frozen=True, eq=False)
class BagFeatures:
    """The features of all elements, bag after bag."""

    inner: Features
    offsets: Int64
    diagonal: Float64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> BagFeatures:
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            bounds = self.offsets[start : max(start, stop) + 1]
            return BagFeatures(
                self.inner.take(slice(int(bounds[0]), int(bounds[-1]))), bounds - bounds[0], self.diagonal[index]
            )
        source, offsets = take_rows(index, self.offsets, np.arange(self.offsets[-1]))
        return BagFeatures(self.inner.take(source), offsets, self.diagonal[index])


class ElementPairs(OfKernel):
    """The sum, or the mean, of a kernel over all pairs of elements of two bags."""

    domain = Bags

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.instance(type(self).__name__, "kernel", self.kernel, Kernel, "a kernel on elements")

    @property
    @abstractmethod
    def mean(self) -> bool:
        """Whether to divide by the number of pairs."""

    def resolve(self, objects: Bags) -> State:
        return State(parts=(self.kernel.resolve(objects.elements(self.kernel.domain)),))

    def features(self, objects: Bags, state: State, dtype: DType) -> BagFeatures:
        inner = self.kernel.features(objects.elements(self.kernel.domain), state.parts[0], dtype)
        return BagFeatures(inner, objects.offsets, self._own(objects, inner, state, dtype))

    def _own(self, objects: Bags, inner: Features, state: State, dtype: DType) -> Float64:
        own = state.parts[0]
        elements = self.kernel.diagonal(inner, own)
        rows, columns = self.kernel.align(inner, inner, own)
        values = np.zeros(len(objects))
        for number, (start, end) in enumerate(zip(objects.offsets[:-1], objects.offsets[1:], strict=True)):
            if start == end:
                continue
            part = slice(int(start), int(end))
            block = np.empty((end - start, end - start), dtype=dtype)
            self.kernel.tile(rows.take(part), columns.take(part), own, block)
            np.fill_diagonal(block, elements[part])
            values[number] = block.sum(dtype=np.float64) / (float(end - start) ** 2 if self.mean else 1.0)
        return values

    def align(self, left: BagFeatures, right: BagFeatures, state: State) -> tuple[BagFeatures, BagFeatures]:
        rows, columns = self.kernel.align(left.inner, right.inner, state.parts[0])
        return BagFeatures(rows, left.offsets, left.diagonal), BagFeatures(columns, right.offsets, right.diagonal)

    def tile(self, left: BagFeatures, right: BagFeatures, state: State, out: Floating) -> None:
        out[...] = 0
        owners = np.repeat(np.arange(len(left)), np.diff(left.offsets))
        others = np.repeat(np.arange(len(right)), np.diff(right.offsets))
        for top in range(0, len(owners), _BLOCK):
            rows = slice(top, min(top + _BLOCK, len(owners)))
            for start in range(0, len(others), _BLOCK):
                columns = slice(start, min(start + _BLOCK, len(others)))
                block = np.empty((rows.stop - rows.start, columns.stop - columns.start), dtype=out.dtype)
                self.kernel.tile(left.inner.take(rows), right.inner.take(columns), state.parts[0], block)
                _gather(block, owners[rows], others[columns], out)
        if self.mean:
            out /= np.maximum(np.diff(left.offsets), 1)[:, None].astype(out.dtype)
            out /= np.maximum(np.diff(right.offsets), 1)[None, :].astype(out.dtype)

    def tile_entries(self, left: BagFeatures, right: BagFeatures, state: State) -> int:
        pairs = max(1.0, float(np.diff(left.offsets).mean()) * float(np.diff(right.offsets).mean()))
        entries = self.kernel.tile_entries(left.inner, right.inner, state.parts[0])
        return max(1, int(min(entries, _MOST_ENTRIES) / pairs))

    def diagonal(self, features: BagFeatures, state: State) -> Float64:
        return features.diagonal

    def single_precision(self, features: BagFeatures, state: State) -> bool:
        elements = self.kernel.single_precision(features.inner, state.parts[0])
        return elements and super().single_precision(features, state)


@final
@dataclass(frozen=True)
class DerivedSubsets(ElementPairs):
    """k(A, B) = sum over a in A and b in B of k0(a, b), for finite sets of any objects that k0 compares.

    With `mean`, the sum is divided by |A| |B|, as `MeanEmbedding` does. Elements that occur twice count twice. An empty
    set has the value 0 with any set.

    >>> from mercer import kernels
    >>> kernels.DerivedSubsets(kernels.RBF(gamma=0.5)).fit([{0, 1}])([{0, 1}], [{1, 3}]).round(6)
    array([[1.752975]])
    """

    kernel: Kernel
    mean: bool = boolean()


@final
@dataclass(frozen=True)
class MeanEmbedding(ElementPairs):
    """k(A, B) = the mean of k0(a, b) over all a in A and b in B: the inner product of mean embeddings.

    A bag is treated as a sample: only its distribution matters, not its size. An empty bag has the value 0 with any
    bag. ``RBF(over=MeanEmbedding(k0))`` is a Gaussian of the distance between distributions.

    >>> from mercer import kernels
    >>> kernels.MeanEmbedding(kernels.RBF(gamma=0.5)).fit([{0, 1}])([{0, 1}], [{1, 3}]).round(6)
    array([[0.438244]])
    """

    kernel: Kernel

    mean = True


@jit
def _gather(block: Array, owners: Array, others: Array, out: Array) -> None:
    for i in range(block.shape[0]):
        line = out[owners[i]]
        for j in range(block.shape[1]):
            line[others[j]] += block[i, j]
