"""Pipelines that end in a kernel machine: the steps before it are fitted once per fold, and each measure is too.

The output of the steps differs from fold to fold, so a Gram matrix belongs to one fold; kernels that differ only in a
width, and machines that differ only in a penalty, share it.
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
from mercer.selection.blocks import Block, applied, block_between, depends_on_data, measuring, precision
from mercer.selection.scoring import FoldScorer


@final
@dataclass(frozen=True, eq=False)
class PipelineSteps:
    """Supplies the kernel values of pipelines that agree in all steps before the machine."""

    estimator: Any
    """Any of the pipelines."""
    steps: Any
    """The steps before the machine, unfitted; None if there is none."""
    scorer: FoldScorer
    memory: Memory

    def fits(self, n: int, largest: int, threads: int) -> bool:
        """Whether the memory suffices for every thread to keep a measure and the values of a kernel for a fold."""
        return budget.holds(self.memory, 2 * threads * n * largest * np.dtype(np.float64).itemsize)

    def fold(self, train: Indices, test: Indices) -> Fold:
        """Fit the steps on the training part, and transform both parts."""
        known, new = self.scorer.parts(self.estimator, (train, test))
        if self.steps is None:
            return Fold(known, new, self.memory)
        steps = clone(self.steps)
        known = steps.fit_transform(known, self.scorer.targets(train))
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
            return block_between(kernel, known, new, asked, self.memory)
        dtype = precision(kernel, known, len(known), asked)
        state = kernel.fit(known).state
        key = (kernel.measure, dtype)
        if self._measure is None or self._measure[0] != key:
            self._measure = None  # frees its memory before the next is computed
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
