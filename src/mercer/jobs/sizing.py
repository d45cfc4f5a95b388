"""On how many objects kernels are compared, and which."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.inputs.base import Objects
from mercer.jobs.machines import Learner
from mercer.readers.data import CATEGORY, NUMBER, Column, Data

SECONDS = 90.0
"""What a search should take on two cores, about, where nobody says otherwise."""
_FEWEST, _MOST, _STEP = 2000, 20_000, 500
_LOOKED_AT = 200
_MACHINE = 30e-9
"""Seconds of training a support vector machine, for every pair of objects ..."""
_RIDGE = 1e-11
"""... and of solving a ridge regression, for every three."""
_CHEAP, _DEAR = 0.2e-9, 30e-9
"""Seconds for a kernel value, for each number of a vector, or each letter, node or branch of anything else."""


def search_size(
    data: Data, objects: Any, *, kernels: int, fits: int, learner: Learner, time_limit: float | None
) -> int:
    """How many objects a search can afford: from counts alone, so that it is the same on every machine.

    `fits` is the number of machines that are trained in all. A clock would be nearer to the truth, but then a busy
    machine would choose another kernel, and an interrupted search could not be resumed.
    """
    entry = kernels * _entry(data, objects)
    budget = SECONDS if time_limit is None else min(SECONDS, time_limit / 2)
    size = _FEWEST
    while size < _MOST and _seconds(size + _STEP, entry, fits, learner) <= budget:
        size += _STEP
    return size


def _seconds(n: int, entry: float, fits: int, learner: Learner) -> float:
    training = _RIDGE * n**3 if learner.name == "KernelRidge" else _MACHINE * n**2
    return entry * n**2 + fits * training


def _entry(data: Data, objects: Any) -> float:
    """Seconds for a value of a kernel between two of these objects, about."""
    if data.kind == "table":
        return sum(map(_column, data.objects.values()))
    if not isinstance(objects, Objects) or not len(objects):  # of a Gram matrix nothing is left to compute
        return 0.0
    some = _some(len(objects))
    numbers = sum(array.size for array in objects.take(some).to_arrays().values()) / len(some)
    return (_CHEAP if data.kind == "vectors" else _DEAR) * numbers


def _column(column: Column) -> float:
    if column.kind in (NUMBER, CATEGORY):
        return _CHEAP
    return _DEAR * float(np.mean([len(str(value)) for value in column.values[_some(len(column.values))]]))


def _some(n: int) -> npt.NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, _LOOKED_AT).astype(np.intp))


def sample(y: npt.NDArray[Any], task: str, most: int, seed: int) -> npt.NDArray[np.intp]:
    """Which objects to search on: all, or a random part with at least three of every class."""
    if len(y) <= most:
        return np.arange(len(y))
    order = np.random.default_rng(seed).permutation(len(y))
    chosen = order[:most]
    if task == "classification":
        extra = [order[y[order] == label][:3] for label in np.unique(y)]
        chosen = np.unique(np.concatenate([chosen, *extra]))
    return np.sort(chosen)


def taken(objects: Any, rows: npt.NDArray[np.intp]) -> Any:
    """The objects at these rows; of a Gram matrix, rows and columns."""
    return objects.take(rows) if isinstance(objects, Objects) else np.asarray(objects)[np.ix_(rows, rows)]
