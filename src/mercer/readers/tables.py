"""From columns of text to a table: kinds of columns, the target, what is left out and why."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from mercer._check import did_you_mean
from mercer.readers.columns import ID_NAMES, Typist, is_identifier
from mercer.readers.data import NUMBER, SMILES, Column, Data
from mercer.readers.grid import Cells
from mercer.readers.labels import from_sidecar, gaps_of, typed
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted

_TARGETS = ("target", "label", "class", "y", "labels", "outcome")


def table_of(
    name: str,
    format_: str,
    columns: Mapping[str, Cells],
    lines: Sequence[int],
    options: Options,
    notes: Sequence[str] = (),
) -> Data:
    """A table from columns as they stand in a file."""
    said = list(notes)
    left = dict(columns)
    for given in options.drop:
        left.pop(column_called(given, left, name, "--drop"))
    key = _id_column(name, left, options, said)
    ids = None if key is None else [str(value).strip() for value in left.pop(key)]
    labels, target = None, None
    if options.labels is not None:
        text, target = from_sidecar(options.labels, ids, len(lines), options)
        labels = typed(text, options.labels)
    else:
        target = _target(name, left, options, said)
        if target is not None:
            cells = left.pop(target)
            gaps = gaps_of(cells)
            if gaps.any() and options.skip_unlabelled:
                kept = np.flatnonzero(~gaps).tolist()
                said.append(f"{count(len(gaps) - len(kept), 'row')} without a label left out.")
                left = {key: _kept(values, kept) for key, values in left.items()}
                cells, lines = _kept(cells, kept), [lines[place] for place in kept]
                ids = None if ids is None else [ids[place] for place in kept]
            if options.require_target or not gaps.any():
                labels = typed(cells, name, lines, target)
    if options.only:
        left = {key: values for key, values in left.items() if key in options.only}
    if not left:
        if options.only:
            raise problem(name, f"no column {options.only[0]!r}, which the model was trained with")
        raise problem(name, "no columns are left to learn from")
    typist = Typist(name, lines, options)
    found = {own: typist.column(own, values) for own, values in left.items()}
    _leave_out(found, options, said)
    if not found:
        raise problem(name, "no columns are left to learn from", hint="Every column is constant or names the rows.")
    said += typist.notes
    smiles = [column.name for column in found.values() if column.kind == SMILES and column.name not in options.smiles]
    if smiles:
        said.append(f"Column {quoted(smiles[0])} is read as SMILES (--text {shlex.quote(smiles[0])} reads it as text).")
    return Data(name, format_, "table", found, labels, target, ids, lines, tuple(said), {"id": key})


def _kept(cells: Cells, places: list[int]) -> Cells:
    return cells[places] if isinstance(cells, np.ndarray) else [cells[place] for place in places]


def kept_as_text(key: str, options: Options) -> bool:
    """Whether a column is wanted as it is written, even if it holds numbers alone."""
    told = (*options.categories, *options.text, *options.smiles, *options.trees, (options.id or "").lower())
    return (
        options.decimal_comma
        or key in told
        or key.lower() == told[-1]
        or ID_NAMES.fullmatch(key) is not None
        or _is_place(options.id)
    )


def _is_place(given: str | None) -> bool:
    return given is not None and given.lstrip("-").isdigit()


def column_called(given: str, columns: Mapping[str, object], name: str, option: str) -> str:
    """A column by its name, or by its number from 1, or from the end (-1)."""
    if given in columns:
        return given
    folded = [key for key in columns if key.lower() == given.lower()]
    if len(folded) == 1:
        return folded[0]
    names = list(columns)
    try:
        number = int(given)
    except ValueError:
        number = 0
    if number and abs(number) <= len(names):
        return names[number - 1 if number > 0 else number]
    shown = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
    raise problem(
        name,
        f"there is no column {quoted(given)} ({option})",
        hint=f"{did_you_mean(given, names)} Columns: {shown}.".strip(),
    )


def _target(name: str, columns: Mapping[str, object], options: Options, notes: list[str]) -> str | None:
    if options.target is not None:
        if not options.require_target and options.target not in columns:
            return None  # objects to be predicted need not have it
        return column_called(options.target, columns, name, "--target")
    if not options.require_target:
        return None
    usual = [key for key in columns if key.lower() in _TARGETS]
    if len(usual) == 1:
        notes.append(f"The target is the column {quoted(usual[0])} (--target chooses another).")
        return usual[0]
    if not options.require_labels:
        return None
    names = list(columns)
    shown = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
    raise problem(
        name,
        "which column is to be learnt?",
        hint=f"Say it with --target NAME (or --target -1 for the last). Columns: {shown}.",
    )


def _id_column(name: str, columns: Mapping[str, Cells], options: Options, notes: list[str]) -> str | None:
    if options.id == "":
        return None
    if options.id is not None:
        if not options.require_target and options.id not in columns:
            return None  # objects to be predicted need no names
        return column_called(options.id, columns, name, "--id")
    wanted = {options.target, *options.text, *options.smiles, *options.categories, *options.only}
    for key, values in columns.items():
        if key not in wanted and is_identifier(key, values):
            notes.append(
                f"Column {quoted(key)} names the rows and is not learnt from (--category {shlex.quote(key)} keeps it)."
            )
            return key
    return None


def _leave_out(columns: dict[str, Column], options: Options, notes: list[str]) -> None:
    """Constant columns tell nothing; they are dropped when training and ignored when predicting."""
    if not options.require_target:
        return
    dropped = []
    for key, column in list(columns.items()):
        present = column.values[~column.missing]
        if len(present) == 0 or (len(column.values) > 1 and _constant(column, present)):
            dropped.append(key)
            del columns[key]
    if dropped:
        shown = ", ".join(quoted(key) for key in dropped[:5]) + (" ..." if len(dropped) > 5 else "")
        notes.append(f"{count(len(dropped), 'column')} left out, holding one value throughout: {shown}.")


def _constant(column: Column, present: np.ndarray) -> bool:
    if column.missing.any():
        return False
    if column.kind == NUMBER:
        return bool((present == present[0]).all())
    return all(value == present[0] for value in present)
