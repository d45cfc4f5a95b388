"""Labels: as they stand in files, from a sidecar file, and as the type that they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted
from mercer.readers.source import opened

MISSING = frozenset(("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "none", "?", "#N/A", "<NA>"))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SPLIT = re.compile(r"[\t,;]| +")


def is_number(text: str) -> bool:
    """Whether this is how people write a finite number."""
    return _NUMBER.fullmatch(text.strip()) is not None


def typed(
    labels: Sequence[str] | npt.NDArray[np.float64],
    name: str,
    lines: Sequence[int] | None = None,
    column: str | None = None,
) -> npt.NDArray[Any]:
    """Whole numbers, numbers or strings, whichever all of the labels are; a missing one is an error."""
    gaps = np.flatnonzero(gaps_of(labels))
    if len(gaps):
        raise problem(
            name,
            f"{count(len(gaps), 'object')} of {len(labels):,} {'has' if len(gaps) == 1 else 'have'} no label",
            line=None if lines is None else lines[int(gaps[0])],
            column=column,
            hint="--skip-unlabelled leaves them out.",
        )
    if isinstance(labels, np.ndarray):
        return _whole(labels)
    stripped = [label.strip() for label in labels]
    if all(is_number(label) for label in stripped):
        numbers = np.array([float(label) for label in stripped])
        if not np.isfinite(numbers).all():
            place = int(np.flatnonzero(~np.isfinite(numbers))[0])
            line = None if lines is None else lines[place]
            raise problem(name, f"the label {quoted(stripped[place])} is too large a number", line=line, column=column)
        return _whole(numbers)
    return np.array(stripped, dtype=np.str_)


def gaps_of(values: Sequence[str] | npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Where a column lacks a value."""
    if isinstance(values, np.ndarray):
        return np.asarray(np.isnan(values))
    return np.fromiter((value.strip() in MISSING for value in values), dtype=bool, count=len(values))


def _whole(numbers: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    whole = bool((numbers == np.rint(numbers)).all()) and bool((np.abs(numbers) < 2**53).all())
    return numbers.astype(np.int64) if whole else numbers


def from_sidecar(path: str, ids: Sequence[str] | None, n: int, options: Options) -> tuple[list[str], str]:
    """One label per object from a file: one per line, in order, or ids and labels; and what the labels are called."""
    source = opened(path, options)
    rows = [
        (number, [cell.strip() for cell in _SPLIT.split(line.strip(), maxsplit=1)])
        for number, line in source.numbered
        if line.strip()
    ]
    name = "label"
    if rows and all(len(cells) >= 2 for _, cells in rows) and ids is not None:
        return _by_id(source.name, rows, ids), name
    if len(rows) == n + 1 and rows[0][1][0].lower() in ("label", "labels", "target", "class", "y"):
        name, rows = rows[0][1][0], rows[1:]
    if len(rows) != n:
        raise problem(
            source.name,
            f"{count(len(rows), 'label')} for {count(n, 'object')}",
            hint="One label per line, in the order of the objects, or lines of id and label.",
        )
    return [" ".join(cells) for _, cells in rows], name


def _by_id(name: str, rows: list[tuple[int, list[str]]], ids: Sequence[str]) -> list[str]:
    known: dict[str, str] = {}
    for line, (key, label) in rows:
        if key in known and known[key] != label:
            raise problem(
                name, f"the id {quoted(key)} has two labels, {quoted(known[key])} and {quoted(label)}", line=line
            )
        known[key] = label
    absent = [key for key in ids if key not in known]
    if absent:
        raise problem(
            name,
            f"{count(len(absent), 'object')} of {len(ids):,} without a label, the first {quoted(absent[0])}",
            hint="Ids are compared letter by letter.",
        )
    return [known[key] for key in ids]
