"""Named columns of any kinds: numbers, strings, whatever a kernel understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from mercer._check import did_you_mean
from mercer._registry import INPUTS, find
from mercer._types import Index
from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs import coerce
from mercer.inputs.base import Arrays, Objects, is_column, read_only, refuse_masked, under

Kind = TypeVar("Kind", bound=Objects)


class Table(Objects):
    """Named columns of equal length, from pandas, polars, pyarrow or a mapping of columns.

    A kernel asks for some of the columns as objects of its own kind; each such request is parsed once and kept.

    >>> from mercer.inputs.tables import Table
    >>> table = Table({"sequence": ["CAT", "GAT"], "mass": [1.5, 2.0]})
    >>> len(table), table.columns
    (2, ('sequence', 'mass'))
    """

    kind: ClassVar[str] = "tables"

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._raw: dict[str, npt.NDArray[Any]] = {str(name): _column(values) for name, values in columns.items()}
        self._parsed: dict[tuple[tuple[str, ...], type[Objects], str | None], Objects] = {}
        lengths = {name: len(values) for name, values in self._raw.items()}
        if not lengths:
            raise InputError("Found a table with 0 columns while a minimum of 1 is required.")
        if len(set(lengths.values())) > 1:
            raise InputError(f"The columns of a table must have the same length, got {lengths}.")
        self._length = next(iter(lengths.values()))

    @classmethod
    def coerce(cls, raw: Any, *, new: bool = False) -> Self:
        del new
        if isinstance(raw, cls):
            table = raw
        elif isinstance(raw, Mapping):
            table = cls(raw)
        elif rows := _rows(raw):
            table = cls({name: [row[name] for row in rows] for name in rows[0]})
        else:
            table = cls(frame_columns(raw))
        if not len(table):
            raise InputError("Found a table with 0 rows while a minimum of 1 is required.")
        return table

    @property
    def columns(self) -> tuple[str, ...]:
        seen = dict.fromkeys(self._raw)
        for names, _, _ in self._parsed:
            seen.update(dict.fromkeys(names))
        return tuple(seen)

    @property
    def raw(self) -> Mapping[str, npt.NDArray[Any]]:
        """The columns as given, not parsed for any kernel."""
        return self._raw

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns; scikit-learn's splitters index objects that have a shape by arrays."""
        return self._length, len(self.columns)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Self:
        return self.take(index if isinstance(index, slice) else np.arange(self._length)[index])

    def objects(self, names: tuple[str, ...], kind: type[Kind], as_: str | None = None) -> Kind:
        """These columns as objects of one kind, parsed on first use; `as_` says how to read them."""
        key = (names, kind, as_)
        if key not in self._parsed:
            self._parsed[key] = self._parse(names, kind, as_)
        return cast("Kind", self._parsed[key])

    def _parse(self, names: tuple[str, ...], kind: type[Objects], as_: str | None) -> Objects:
        for name in names:
            if name not in self._raw:
                raise InputError(
                    f"The table has no column {name!r}. {did_you_mean(name, self._raw)} "
                    f"Columns: {', '.join(self._raw)}."
                )
        try:
            if as_ is not None:
                return coerce(kind, self._raw[names[0]], as_=as_)
            return kind.of_columns({name: self._raw[name] for name in names})
        except InputError as error:
            where = f"Column {names[0]!r}" if len(names) == 1 else f"Columns {', '.join(map(repr, names))}"
            raise type(error)(f"{where}: {error}") from error

    def take(self, index: Index) -> Self:
        part = type(self).__new__(type(self))
        part._raw = {name: values[index] for name, values in self._raw.items()}
        part._parsed = {key: objects.take(index) for key, objects in self._parsed.items()}
        part._length = len(np.arange(self._length)[index])
        return part

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        names, keys = set(parts[0]._raw), set(parts[0]._parsed)
        for part in parts:
            if part.columns != parts[0].columns:
                raise InputError(
                    f"Tables of different columns cannot be joined: {parts[0].columns} and {part.columns}."
                )
            names, keys = names & set(part._raw), keys & set(part._parsed)
        found = cls.__new__(cls)
        found._raw = {
            name: np.concatenate([part._raw[name] for part in parts]) for name in parts[0]._raw if name in names
        }
        kept = [key for key in parts[0]._parsed if key in keys]  # in the same order in every process
        found._parsed = {key: key[1].joined([part._parsed[key] for part in parts]) for key in kept}
        found._length = sum(map(len, parts))
        return found

    def to_arrays(self) -> Arrays:
        """Only the parsed columns that kernels use: ``part/<number>/<array>``, with their names."""
        arrays: dict[str, npt.NDArray[Any]] = {"length": np.asarray([self._length], dtype=np.int64)}
        for number, ((names, kind, as_), objects) in enumerate(self._parsed.items()):
            arrays[f"part/{number}/columns"] = np.asarray(names, dtype=np.str_)
            arrays[f"part/{number}/kind"] = np.asarray([kind.__name__], dtype=np.str_)
            if as_ is not None:
                arrays[f"part/{number}/as"] = np.asarray([as_], dtype=np.str_)
            for name, array in objects.to_arrays().items():
                arrays[f"part/{number}/objects/{name}"] = array
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        part = cls.__new__(cls)
        part._raw, part._parsed = {}, {}
        try:
            part._length = int(arrays["length"][0])
            number = 0
            while f"part/{number}/columns" in arrays:
                own = under(arrays, f"part/{number}/")
                kind: type[Objects] = find(INPUTS, str(own["kind"][0]), "kind of objects").load()
                objects = kind.from_arrays(under(own, "objects/"))
                if len(objects) != part._length:
                    raise ModelFileError("The stored columns of a table differ in length.")
                names = tuple(str(name) for name in own["columns"])
                part._parsed[names, kind, str(own["as"][0]) if "as" in own else None] = objects
                number += 1
        except (KeyError, IndexError, TypeError) as error:
            raise ModelFileError(f"The stored table is incomplete: {error}") from error
        return part


