"""Columns that describe rows but are not learnt from: groups, times and weights."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.readers.cells import Cells
from mercer.readers.columns import ColumnReader, column_called
from mercer.readers.data import DATE, NUMERIC, Data, taken
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted


@final
@dataclass(frozen=True, eq=False)
class RowRoles:
    """What is known about each row besides its content."""

    groups: npt.NDArray[np.str_] | None = None
    times: Float64 | None = None
    weights: Float64 | None = None
    names: dict[str, str] = field(default_factory=dict)
    """The column of each role."""

    def take(self, rows: list[int]) -> RowRoles:
        """The same for some rows."""
        groups, times, weights = (taken(part, rows) for part in (self.groups, self.times, self.weights))
        return RowRoles(groups, times, weights, self.names)


def role_columns(
    name: str, columns: dict[str, Cells], lines: Sequence[int], options: Options, notes: list[str]
) -> RowRoles:
    """Groups, times and weights from columns that are then left out; the seasons of dates are still learnt from."""
    if not options.require_target and not options.as_written:
        return RowRoles()
    if options.group is not None and options.time is not None:
        hint = "Leave one of them out."
        raise problem(name, "--group and --time both say how folds are made", hint=hint)
    reader = ColumnReader(name, lines, options)
    known: dict[str, str] = {}
    groups = times = weights = None
    if options.group is not None:
        known["group"] = column_called(options.group, columns, name, "--group")
        groups = _groups(columns, known["group"], notes)
    if options.time is not None:
        known["time"] = column_called(options.time, columns, name, "--time")
        times = _times(columns, known["time"], reader, notes)
        if known["time"] in columns and known["time"] not in options.keep:
            known["seasons"] = known["time"]
    if options.weight is not None:
        known["weight"] = column_called(options.weight, columns, name, "--weight")
        weights = _weights(columns, known["weight"], reader, notes)
    return RowRoles(groups, times, weights, known)


def refuse_roles(data: Data, options: Options) -> None:
    """Refuse groups, times and weights for data that is not a table."""
    asked = {"--group": options.group, "--time": options.time, "--weight": options.weight}
    given = next((key for key, value in asked.items() if value is not None), None)
    if given is not None and options.require_target and data.kind != "table":
        hint = "Give a table, or leave it out."
        raise problem(data.name, f"{given} names a column, but these are {data.kind}", hint=hint)


def _groups(columns: dict[str, Cells], key: str, notes: list[str]) -> npt.NDArray[np.str_]:
    groups = np.array([str(cell).strip() for cell in columns.pop(key)], dtype=np.str_)
    found = len(np.unique(groups))
    notes.append(f"Rows with the same {quoted(key)} stay together: {count(found, 'group')}; it is not learnt from.")
    return groups


def _times(columns: dict[str, Cells], key: str, reader: ColumnReader, notes: list[str]) -> Float64:
    column = reader.read(key, columns[key])
    if column.kind not in NUMERIC:
        hint = "A time is a date, a time of day or a number."
        raise problem(reader.name, f"the column {quoted(key)} (--time) holds no times", hint=hint)
    _refuse_missing(column.values, key, "--time", reader)
    if key in reader.options.keep:
        learnt = "it is learnt from like any other column"
    elif column.kind == DATE:
        learnt = f"its seasons are learnt from, its trend is not (--keep {shlex.quote(key)} uses it)"
    else:
        del columns[key]
        learnt = f"it is not learnt from (--keep {shlex.quote(key)} uses it)"
    notes.append(f"Machines are tested on rows with a later {quoted(key)} than those they learnt from; {learnt}.")
    return column.values


def _weights(columns: dict[str, Cells], key: str, reader: ColumnReader, notes: list[str]) -> Float64:
    column = reader.read(key, columns.pop(key))
    if column.kind not in NUMERIC or column.kind == DATE:
        raise problem(reader.name, f"the column {quoted(key)} (--weight) holds no numbers", hint="Weights are numbers.")
    _refuse_missing(column.values, key, "--weight", reader)
    negative = np.flatnonzero(column.values < 0)
    if len(negative):
        where = int(negative[0])
        raise problem(
            reader.name,
            f"the weight {column.values[where]:g} is negative",
            line=reader.lines[where],
            column=key,
            hint="A weight says how much a row counts: zero or more.",
        )
    if not column.values.any():
        raise problem(reader.name, "all weights are zero", column=key, hint="Give some rows a weight.")
    notes.append(f"Rows count by {quoted(key)}, in training and in scores; it is not learnt from.")
    return column.values


def _refuse_missing(values: Float64, key: str, option: str, reader: ColumnReader) -> None:
    gaps = np.flatnonzero(np.isnan(values))
    if len(gaps):
        raise problem(
            reader.name,
            f"{count(len(gaps), 'row')} without a value ({option})",
            line=reader.lines[int(gaps[0])],
            column=key,
            hint="Complete or remove these rows.",
        )
