"""Ways to train on all objects: one exact machine, exact machines in cells, or one machine on landmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from mercer._types import Float64
from mercer.estimators.kernel_ridge_cv import KernelRidgeCV
from mercer.estimators.svr import SVR
from mercer.gram.executors import Threads
from mercer.inputs.base import Objects
from mercer.inputs.blocks import ArrayBlocks
from mercer.jobs.load import Load
from mercer.kernels.algebra.nystrom import Nystrom
from mercer.kernels.base import Kernel
from mercer.selection.cells import Cells
from mercer.selection.learner import Learner, rounded

EXACT, CELLS, LANDMARKS = "exact", "cells", "landmarks"
CELL_SIZES = (2000, 8000)
"""Objects of a cell. Smaller ones lose at borders, larger ones hardly gain: on forest cover, 95.8, 96.0 and 96.0 % are
right with 2,000, 5,000 and 20,000."""
NUMBERS_OF_LANDMARKS = (300, 1000, 3000)
"""Time grows with their square."""


@final
@dataclass(frozen=True)
class Way:
    """How a machine is trained on many objects."""

    kind: str
    size: int = 0
    """Objects of a cell, or landmarks."""

    def __str__(self) -> str:
        return {EXACT: "exact", CELLS: f"cells of {self.size:,}", LANDMARKS: f"{self.size:,} landmarks"}[self.kind]

    def seconds(self, n: int, load: Load) -> float:
        """About how long it takes on two cores, by counts alone."""
        if self.kind == CELLS:
            return load.cells(n, self.size)
        return load.exact(n) if self.kind == EXACT else load.landmarks(n, self.size)

    def solves_path(self, learner: Learner) -> bool:
        """Whether all penalties come from one decomposition: those of least squares on landmarks."""
        return self.kind == LANDMARKS and isinstance(learner.template, SVR)

    def penalty_name(self, learner: Learner) -> str:
        """What its penalty is called."""
        return "alpha" if self.solves_path(learner) else learner.penalty

    def kernel(self, kernel: Kernel) -> Kernel:
        """The kernel of the machine."""
        return Nystrom(kernel, m=self.size) if self.kind == LANDMARKS else kernel

    def bytes(self) -> int:
        """Memory that training takes whatever the number of objects is: sums of products of m features."""
        return 8 * self.size**2 * (Threads().count + 2) if self.kind == LANDMARKS else 0

    def machine(self, learner: Learner, kernel: Kernel, penalty: float, time_limit: float | None = None) -> Any:
        """The machine, not trained yet.

        Numbers are learnt on landmarks by least squares, in one pass for all penalties, which are then chosen by
        leaving out each object in turn. The tube of a support vector regression saves nothing there.
        """
        if self.solves_path(learner):
            memory = learner.template.memory
            return KernelRidgeCV(alphas=RIDGES_OF_MANY, kernel=self.kernel(kernel), fit_intercept=True, memory=memory)
        own = learner.trained(self.kernel(kernel), penalty, time_limit)
        return Cells(clone(own), self.size, random_state=0) if self.kind == CELLS else own

    def fit(self, machine: Any, objects: Objects, y: npt.NDArray[Any], weights: Float64 | None = None) -> Any:
        """Train the machine. On landmarks it goes through the objects in blocks, and keeps none but the landmarks."""
        if self.kind == LANDMARKS:
            return machine.fit(ArrayBlocks(objects, y, weights))
        return machine.fit(objects, y, **({} if weights is None else {"sample_weight": weights}))


RIDGES_OF_MANY = tuple(rounded(value) for value in np.geomspace(1e-4, 1e3, 15))
"""Penalties of least squares: a finer path than that of a search, since it costs nothing."""


def affordable(n: int, load: Load, seconds: float, kinds: Sequence[str] = (CELLS, LANDMARKS)) -> Iterable[Way]:
    """The approximations that take so long at most on n objects; the cheapest of each kind in any case."""
    for kind, sizes in ((CELLS, CELL_SIZES), (LANDMARKS, NUMBERS_OF_LANDMARKS)):
        if kind not in kinds:
            continue
        ways = [Way(kind, size) for size in sizes if size < n / 2]
        for place, way in enumerate(ways):
            if place == 0 or way.seconds(n, load) <= seconds:
                yield way
