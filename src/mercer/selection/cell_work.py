"""What is done in each cell: its machine is trained, and another one tells what probabilities are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from mercer._types import Float64, Indices
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.training.kernel_estimator import fit_with_kernel

SURE = 1.0
"""The decision value of a cell that holds one class alone, where no probabilities are asked for."""


@final
@dataclass(frozen=True, eq=False)
class CellTargets:
    """What is known of the objects of a cell."""

    targets: Any
    weights: Float64 | None
    split: tuple[Indices, Indices] | None = None
    """Places of objects to train another machine on, and of those that it is asked for."""


@final
@dataclass(frozen=True, eq=False)
class TrainedCell:
    """The machine of a cell, and decision values of the objects that another one did not see."""

    machine: Any
    held_out: Float64 | None = None


@final
@dataclass(frozen=True, eq=False)
class CellWork:
    """Trains the machines of a cell, wherever it is sent."""

    estimator: Any
    kernel: FittedKernel
    labels: npt.NDArray[Any] | None
    """All classes, of classifiers."""

    def __call__(self, objects: Objects, known: CellTargets) -> TrainedCell:
        machine = self._trained(objects, known, slice(None))
        if known.split is None or self.labels is None:
            return TrainedCell(machine)
        seen, asked = known.split
        other = self._trained(objects.take(seen), known, seen)
        return TrainedCell(machine, class_values(other, objects.take(asked), self.labels))

    def _trained(self, objects: Objects, known: CellTargets, places: Any) -> Any:
        given = {} if known.weights is None else {"sample_weight": known.weights[places]}
        return fit_with_kernel(clone(self.estimator), self.kernel, objects, known.targets[places], **given)


def class_values(machine: Any, part: Objects, labels: Any) -> Float64:
    """Decision values with a column for each of the classes, those that the machine never saw below the others."""
    values = np.asarray(machine.decision_function(part))
    if len(labels) == 2:
        return values
    columns = np.column_stack([-values / 2, values / 2]) if values.ndim == 1 else values
    out = np.repeat(columns.min(axis=1, keepdims=True) - SURE, len(labels), axis=1)
    out[:, np.searchsorted(labels, machine.classes_)] = columns
    return out
