"""Blocks of Gram matrices for the folds of a cross-validation, with as little computed as possible.

Most kernels are f(measure): kernels that differ in f alone, a grid over gamma for example, share one stored matrix of
the measure, and f is applied to each fold's copy. Kernels that depend on the data are fitted on each training part;
where only f depends on them (gamma="scale"), the measure is shared all the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer._types import DType, Float64, Floating, Indices
from mercer.gram.budget import Memory
from mercer.gram.contract import Gram
from mercer.gram.executors import Executor
from mercer.gram.make import DOUBLE_ENTRIES, gram_of
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.base import Features, FittedKernel, Kernel, Measure, State, children
from mercer.selection.held import new_rows, training_rows


@final
@dataclass(frozen=True, eq=False)
class Block:
    """One fold: training objects, and objects to be predicted."""

    train: GramRows
    test: GramRows


class Source(ABC):
    """Where the blocks of a kernel come from."""

    @abstractmethod
    def block(self, kernel: Kernel, train: Indices, test: Indices) -> Block:
        """The values between training objects, and between test and training objects."""


@final
@dataclass(eq=False)
class Shared(Source):
    """One stored matrix of a measure, for all kernels that are functions of it and for all folds."""

    kernel: Kernel
    """Any of the kernels."""
    objects: Objects
    dtype: DType
    memory: Memory
    executor: Executor
    _base: Gram | None = None

    def bytes(self, largest: int, threads: int) -> int:
        """What the matrix, and a block of so many rows in each thread, take."""
        n = len(self.objects)
        return (n * n + threads * largest * n) * np.dtype(self.dtype).itemsize

    def store(self) -> None:
        """Compute the matrix, on all cores."""
        if self._base is None:
            fitted = measuring(self.kernel, self.kernel.fit(self.objects).state)
            base = gram_of(fitted, self.objects, dtype=self.dtype, memory=self.memory, executor=self.executor)
            self._base = base.stored()

    def release(self) -> None:
        """Forget it again."""
        self._base = None

    def block(self, kernel: Kernel, train: Indices, test: Indices) -> Block:
        base = self._base
        assert base is not None
        state = kernel.fit(self.objects.take(train) if kernel.data_dependent else self.objects).state
        own = base.diagonal()
        return applied(kernel, state, base.view(train).dense(), base.view(test, train).dense(), own[train], own[test])


@final
@dataclass(frozen=True, eq=False)
class Afresh(Source):
    """Everything computed for each fold, by a kernel fitted on its training part."""

    objects: Objects
    dtype: DType | None
    memory: Memory

    def block(self, kernel: Kernel, train: Indices, test: Indices) -> Block:
        return self.between(kernel, self.objects.take(train), self.objects.take(test), self.dtype, self.memory)

    @staticmethod
    def between(kernel: Kernel, known: Objects, new: Objects, dtype: DType | None, memory: Memory) -> Block:
        """The values of a kernel fitted on the objects `known`."""
        fitted = kernel.fit(known)
        square = gram_of(fitted, known, dtype=dtype, memory=memory)
        across = gram_of(fitted, new, known, dtype=dtype, memory=memory)
        own = fitted.diagonal(fitted.features(new))
        return Block(training_rows(square.dense(), square.diagonal()), new_rows(across.dense(), own))


def measuring(kernel: Kernel, state: State) -> FittedKernel:
    """The measure of a kernel, fitted, as something of which there are Gram matrices."""
    measure = kernel.measure
    return FittedKernel(measure if isinstance(measure, Kernel) else _Measured(measure), kernel.measure_state(state))


def applied(kernel: Kernel, state: State, square: Floating, across: Floating, known: Float64, new: Float64) -> Block:
    """Values of a kernel from those of its measure, which are overwritten; `known` and `new` are its diagonals."""
    with np.errstate(over="ignore"):  # answered in words when an estimator asks for the diagonal
        diagonals = [_pointwise(kernel, state, own.reshape(1, -1).copy())[0] for own in (known, new)]
    kernel.pointwise(square, state)
    np.fill_diagonal(square, diagonals[0])
    kernel.pointwise(across, state)
    return Block(training_rows(square, diagonals[0]), new_rows(across, diagonals[1]))


def _pointwise(kernel: Kernel, state: State, values: Float64) -> Float64:
    kernel.pointwise(values, state)
    return values


def depends_on_data(measure: Measure) -> bool:
    """Whether values of a measure depend on what it was fitted on.

    A measure that is no kernel (a distance) looks at the data for the sake of rounding alone, unless it is made of a
    kernel that does.
    """
    if isinstance(measure, Kernel):
        return measure.data_dependent
    return any(kernel.data_dependent for kernel in children(measure))


def precision(kernel: Kernel, objects: Objects, largest: int, asked: DType | None) -> DType:
    """The precision in which a fit on `largest` of these objects would compute its Gram matrix."""
    if asked is not None or largest**2 <= DOUBLE_ENTRIES:
        return asked or np.float64
    fitted = kernel.fit(objects)
    features = fitted.features(objects, np.float32)
    return np.float32 if kernel.single_precision(features, fitted.state) else np.float64


@final
@dataclass(frozen=True)
class _Measured(Kernel):
    """A measure that is no kernel, so that a Gram matrix can hold it."""

    inner: Measure

    @property
    def domain(self) -> type[Objects]:
        return self.inner.domain

    @property
    def psd(self) -> bool:
        return False

    @property
    def symmetric(self) -> bool:
        return all(kernel.symmetric for kernel in children(self.inner))

    def resolve(self, objects: Any) -> State:
        return self.inner.resolve(objects)

    def features(self, objects: Any, state: State, dtype: DType) -> Features:
        return self.inner.features(objects, state, dtype)

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        return self.inner.align(left, right, state)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        self.inner.tile(left, right, state, out)

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        return self.inner.tile_entries(left, right, state)

    def diagonal(self, features: Any, state: State) -> Float64:
        return self.inner.diagonal(features, state)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.distance import SquaredEuclidean

        yield cls(SquaredEuclidean())
