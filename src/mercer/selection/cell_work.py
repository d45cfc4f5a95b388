"""The work in each cell: a machine is trained, and a second one for the held-out values behind probabilities."""

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
"""The decision value in a cell with a single class, if no probabilities are learnt: that of an object on the margin."""


@final
@dataclass(frozen=True, eq=False)
class CellTargets:
    """The targets of the objects of a cell, their weights, and a split to learn probabilities."""

    targets: Any
    weights: Float64 | None
    split: tuple[Indices, Indices] | None = None
    """Indices of the objects on which a second machine is trained, and of those for which its values are computed."""


@final
@dataclass(frozen=True, eq=False)
class TrainedCell:
    """The machine of a cell, and decision values of the objects held out from the second machine."""

    machine: Any
    held_out: Float64 | None = None


@final
@dataclass(frozen=True, eq=False)
class CellWork:
    """Trains the machines of a cell, wherever it is sent."""

    estimator: Any
    kernel: FittedKernel
    labels: npt.NDArray[Any] | None
    """All classes; None for regressors."""

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
    """Decision values with one column per class; classes that the machine never saw have the lowest."""
    values = np.asarray(machine.decision_function(part))
    if len(labels) == 2:
        return values
    columns = np.column_stack([-values / 2, values / 2]) if values.ndim == 1 else values
    out = np.repeat(columns.min(axis=1, keepdims=True) - SURE, len(labels), axis=1)
    out[:, np.searchsorted(labels, machine.classes_)] = columns
    return out
