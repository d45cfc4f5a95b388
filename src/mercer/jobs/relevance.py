"""A Gaussian kernel that has learnt from the targets how much each column of numbers or categories matters."""

from __future__ import annotations

import functools
import operator
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import kernels
from mercer._types import Float64, Indices
from mercer.inputs.categories import Categories
from mercer.inputs.tables import Table
from mercer.inputs.vectors import Vectors
from mercer.jobs.preparation import Preparation
from mercer.kernels.base import Kernel
from mercer.readers.data import CATEGORY
from mercer.selection.learner import evenly_spread, rounded
from mercer.selection.relevance import column_widths

_MOST_COLUMNS = 100
"""The most widths that can be learnt from the objects used."""
_FEWEST, _USUAL, _MOST = 40, 300, 600
"""How many objects widths are learnt from: with fewer they fit noise; more take cubic time and change little."""
_PER_COLUMN = 20
"""Objects for each column, between these bounds: of 32 columns, of which four matter, 300 objects find the wrong ones
in a third of all samples, 600 in none."""
_NOTHING = 1e-3
"""The fraction of the largest gamma below which a column is left out."""


@final
class Relevance:
    """Creates the kernel for the objects that a machine is trained on."""

    def __init__(self, objects: Table | Vectors, preparation: Preparation, y: npt.NDArray[Any], task: str) -> None:
        self._names = list(preparation.logarithms or preparation.numbers) + list(preparation.gaps)
        self._words = preparation.names(CATEGORY)
        self._X, self._groups = _columns(objects, self._names, self._words)
        self._Y = _targets(y, task)
        self._known: dict[bytes, Kernel] = {}

    @staticmethod
    def suits(objects: Any, preparation: Preparation) -> bool:
        """Whether there are columns to choose from, and not too many."""
        if preparation.kind == "table":
            others = len(preparation.columns) - len(preparation.names(CATEGORY)) - len(preparation.fills)
            many = len(preparation.numbers) + len(preparation.names(CATEGORY))
            return others == 0 and 2 <= many <= _MOST_COLUMNS and len(objects) >= _FEWEST
        if not isinstance(objects, Vectors) or objects.is_sparse:
            return False
        return 2 <= objects.n_features <= _MOST_COLUMNS and len(objects) >= _FEWEST

    def kernel(self, rows: Indices) -> Kernel:
        """The kernel for a machine that is trained on these objects."""
        key = rows.tobytes()
        if key not in self._known:
            many = min(max(_USUAL, _PER_COLUMN * self._X.shape[1]), _MOST)
            self._known[key] = self._learnt(rows[evenly_spread(len(rows), many)])
        return self._known[key]

    def _learnt(self, seen: Indices) -> Kernel:
        gamma = column_widths(self._X[seen], self._groups, self._Y[seen])
        weights = [rounded(float(one)) if one >= _NOTHING * gamma.max() else 0.0 for one in gamma]
        if not self._names and not self._words:
            return kernels.RBF(gamma=tuple(weights))
        parts: list[Kernel] = []
        numbers = tuple(weights[: len(self._names)])
        if any(numbers):
            parts.append(kernels.on(self._names, kernels.RBF(gamma=numbers)))
        for name, weight in zip(self._words, weights[len(self._names) :], strict=True):
            if weight:  # the indicators of two categories have a squared distance of 2
                parts.append(kernels.on(name, kernels.RBF(gamma=rounded(weight / 2), over=kernels.Categorical())))
        whole: Kernel = functools.reduce(operator.mul, parts)
        return whole


def _columns(objects: Table | Vectors, names: list[str], words: list[str]) -> tuple[Float64, Indices]:
    """All columns as numbers, with indicators in place of categories; and which of them share a width."""
    if isinstance(objects, Vectors):
        values = np.asarray(objects.values, dtype=np.float64)
        return values, np.arange(values.shape[1])
    found = [np.asarray(objects.objects(tuple(names), Vectors).values, dtype=np.float64)] if names else []
    groups = list(range(len(names)))
    for name in words:
        column = objects.objects((name,), Categories).codes[:, 0]
        indicators = (column[:, None] == np.unique(column)[None, :]) / np.sqrt(2.0)
        groups += [max(groups, default=-1) + 1] * indicators.shape[1]
        found.append(indicators)
    return np.hstack(found), np.array(groups, dtype=np.intp)


def _targets(y: npt.NDArray[Any], task: str) -> Float64:
    """Numbers as they are, or the indicator of each class; for two classes, one is enough."""
    if task == "regression":
        return np.asarray(y, dtype=np.float64)[:, None]
    classes = np.unique(y)
    told = classes[:1] if len(classes) == 2 else classes
    return np.asarray(y[:, None] == told[None, :], dtype=np.float64)
