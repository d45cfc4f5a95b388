"""What it costs to train on so many objects, by counts: rates are those of the library's cost model.

No clock is read. Measuring the time would be more accurate, but then a busy computer would choose otherwise, and an
interrupted search could not be resumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.gram import cost
from mercer.inputs.base import Objects
from mercer.readers.data import CATEGORY, NUMERIC, Column, Data
from mercer.selection.learner import Learner, evenly_spread

_SAMPLE = 200
"""How many objects are measured to know the mean size of all, within a few per cent."""
_PER_NUMBER, _PER_SYMBOL = 0.2e-9, 30e-9
"""Seconds for a kernel value, roughly: per number of a vector, or per letter, node or branch of anything else."""
_CORES = 2
"""Of the computer that seconds are told for."""
_SOLVED = 0.02
"""Nanoseconds of one core for each cubed object, of least squares by a factorisation: measured, 1.3 s for 4,000."""
_BY_PRODUCTS = 12.0
"""Nanoseconds of one core for each pair of objects, of least squares by conjugate gradients: 117 s for 100,000."""
_LOOKED_AT = 1 / 3
"""What support vector machines take of the time of all kernel values and all steps: they look only at rows whose
coefficients move. Measured on forest cover (C = gamma = 32), 5,000, 20,000 and 100,000 objects take 0.15, 2.7 and 55
seconds of two cores, a third of what is counted. A smoother kernel (C = 10, gamma = 2) takes less, 0.06 and 0.5, and
so do very many objects, since they start from cells: 464,809 take 400."""
_ROUNDS_OF_CELLS = 3
"""How often objects are compared with all centres, until cells are of about one size."""


@final
@dataclass(frozen=True)
class Load:
    """What training costs in seconds of two cores."""

    entry: float
    """Seconds of two cores for a kernel value."""
    form: cost.Form
    """The work of the machine."""
    groups: int = 2
    """Classes: there is a machine for each pair of them."""

    @classmethod
    def of(cls, data: Data, objects: Any, learner: Learner, y: npt.NDArray[Any] | None = None) -> Load:
        """Of machines of this kind on these objects."""
        forms = {"KernelRidge": cost.LEAST_SQUARES, "SVR": cost.TUBE}
        classes = 2 if y is None or learner.task == "regression" else len(np.unique(y))
        return cls(_entry(data, objects), forms.get(type(learner.template).__name__, cost.KINKED), classes)

    def training(self, n: int) -> float:
        """Of one machine, or of one for each pair of classes, whose kernel values are there."""
        size = n if self.groups <= 2 else max(2, 2 * n // self.groups)
        one = cost.of_matrix(self.form, size, 0, np.inf) - cost.of_entries(size * size, 0)
        if self.form.factored:
            one = n**3 * _SOLVED
        return self.groups * (self.groups - 1) // 2 * one * 1e-9 / _CORES

    def exact(self, n: int) -> float:
        """Of a machine on all objects; least squares on many of them is solved by products."""
        training = self.training(n)
        if self.form.factored:
            return self.entry * n**2 + min(training, n * n * _BY_PRODUCTS * 1e-9 / _CORES)
        return _LOOKED_AT * (self.entry * n**2 + training)

    def cells(self, n: int, size: int) -> float:
        """Of machines in cells of so many objects: those of all cells, and the comparisons with centres."""
        many = max(1, round(n / size))
        return many * self.exact(min(n, size)) + _ROUNDS_OF_CELLS * self.entry * n * many

    def landmarks(self, n: int, m: int) -> float:
        """Of a machine on so many landmarks: rows, and steps on them; least squares takes one step."""
        m = min(n, m)
        form = cost.LEAST_SQUARES if self.form in (cost.LEAST_SQUARES, cost.TUBE) else self.form
        pairs, size = self.groups * (self.groups - 1) // 2, n if self.groups <= 2 else max(2, 2 * n // self.groups)
        steps = pairs * cost.of_weights(form, size, min(m, cost.MOST_FEATURES), m)
        return self.entry * n * m + (n * m * m * cost.MULTIPLY + steps) * 1e-9 / _CORES


def _entry(data: Data, objects: Any) -> float:
    """About how many seconds a kernel value between two of these objects takes."""
    if data.kind == "table":
        return sum(map(_column, data.objects.values()))
    if not isinstance(objects, Objects) or not len(objects):  # a Gram matrix is already computed
        return 0.0
    some = evenly_spread(len(objects), _SAMPLE)
    numbers = sum(array.size for array in objects.take(some).to_arrays().values()) / len(some)
    return (_PER_NUMBER if data.kind == "vectors" else _PER_SYMBOL) * numbers


def _column(column: Column) -> float:
    if column.kind in (*NUMERIC, CATEGORY):
        return _PER_NUMBER
    some = column.values[evenly_spread(len(column.values), _SAMPLE)]
    return _PER_SYMBOL * float(np.mean([len(str(value)) for value in some]))
