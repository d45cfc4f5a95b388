"""Preparation of the objects of a file for kernels: missing values are filled, numbers standardised."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.errors import InputError
from mercer.inputs.base import Objects
from mercer.inputs.graphs import Graphs
from mercer.inputs.strings import Strings
from mercer.inputs.tables import Table
from mercer.inputs.trees import Trees
from mercer.inputs.vectors import Vectors, is_sparse
from mercer.jobs.features import GAP, LOG, Feature, features_of, unit_of
from mercer.readers.data import CATEGORY, NUMBER, NUMERIC, SEQUENCE, SMILES, TEXT, TREE, Column, Data
from mercer.readers.frames import read_frame
from mercer.readers.gram_files import columns_for
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted, some

_FILL = {CATEGORY: "missing"}
OBJECT = "object"
_MOST_CHARACTERS = 300_000
"""Names of the objects of a Gram matrix are kept in the model up to this length in total; without them, new rows must
have their columns in the order of training."""
_DENSE_ENOUGH, _DENSE_FEATURES = 0.25, 2000
"""Sparse rows with at least this fraction of nonzero values and at most this many features become dense: products of
dense rows are faster from about a quarter on, and the memory stays small."""


@final
@dataclass(frozen=True, eq=False)
class Preparation:
    """Learnt from the training objects, kept in the model, and applied to all objects that are predicted."""

    kind: str
    columns: tuple[tuple[str, str], ...] = ()
    """Name and kind of each column of a table; for a Gram matrix, the names of the objects in its columns."""
    impute: bool = True
    fills: Float64 = field(default_factory=lambda: np.zeros(0))
    """The median of each column of numbers or dates, which replaces missing ones."""
    centres: Float64 = field(default_factory=lambda: np.zeros(0))
    scales: Float64 = field(default_factory=lambda: np.ones(0))
    """The mean and the deviation of each feature of a table, or of each number of vectors."""
    units: Float64 = field(default_factory=lambda: np.ones(0))
    """The scale of the logarithm of each column of numbers or dates."""
    features: tuple[Feature, ...] = ()
    """The features computed from the columns of numbers and dates."""
    styles: tuple[tuple[str, str], ...] = ()
    """The notation of columns in the file, if it is needed to read another."""

    @classmethod
    def learn(cls, data: Data, *, scale: bool = True, impute: bool = True) -> Preparation:
        """Learn from training data; missing values are filled, or are an error."""
        if data.kind == "table":
            return cls._of_table(data, scale=scale, impute=impute)
        if data.kind == "vectors":
            matrix = dense_if_small(data.objects)
            dense = scale and not is_sparse(matrix)
            return cls("vectors", (), impute, np.zeros(0), *_moments(data, matrix, None, dense))
        if data.kind == "gram" and data.ids is not None and sum(map(len, data.ids)) < _MOST_CHARACTERS:
            return cls("gram", tuple((str(key), OBJECT) for key in data.ids))
        return cls(data.kind)

    @classmethod
    def _of_table(cls, data: Data, *, scale: bool, impute: bool) -> Preparation:
        columns = tuple((column.name, column.kind) for column in data.objects.values())
        refuse_gaps(data, columns, impute=impute)
        numeric = {column.name: column for column in data.objects.values() if column.kind in NUMERIC}
        fills = np.array([np.nanmedian(column.values) for column in numeric.values()])
        units = np.array([unit_of(column.values) for column in numeric.values()])
        trendless = Feature(str(data.detail.get("seasons")))  # only the seasons of a column that orders the rows
        features = tuple(
            feature for column in numeric.values() for feature in features_of(column) if feature != trendless
        )
        known = dict(zip(numeric, zip(fills, units, strict=True), strict=True))
        found = [feature.of(numeric[feature.column].values, *known[feature.column]) for feature in features]
        matrix = np.column_stack(found) if found else np.zeros((len(data), 0))
        moments = _moments(data, matrix, [feature.name for feature in features], scale)
        return cls("table", columns, impute, fills, *moments, units, features, tuple(data.styles.items()))

    @property
    def standardised(self) -> bool:
        return bool((self.scales != 1.0).any() or (self.centres != 0.0).any())

    def names(self, *kinds: str) -> list[str]:
        """The columns of these kinds."""
        return [name for name, kind in self.columns if kind in kinds]

    @property
    def numbers(self) -> list[str]:
        """The names of the numbers of a table in kernels: columns, and the cycles of dates."""
        return [feature.name for feature in self.features if feature.part not in (LOG, GAP)]

    @property
    def logarithms(self) -> list[str]:
        """The same, with logarithms in place of skewed columns; empty if no column is skewed."""
        skewed = {feature.column for feature in self.features if feature.part == LOG}
        if not skewed:
            return []
        own = {Feature(column).name: Feature(column, LOG).name for column in skewed}
        return [own.get(name, name) for name in self.numbers]

    @property
    def gaps(self) -> list[str]:
        """The names of the indicators of missing numbers in kernels."""
        return [feature.name for feature in self.features if feature.part == GAP]

    def __call__(self, data: Data) -> Objects | Any:
        """The objects in the form that the kernel needs."""
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
        for name, _ in self.columns:
            if name not in columns:
                raise InputError(f"The table has no column {name!r}, which the model was trained with.")
        needed = {name: columns[name] for name, _ in self.columns}
        return self._table(read_frame(needed, self.reading(Options(require_target=False, id=""))))

    def reading(self, options: Options) -> Options:
        """Options with which the columns of a table are read as the kinds that they had in training."""
        if self.kind != "table":
            return options
        return dataclasses.replace(
            options,
            categories=(*options.categories, *self.names(CATEGORY)),
            text=(*options.text, *self.names(TEXT, SEQUENCE)),
            smiles=(*options.smiles, *self.names(SMILES)),
            trees=(*options.trees, *self.names(TREE)),
            numbers=(*options.numbers, *self.names(NUMBER)),
            styles=(*self.styles, *options.styles),
            only=tuple(name for name, _ in self.columns),
        )

    def _table(self, data: Data) -> Table:
        for name, kind in self.columns:
            if name not in data.objects:
                raise problem(data.name, f"no column {name!r}, which the model was trained with")
            found = data.objects[name]
            if kind in NUMERIC and found.kind != kind and not found.missing.all():
                raise problem(data.name, f"no {kind}s, as in training", column=name)
        refuse_gaps(data, self.columns, impute=self.impute)
        prepared: dict[str, Any] = {
            name: _words(data.objects[name], kind) for name, kind in self.columns if kind not in NUMERIC
        }
        numeric = [name for name, kind in self.columns if kind in NUMERIC]
        known = dict(zip(numeric, zip(self.fills, self.units, strict=True), strict=True))
        for feature, centre, scale in zip(self.features, self.centres, self.scales, strict=True):
            values = feature.of(_numbers(data.objects[feature.column]), *known[feature.column])
            prepared[feature.name] = (values - centre) / scale
        return Table(prepared)

    def _widened(self, data: Data) -> Any:
        """Add the last features to new sparse rows that lack them, as zeros."""
        matrix: Any = data.objects
        width = len(self.scales)
        sparse = is_sparse(matrix)
        if matrix.shape[1] > width or (matrix.shape[1] < width and not sparse):
            raise problem(data.name, f"{matrix.shape[1]:,} features, where the model was trained with {width:,}")
        if sparse and matrix.shape[1] < width:
            import scipy.sparse as sp

            matrix = sp.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))
        return matrix.toarray() if sparse and self.standardised else matrix

    def _scaled(self, matrix: Any) -> Any:
        if not self.standardised:
            return dense_if_small(matrix)
        return (np.asarray(matrix, dtype=np.float64) - self.centres) / self.scales


def _a(kind: str) -> str:
    return {"table": "a table", "gram": "a Gram matrix"}.get(kind, kind)


def dense_if_small(matrix: Any) -> Any:
    """Make rows dense if they are hardly sparse, which is faster and allows standardising."""
    sparse = is_sparse(matrix)
    if not sparse or matrix.shape[1] > _DENSE_FEATURES:
        return matrix
    return matrix.toarray() if matrix.nnz > _DENSE_ENOUGH * matrix.shape[0] * matrix.shape[1] else matrix


def refuse_gaps(data: Data, columns: tuple[tuple[str, str], ...], *, impute: bool) -> None:
    """Raise an error for missing values that are not to be filled; missing molecules and trees never are."""
    gaps = {name: data.objects[name].missing for name, kind in columns if not impute or kind in (SMILES, TREE)}
    total = sum(int(gap.sum()) for gap in gaps.values())
    if not total:
        return
    name, gap = next((name, gap) for name, gap in gaps.items() if gap.any())
    first = int(np.flatnonzero(gap)[0])
    many = sum(bool(gap.any()) for gap in gaps.values())
    remedy = "Without --no-impute they are filled: numbers by the median, categories by a new category."
    if impute:
        remedy = "There is nothing to put in the place of a molecule or a tree: complete or remove these rows."
    raise problem(
        data.name,
        f"{int(gap.sum()):,} of {len(data):,} values are missing",
        line=None if data.lines is None else data.lines[first],
        column=name,
        hint=f"{count(total, 'value')} in {count(many, 'column')} missing. {remedy}",
    )


def gaps_filled(data: Data) -> str:
    """A sentence on the missing values of a table and what is done about them; empty if there are none."""
    if data.kind != "table":
        return ""
    gaps = {name: int(column.missing.sum()) for name, column in data.objects.items()}
    gaps = {name: missing for name, missing in gaps.items() if missing}
    if not gaps:
        return ""
    kinds = {data.objects[name].kind in NUMERIC for name in gaps}
    ways = {True: "numbers by the median", False: "words by a new category"}
    names = some([quoted(name) for name in gaps], 5)
    return (
        f"{count(sum(gaps.values()), 'missing value')} in {count(len(gaps), 'column')} filled "
        f"({', '.join(ways[numeric] for numeric in sorted(kinds, reverse=True))}): {names}."
    )


def _numbers(column: Column) -> Float64:
    """The values of a column of numbers or dates; one of another kind is missing throughout."""
    return column.values if column.kind in NUMERIC else np.full(len(column.values), np.nan)


def _words(column: Column, kind: str) -> npt.NDArray[Any]:
    """Text as it is; numbers become words again if they were words in training."""
    words = np.empty(len(column.values), dtype=object)
    if column.kind in NUMERIC:
        words[:] = ["" if np.isnan(v) else f"{v:g}" for v in column.values]
        gaps = np.isnan(column.values)
    else:
        words[:] = column.values
        gaps = column.missing
    words[gaps] = _FILL.get(kind, "")
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
