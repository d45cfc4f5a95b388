"""What happens to the objects of a file before a kernel sees them: gaps are filled, numbers standardised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer._types import Float64
from mercer.errors import InputError
from mercer.inputs.base import Objects
from mercer.inputs.graphs import Graphs
from mercer.inputs.strings import Strings
from mercer.inputs.tables import Table
from mercer.inputs.trees import Trees
from mercer.inputs.vectors import Vectors
from mercer.readers.data import CATEGORY, NUMBER, SMILES, Column, Data
from mercer.readers.gram_files import columns_for
from mercer.readers.problems import count, problem

_FILL = {CATEGORY: "missing"}
OBJECT = "object"
_MOST_CHARACTERS = 300_000
"""Names of the objects of a Gram matrix are kept in the model up to this length in total; without them, new rows must
have their columns in the order of training."""
_DENSE_ENOUGH, _DENSE_FEATURES = 0.25, 2000
"""Sparse rows with at least this share of nonzero values and at most this many features become dense: products of
dense rows are faster from about a quarter on, and the memory stays small."""


@final
@dataclass(frozen=True, eq=False)
class Preparation:
    """Learnt from the training objects, kept in the model, and applied to all objects that are predicted."""

    kind: str
    columns: tuple[tuple[str, str], ...] = ()
    """Name and kind of each column of a table; of a Gram matrix, the names of the objects in its columns."""
    impute: bool = False
    fills: Float64 = field(default_factory=lambda: np.zeros(0))
    """The median of each column of numbers, which replaces missing ones."""
    centres: Float64 = field(default_factory=lambda: np.zeros(0))
    scales: Float64 = field(default_factory=lambda: np.ones(0))

    @classmethod
    def learn(cls, data: Data, *, scale: bool, impute: bool) -> Preparation:
        """Learn from training data; missing values are an error unless they are to be filled."""
        if data.kind == "table":
            return cls._of_table(data, scale=scale, impute=impute)
        if data.kind == "vectors":
            matrix = dense_if_small(data.objects)
            dense = scale and not sp.issparse(matrix)
            return cls("vectors", (), impute, np.zeros(0), *_moments(data, matrix, None, dense))
        if data.kind == "gram" and data.ids is not None and sum(map(len, data.ids)) < _MOST_CHARACTERS:
            return cls("gram", tuple((str(key), OBJECT) for key in data.ids))
        return cls(data.kind)

    @classmethod
    def _of_table(cls, data: Data, *, scale: bool, impute: bool) -> Preparation:
        columns = tuple((column.name, column.kind) for column in data.objects.values())
        if not impute:
            refuse_gaps(data, columns)
        numbers = [column.values for column in data.objects.values() if column.kind == NUMBER]
        fills = np.array([np.nanmedian(values) for values in numbers])
        filled = [np.where(np.isnan(v), fill, v) for v, fill in zip(numbers, fills, strict=True)]
        matrix = np.column_stack(filled) if filled else np.zeros((len(data), 0))
        names = [name for name, kind in columns if kind == NUMBER]
        return cls("table", columns, impute, fills, *_moments(data, matrix, names, scale))

    @property
    def standardised(self) -> bool:
        return bool((self.scales != 1.0).any() or (self.centres != 0.0).any())

    def names(self, *kinds: str) -> list[str]:
        """The columns of these kinds."""
        return [name for name, kind in self.columns if kind in kinds]

    def __call__(self, data: Data) -> Objects | Any:
        """The objects as the kernel takes them."""
        if data.kind != self.kind:
            raise problem(data.name, f"{_a(data.kind)}, where the model was trained on {_a(self.kind)}")
        if self.kind == "table":
            return self._table(data)
        if self.kind == "vectors":
            return Vectors.coerce(self._scaled(self._widened(data)))
        parsers: dict[str, type[Objects]] = {"strings": Strings, "trees": Trees, "graphs": Graphs}
        if self.kind in parsers:
            return parsers[self.kind].coerce(data.objects)
        columns = data.detail.get("columns")
        if columns is not None and self.columns:
            return data.objects[:, columns_for(data.name, columns, self.names(OBJECT))]
        return data.objects

    def of_columns(self, columns: Mapping[str, Any]) -> Table:
        """A table from columns in memory."""
        found = {}
        for name, kind in self.columns:
            if name not in columns:
                raise InputError(f"The table has no column {name!r}, which the model was trained with.")
            found[name] = Column(name, kind, np.asarray(columns[name], dtype=np.float64 if kind == NUMBER else object))
        return self._table(Data("the table", "table", "table", found))

    def _table(self, data: Data) -> Table:
        for name, kind in self.columns:
            if name not in data.objects:
                raise problem(data.name, f"no column {name!r}, which the model was trained with")
            found = data.objects[name].kind
            if (found == NUMBER) != (kind == NUMBER) and data.objects[name].missing.all():
                continue
            if kind == NUMBER and found != NUMBER:
                raise problem(data.name, "no numbers, as in training", column=name)
        if not self.impute:
            refuse_gaps(data, self.columns)
        prepared: dict[str, Any] = {}
        place = 0
        for name, kind in self.columns:
            column = data.objects[name]
            if kind == NUMBER:
                values = np.where(np.isnan(column.values), self.fills[place], column.values)
                prepared[name] = (values - self.centres[place]) / self.scales[place]
                place += 1
            else:
                prepared[name] = _words(column, kind)
        return Table(prepared)

    def _widened(self, data: Data) -> Any:
        """New sparse rows may lack the last features, which are then zero."""
        matrix: Any = data.objects
        width = len(self.scales)
        sparse = bool(sp.issparse(matrix))
        if matrix.shape[1] > width or (matrix.shape[1] < width and not sparse):
            raise problem(data.name, f"{matrix.shape[1]:,} features, where the model was trained with {width:,}")
        if sparse and matrix.shape[1] < width:
            matrix = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))
        return matrix.toarray() if sparse and self.standardised else matrix

    def _scaled(self, matrix: Any) -> Any:
        if not self.standardised:
            return dense_if_small(matrix)
        return (np.asarray(matrix, dtype=np.float64) - self.centres) / self.scales


def _a(kind: str) -> str:
    return {"table": "a table", "gram": "a Gram matrix"}.get(kind, kind)


def dense_if_small(matrix: Any) -> Any:
    """Rows that are hardly sparse are faster as dense ones, and can then be standardised."""
    sparse = bool(sp.issparse(matrix))  # by name: the stubs lose the type of what they narrow
    if not sparse or matrix.shape[1] > _DENSE_FEATURES:
        return matrix
    return matrix.toarray() if matrix.nnz > _DENSE_ENOUGH * matrix.shape[0] * matrix.shape[1] else matrix


def refuse_gaps(data: Data, columns: tuple[tuple[str, str], ...]) -> None:
    """An error about missing values: how to treat them is for the user to decide."""
    gaps = {name: data.objects[name].missing for name, _ in columns}
    total = sum(int(gap.sum()) for gap in gaps.values())
    if not total:
        return
    name, gap = next((name, gap) for name, gap in gaps.items() if gap.any())
    first = int(np.flatnonzero(gap)[0])
    many = sum(bool(gap.any()) for gap in gaps.values())
    raise problem(
        data.name,
        f"{int(gap.sum()):,} of {len(data):,} values are missing",
        line=None if data.lines is None else data.lines[first],
        column=name,
        hint=f"{count(total, 'value')} in {count(many, 'column')} missing. --impute fills them: numbers by the median, "
        "categories by one of their own.",
    )


def _words(column: Column, kind: str) -> npt.NDArray[Any]:
    """Text as it is; numbers become words again where training saw words."""
    words = np.empty(len(column.values), dtype=object)
    if column.kind == NUMBER:
        words[:] = ["" if np.isnan(v) else f"{v:g}" for v in column.values]
        gaps = np.isnan(column.values)
    else:
        words[:] = column.values
        gaps = column.missing
    words[gaps] = _FILL.get(kind, "C" if kind == SMILES else "")
    return words


def _moments(data: Data, matrix: Any, names: list[str] | None, scale: bool) -> tuple[Float64, Float64]:
    width = matrix.shape[1]
    if not scale or not width:
        return np.zeros(width), np.ones(width)
    values = np.asarray(matrix, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # reported below
        centres, scales = values.mean(axis=0), values.std(axis=0)
    beyond = np.flatnonzero(~np.isfinite(scales))
    if len(beyond):
        place = int(beyond[0])
        row = int(np.abs(values[:, place]).argmax())
        raise problem(
            data.name,
            f"{values[row, place]:g} is too large: squares of such numbers are beyond floating point",
            line=None if data.lines is None else data.lines[row],
            column=f"{place + 1}" if names is None else names[place],
            hint="Correct it, measure in another unit, or leave the column out with --drop.",
        )
    scales[~(scales > 1e-12 * np.maximum(np.abs(centres), 1.0))] = 1.0
    return centres, scales
