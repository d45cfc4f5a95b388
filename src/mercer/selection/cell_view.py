"""All machines of `Cells` as one: which support objects decide about which new objects.

A new object is compared only with the support objects of its own cell. So the kernel values with all support objects,
with those of other cells set to zero, times the coefficients of all machines give the decision value of its cell's
machine, without the intercept. A cell with a single class has no machine; its centre represents it, with coefficients
of zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.training.voronoi import nearest
from mercer.training.voting import pairs


@final
@dataclass(frozen=True, eq=False)
class CellView:
    """Support objects of all cells with their coefficients, one column per output or pair of all classes."""

    expansion: Expansion
    """Its intercepts are zero: each cell has its own."""
    cell_of: Indices
    """The cell of each support object."""
    centres: Objects

    @classmethod
    def of(cls, model: Any) -> CellView:
        """The view of fitted `Cells`."""
        alone = np.array([machine is None for machine in model.estimators_])
        parts = [machine.expansion_ for machine in model.estimators_ if machine is not None]
        support = [part.support for part in parts]
        if alone.any():
            support.append(model.centres_.take(np.flatnonzero(alone)))
        cell_of = np.concatenate(
            [np.repeat(np.flatnonzero(~alone), [len(part.support) for part in parts]), np.flatnonzero(alone)]
        )
        labels = getattr(model, "classes_", None)
        outputs = parts[0].coefficients.shape[1] if parts and labels is None else 1
        outputs = outputs if labels is None else len(pairs(len(labels)))
        coefficients = np.zeros((len(cell_of), outputs))
        start = 0
        for machine in model.estimators_:
            if machine is not None:
                own = machine.expansion_.coefficients
                coefficients[start : start + len(own), _columns(machine, labels)] = own
                start += len(own)
        whole = Expansion(model.kernel_, support[0].joined(support), coefficients, np.zeros(outputs))
        return cls(whole, cell_of, model.centres_)

    def parts(self, objects: Objects) -> Iterator[tuple[Indices, Indices]]:
        """For each cell that contains some of the objects: the indices of these, and of its support objects."""
        cells = nearest(self.expansion.kernel, objects, self.centres)
        for cell in np.unique(cells):
            yield np.flatnonzero(cells == cell), np.flatnonzero(self.cell_of == cell)

    def similarities(self, objects: Objects) -> Float64:
        """Kernel values with the support objects of each object's own cell, and zero with all others."""
        found = np.zeros((len(objects), len(self.cell_of)))
        kernel, support = self.expansion.kernel, self.expansion.support
        for rows, columns in self.parts(objects):
            part = gram_of(kernel, objects.take(rows), support.take(columns), dtype=np.float64).exact()
            found[np.ix_(rows, columns)] = part
        return found


def places(model: Any) -> Indices:
    """Positions of the support objects of a view among the training objects; available only right after `fit`."""
    alone = np.array([machine is None for machine in model.estimators_])
    return np.concatenate([model.support_, model.centre_indices_[alone]])


def _columns(machine: Any, labels: Any) -> Any:
    """For each pair of classes of a machine, which may lack some classes, its index among the pairs of all classes."""
    if labels is None:
        return slice(None)
    codes = np.searchsorted(labels, machine.classes_).tolist()
    known = {pair: place for place, pair in enumerate(pairs(len(labels)))}
    return [known[codes[first], codes[second]] for first, second in pairs(len(codes))]
