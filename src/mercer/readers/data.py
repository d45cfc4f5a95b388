"""`Data`: objects of one kind read from a file, with what is known about them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._cached import cached_property
from mercer._types import Float64, Index
from mercer.inputs.base import Objects

NUMBER, CATEGORY, TEXT, SEQUENCE, SMILES, TREE = "number", "category", "text", "sequence", "smiles", "tree"
DATE = "date"
NUMERIC = (NUMBER, DATE)
"""The kinds whose values are floats; those of dates are days since 1970."""


@final
@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table: numbers or days, NaN if missing, or strings, None if missing."""

    name: str
    kind: str
    values: npt.NDArray[Any]
    style: str = ""
    """The notation of the values in the file, if they are not plain numbers or words: the name of a date format, or of
    a `Style`."""

    @cached_property
    def missing(self) -> npt.NDArray[np.bool_]:
        if self.kind in NUMERIC:
            return np.asarray(np.isnan(self.values))
        return np.asarray(self.values == np.array(None), dtype=np.bool_)

    def take(self, index: Index) -> Column:
        return Column(self.name, self.kind, self.values[index], self.style)


@final
@dataclass(frozen=True, eq=False)
class Data:
    """Objects read from a file.

    `kind` is "table", "vectors", "strings", "graphs", "trees" or "gram". The objects of a table are its columns, by
    name; those of other kinds are what a kernel on that kind accepts.
    """

    name: str
    """The name of the file in messages."""
    format: str
    kind: str
    objects: Any
    labels: npt.NDArray[Any] | None = None
    """Strings, or numbers if every label is one."""
    target: str | None = None
    """The name of the labels."""
    ids: Sequence[str] | None = None
    lines: Sequence[int] | None = None
    """The line of the file that each object comes from."""
    notes: tuple[str, ...] = ()
    """What the reader detected and decided, in sentences for the user."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What else is known: for a table, `id`, the column that names the rows, and those that `group`, `time` and
    `weight` name; the `class_names` that labels were given; for FASTA, the `label_pattern`; for a folder, whether
    `whole_files` are objects; for sparse rows, the `first` index; for a Gram matrix, the names of its `columns`."""
    groups: npt.NDArray[Any] | None = None
    """Which objects belong together: objects of the same group are always in the same fold."""
    times: Float64 | None = None
    """When each object was seen, in any unit: folds respect their order."""
    weights: Float64 | None = None
    """The weight of each object, in training and in scores; None if all are equal."""
    before: int = 0
    """The number of objects of the file that come before these."""

    def __len__(self) -> int:
        if self.kind == "table":
            return len(next(iter(self.objects.values())).values)
        return int(self.objects.shape[0]) if self.kind == "vectors" else len(self.objects)

    @property
    def styles(self) -> dict[str, str]:
        """The notation of columns that are not plain numbers or words."""
        if self.kind != "table":
            return {}
        return {key: column.style for key, column in self.objects.items() if column.style}

    def name_of(self, position: int) -> str:
        """The name of one object in messages and results."""
        return str(self.ids[position]) if self.ids is not None else str(self.before + position + 1)

    def take(self, index: Index) -> Data:
        """The objects at these positions."""
        objects = self.objects
        if self.kind == "table":
            objects = {key: column.take(index) for key, column in objects.items()}
        return dataclasses.replace(
            self,
            objects=taken(objects, index),
            labels=taken(self.labels, index),
            ids=taken(self.ids, index),
            lines=taken(self.lines, index),
            groups=taken(self.groups, index),
            times=taken(self.times, index),
            weights=taken(self.weights, index),
        )


def taken(values: Any, index: Index | list[int]) -> Any:
    """The values at these positions, for any container."""
    if isinstance(values, Objects):
        return values.take(index if isinstance(index, slice) else np.asarray(index, dtype=np.intp))
    if values is None or isinstance(values, dict):
        return values
    if isinstance(index, slice) or hasattr(values, "shape"):
        return values[index]
    return [values[place] for place in index]
