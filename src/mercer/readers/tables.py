"""Tables from columns of cells: kinds of columns, the target, and what is left out and why."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mercer.readers.cells import Cells
from mercer.readers.columns import ID_NAMES, ColumnReader, column_called, is_identifier
from mercer.readers.data import SMILES, Column, Data, taken
from mercer.readers.labels import is_missing
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted, some
from mercer.readers.row_roles import role_columns

LONGEST_NAME = 10_000
"""The longest name of a column, in characters: every message, model and report repeats it."""
TARGETS = ("target", "label", "class", "y", "labels", "outcome")
"""What columns to be predicted are usually called."""


def table_of(
    name: str,
    format_: str,
    columns: Mapping[str, Cells],
    lines: Sequence[int],
    options: Options,
    notes: Sequence[str] = (),
) -> Data:
    """A table from the columns of a file."""
    _check_names(name, columns)
    notes = list(notes)
    left = dict(columns)
    for given in options.drop:
        left.pop(column_called(given, left, name, "--drop"))
    options = dataclasses.replace(options, keep=tuple(column_called(key, left, name, "--keep") for key in options.keep))
    roles = role_columns(name, left, lines, options, notes)
    key = _id_column(name, left, options, notes)
    ids = None if key is None else [str(cell).strip() for cell in left.pop(key)]
    target = None if options.labels is not None else _target(name, left, options, notes)
    useless = {}
    if target is not None and options.skip_unlabelled:
        useless["without a label"] = is_missing(left[target])
    if roles.weights is not None and options.labels is None:
        useless["of weight zero"] = roles.weights == 0
    for why, which in useless.items():
        if which.any():
            notes.append(f"{count(int(which.sum()), 'row')} {why} left out.")
    kept = np.flatnonzero(~np.logical_or.reduce([np.zeros(len(lines), dtype=bool), *useless.values()])).tolist()
    if len(kept) < len(lines):
        left = {own: taken(cells, kept) for own, cells in left.items()}
        lines, ids, roles = taken(lines, kept), taken(ids, kept), roles.take(kept)
    labels = None if target is None else np.asarray(left.pop(target))
    table = _columns(name, left, lines, options, notes)
    parts = roles.groups, roles.times, roles.weights
    return Data(
        name, format_, "table", table, labels, target, ids, lines, tuple(notes), {"id": key, **roles.names}, *parts
    )


def _columns(
    name: str, cells: Mapping[str, Cells], lines: Sequence[int], options: Options, notes: list[str]
) -> dict[str, Column]:
    """The columns to learn from, each with its kind."""
    wanted = [key for key in cells if not options.only or key in options.only]
    if options.only and not wanted:
        what = f"no column {quoted(options.only[0])}, which the model was trained with"
        raise problem(name, what, hint="Name the columns as in training.")
    reader = ColumnReader(name, lines, options)
    table = {key: reader.read(key, cells[key]) for key in wanted}
    if options.require_target:
        notes += reader.notes
    if not table:
        hint = "All columns name the rows or were dropped."
        raise problem(name, "no columns are left to learn from", hint=hint)
    smiles = [key for key, column in table.items() if column.kind == SMILES and key not in options.smiles]
    if smiles:
        keep = f"--text {shlex.quote(smiles[0])} reads it as text"
        notes.append(f"Column {quoted(smiles[0])} is read as SMILES ({keep}).")
    return table


def _check_names(name: str, columns: Iterable[str]) -> None:
    for place, called in enumerate(columns, 1):
        if len(called) > LONGEST_NAME:
            what = f"column {place} has a name of {len(called):,} characters, more than {LONGEST_NAME:,}"
            raise problem(name, what, hint="Shorten it: does the first line contain names?")


def check_width(name: str, width: int, options: Options, *, table: bool = True) -> None:
    """Refuse a file with more columns than allowed."""
    most = options.widest(table=table)
    if width > most:
        what = f"{width:,} columns, more than {most:,}"
        hint = "Raise the cap with --max-features"
        raise problem(name, what, hint=f"{hint}, or write numbers as npy or svmlight." if table else f"{hint}.")


def kept_as_text(key: str, options: Options) -> bool:
    """Whether a column is requested as text, even if it contains only numbers."""
    as_written = (*options.categories, *options.text, *options.smiles, *options.trees)
    id_given = (options.id or "").lower()
    return (
        options.decimal_comma
        or dict(options.styles).get(key, "").startswith("number ,")  # 1.200 is 1200 there
        or key in as_written
        or key.lower() == id_given
        or ID_NAMES.fullmatch(key) is not None
        or id_given.lstrip("-").isdigit()  # a number, which may refer to any column
    )


def _target(name: str, columns: Mapping[str, object], options: Options, notes: list[str]) -> str | None:
    if options.target is not None:
        if not options.require_target and options.target not in columns:
            return None  # objects to be predicted need not have it
        return column_called(options.target, columns, name, "--target")
    if not options.require_target:
        return None
    usual = [key for key in columns if key.lower() in TARGETS]
    if len(usual) == 1:
        notes.append(f"The target is the column {quoted(usual[0])} (--target chooses another).")
        return usual[0]
    if not options.require_labels:
        return None
    hint = f"Name it with --target NAME (or --target -1 for the last). Columns: {some(list(columns), 20)}."
    raise problem(name, "which column is the target?", hint=hint)


def _id_column(name: str, columns: Mapping[str, Cells], options: Options, notes: list[str]) -> str | None:
    if options.id == "":
        return None
    if options.id is not None:
        if not options.require_target and options.id not in columns:
            return None  # objects to be predicted need no names
        return column_called(options.id, columns, name, "--id")
    wanted = {options.target, *options.text, *options.smiles, *options.categories, *options.only, *options.keep}
    for key, values in columns.items():
        if key not in wanted and is_identifier(key, values):
            keep = f"--keep {shlex.quote(key)} uses it"
            notes.append(f"Column {quoted(key)} names the rows and is not used as a feature ({keep}).")
            return key
    return None
