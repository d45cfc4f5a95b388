"""The rows, or the columns, of a view of a Gram matrix."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from mercer._types import Indices
from mercer.kernels.base import Features


@dataclass(frozen=True, eq=False)
class Axis:
    """Which objects of the underlying matrix a view has, in which order; an object may occur several times."""

    size: int
    """The number of objects of the underlying matrix."""
    chosen: Indices | None = None
    """None for all of them, in order."""

    def __len__(self) -> int:
        return self.size if self.chosen is None else len(self.chosen)

    @property
    def ids(self) -> Indices:
        return np.arange(self.size) if self.chosen is None else self.chosen

    def of(self, ids: Indices) -> Self:
        """These objects of the underlying matrix."""
        return dataclasses.replace(self, chosen=ids)

    def select(self, index: Any) -> Self:
        """The objects at these positions of the view."""
        return self if isinstance(index, slice) and index == slice(None) else self.of(self.ids[index])


@final
@dataclass(frozen=True, eq=False)
class FeatureAxis(Axis):
    """Objects with what the kernel keeps of each of them."""

    features: Any = None
    """Of all objects of the underlying matrix."""

    @classmethod
    def all_of(cls, features: Features) -> FeatureAxis:
        return cls(len(features), None, features)

    @cached_property
    def taken(self) -> Any:
        """The features of the objects of this view. Taking copies them: once per view, not once per product."""
        return self.features if self.chosen is None else self.features.take(self.chosen)


def coincident(rows: Axis, columns: Axis) -> tuple[Indices, Indices]:
    """Positions (row, column) of equal objects, ordered by row."""
    if columns.chosen is None:
        return np.arange(len(rows)), rows.ids
    order = np.argsort(columns.chosen, kind="stable")
    if rows.chosen is None:
        return columns.chosen[order], order
    first = np.searchsorted(columns.chosen, rows.chosen, side="left", sorter=order)
    times = np.searchsorted(columns.chosen, rows.chosen, side="right", sorter=order) - first
    hits = np.repeat(np.arange(len(rows)), times)
    nth = np.arange(len(hits)) - np.repeat(np.cumsum(times) - times, times)
    return hits, order[first[hits] + nth]
