"""Pipelines that end in a kernel machine: the steps before it are fitted once per fold, and so is each measure.

What comes out of the steps differs from fold to fold, so a Gram matrix belongs to one fold; kernels that differ in a
width alone, and machines that differ in a penalty, share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone

from mercer._types import DType, Float64, Floating, Indices
from mercer.gram import budget
from mercer.gram.budget import Memory
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.selection.blocks import Afresh, Block, applied, depends_on_data, measuring, precision
from mercer.selection.judging import Judge


@final
@dataclass(frozen=True, eq=False)
class Piped:
    """Where settings of a pipeline that agree in all steps before the machine have their kernel values from."""

    estimator: Any
    """Any of the pipelines."""
    steps: Any
    """The steps before the machine, unfitted; None if there is none."""
    judge: Judge
    memory: Memory

    def fits(self, n: int, largest: int, threads: int) -> bool:
        """Whether every thread may keep a measure and the values of a kernel for a fold of this size."""
        return 2 * threads * n * largest * np.dtype(np.float64).itemsize <= budget.stored_bytes(self.memory)

    def fold(self, train: Indices, test: Indices) -> Fold:
        """Fit the steps on one part of the objects, and take both parts through them."""
        known, new = self.judge.parts(self.estimator, train, test)
        if self.steps is None:
            return Fold(known, new, self.memory)
        steps = clone(self.steps)
        known = steps.fit_transform(known, self.judge.targets(train))
        for _, step in steps.steps:  # one by one: a pipeline would ask its last step whether it is fitted
            new = new if step in (None, "passthrough") else step.transform(new)
        return Fold(known, new, self.memory)


@final
@dataclass(eq=False)
class Fold:
    """Both parts of a fold as the machine sees them, and the values of the last measure."""

    known: Any
    new: Any
    memory: Memory
    _parsed: dict[type[Objects], tuple[Objects, Objects]] | None = None
    _measure: tuple[Any, tuple[Floating, Floating, Float64, Float64]] | None = None

    def block(self, kernel: Kernel, asked: DType | None) -> Block:
        """The values of a kernel fitted on the training part."""
        known, new = self._objects(kernel)
        if depends_on_data(kernel.measure):
            return Afresh.between(kernel, known, new, asked, self.memory)
        dtype = precision(kernel, known, len(known), asked)
        state = kernel.fit(known).state
        key = (kernel.measure, dtype)
        if self._measure is None or self._measure[0] != key:
            self._measure = None  # one at a time: its room is needed
            fitted = measuring(kernel, state)
            square = gram_of(fitted, known, dtype=dtype, memory=self.memory)
            across = gram_of(fitted, new, known, dtype=dtype, memory=self.memory)
            own = fitted.diagonal(fitted.features(new))
            self._measure = key, (square.dense(), across.dense(), square.diagonal(), own)
        inside, between, *diagonals = self._measure[1]
        return applied(kernel, state, inside.copy(), between.copy(), *diagonals)

    def _objects(self, kernel: Kernel) -> tuple[Objects, Objects]:
        self._parsed = {} if self._parsed is None else self._parsed
        if kernel.domain not in self._parsed:
            self._parsed[kernel.domain] = kernel.coerce(self.known), kernel.coerce(self.new)
        return self._parsed[kernel.domain]