def _column(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        refuse_masked(values, "A column of the table")
        return read_only(values)
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
            return read_only(np.asarray(values))
        column = np.empty(len(values), dtype=object)  # filled item by item: NumPy would split nested lists
        for place, value in enumerate(values):
            column[place] = value
        return read_only(column)
    raise InputTypeError(f"A column of a table must be a list or an array, got {type(values).__name__}.")


def frame_columns(raw: Any) -> dict[str, npt.NDArray[Any]]:
    """The columns of a data frame by their names, which must be unique."""
    import narwhals as nw

    try:
        frame = nw.from_native(raw, eager_only=True)
        names = list(frame.columns)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            f"Column names must be unique: {' '.join(str(error).split())}. Rename some columns."
        ) from error
    except TypeError as error:
        raise InputTypeError(
            f"Expected a table (pandas, polars, pyarrow, or a mapping of columns), got {type(raw).__name__}. "
            "Kernels made with kernels.on(...) need columns with names."
        ) from error
    repeated = sorted({str(name) for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"Column names must be unique, but these occur more than once: {', '.join(repeated)}.")
    return {str(name): frame[name].to_numpy() for name in names}


def _rows(raw: Any) -> list[Mapping[str, Any]]:
    """The rows of a list of mappings, each with the same columns; empty for anything else."""
    rows = raw[:, 0] if is_column(raw) else raw
    is_listed = isinstance(rows, list | tuple) or (isinstance(rows, np.ndarray) and rows.dtype.kind == "O")
    if not is_listed or not len(rows) or not all(isinstance(row, Mapping) for row in rows):
        return []
    for place, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise InputError(
                f"Rows of a table must have the same columns: row 0 has {sorted(map(str, rows[0]))}, row {place} has "
                f"{sorted(map(str, row))}."
            )
    return list(rows)
