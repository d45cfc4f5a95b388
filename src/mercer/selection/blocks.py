"""Blocks of Gram matrices for the folds of a cross-validation, with as little computed as possible.

Most kernels are f(measure): kernels that differ only in f, a grid over gamma for example, share one stored matrix of
the measure, and f is applied to each fold's copy. Kernels that depend on the data are fitted on each training part;
if only f depends on the data (gamma="scale"), the measure is still shared.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import cast, final

import numpy as np

from mercer._types import DType, Float64, Floating, Indices
from mercer.gram import known
from mercer.gram.budget import Memory
from mercer.gram.contract import Gram
from mercer.gram.executors import Threads
from mercer.gram.make import DOUBLE_ENTRIES, gram_of
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.base import FittedKernel, Kernel, Measure, State
from mercer.selection.lookup import known_rows


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
    executor: Threads
    entries: int = 0
    """The number of values computed so far."""
    seconds: float = 0.0
    """How many seconds that took."""
    stored: Gram | None = None
    """The matrix, while it is needed."""

    def bytes(self, largest: int, threads: int) -> int:
        """The memory of the matrix, and of a block of `largest` rows in each thread."""
        n = len(self.objects)
        return (n * n + threads * largest * n) * np.dtype(self.dtype).itemsize

    def store(self) -> None:
        """Compute the matrix, on all cores."""
        if self.stored is None:
            began = time.perf_counter()
            self.stored = self.computed()
            self.entries += self.stored.entries_computed
            self.seconds += time.perf_counter() - began

    def computed(self) -> Gram:
        """Compute the matrix again."""
        fitted = measuring(self.kernel, self.kernel.fit(self.objects).state)
        matrix = gram_of(fitted, self.objects, dtype=self.dtype, memory=self.memory, executor=self.executor).stored()
        known.note(fitted, self.objects, matrix)
        return matrix

    def release(self) -> None:
        """Free its memory."""
        self.stored = None

    def block(self, kernel: Kernel, train: Indices, test: Indices) -> Block:
        matrix = self.stored
        assert matrix is not None
        state = kernel.fit(self.objects.take(train) if kernel.data_dependent else self.objects).state
        own = matrix.diagonal()
        square, across = matrix.view(train).dense(), matrix.view(test, train).dense()
        return applied(kernel, state, square, across, own[train], own[test])


@final
@dataclass(frozen=True, eq=False)
class PerFold(Source):
    """Everything is computed for each fold, by a kernel fitted on its training part."""

    objects: Objects
    dtype: DType | None
    memory: Memory

    def block(self, kernel: Kernel, train: Indices, test: Indices) -> Block:
        return block_between(kernel, self.objects.take(train), self.objects.take(test), self.dtype, self.memory)


def block_between(kernel: Kernel, known: Objects, new: Objects, dtype: DType | None, memory: Memory) -> Block:
    """The values of a kernel fitted on the objects `known`."""
    fitted = kernel.fit(known)
    square = gram_of(fitted, known, dtype=dtype, memory=memory)
    across = gram_of(fitted, new, known, dtype=dtype, memory=memory)
    own = fitted.diagonal(fitted.features(new))
    return _block(square.dense(), square.diagonal(), across.dense(), own)


def measuring(kernel: Kernel, state: State) -> FittedKernel:
    """The fitted measure of a kernel: a measure has everything that a Gram matrix needs from a kernel."""
    return FittedKernel(cast(Kernel, kernel.measure), kernel.measure_state(state))


def applied(kernel: Kernel, state: State, square: Floating, across: Floating, known: Float64, new: Float64) -> Block:
    """Values of a kernel from those of its measure, which are overwritten; `known` and `new` are its diagonals."""
    with np.errstate(over="ignore"):  # reported when an estimator asks for the diagonal
        diagonals = [_pointwise(kernel, state, own.reshape(1, -1).copy())[0] for own in (known, new)]
    kernel.pointwise(square, state)
    np.fill_diagonal(square, diagonals[0])
    kernel.pointwise(across, state)
    return _block(square, diagonals[0], across, diagonals[1])


def _block(square: Floating, known: Float64, across: Floating, new: Float64) -> Block:
    return Block(known_rows(square, known, training=True), known_rows(across, new, training=False))


def _pointwise(kernel: Kernel, state: State, values: Float64) -> Float64:
    kernel.pointwise(values, state)
    return values


def depends_on_data(measure: Measure) -> bool:
    """Whether the values of a measure depend on what it was fitted on.

    A measure that is not a kernel (a distance) uses the data only to reduce rounding errors, unless it is made of a
    kernel that depends on them.
    """
    if isinstance(measure, Kernel):
        return measure.data_dependent
    return any(kernel.data_dependent for kernel in measure.children)


def precision(kernel: Kernel, objects: Objects, largest: int, asked: DType | None) -> DType:
    """The precision in which a fit on `largest` of these objects would compute its Gram matrix."""
    if asked is not None or largest**2 <= DOUBLE_ENTRIES:
        return asked or np.float64
    fitted = kernel.fit(objects)
    features = fitted.features(objects, np.float32)
    return np.float32 if kernel.single_precision(features, fitted.state) else np.float64
