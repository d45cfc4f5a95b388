"""Columns that should not be learnt from: constant ones, row numbers, and those that give the answer away."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.readers.data import CATEGORY, NUMBER, TEXT, Column, Data
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted, some

_FEWEST = 10  # rows below which an ordinary column of whole numbers may well count up by chance
_TIMES = re.compile(r".*(time|date|year|month|week|day|hour|minute|second|period|quarter|age).*|t", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Za-z-])[0-9A-Za-z-]{8,}")
"""A random code: digits and letters, too long to be a word."""
_REPEATS = 5  # average rows per value from which a category that determines the label is no coincidence
_FEWEST_TO_POINT_OUT = 30  # rows: with fewer, ordinary columns separate the classes too often by chance
_SOME = 1000  # rows that are checked first: enough to refute nearly every false claim at little cost
_STRAIGHT = 0.99999  # correlation with the target: a change of unit has 1, measurements have less


def without_useless_columns(data: Data, options: Options) -> Data:
    """A table to learn from without its useless columns, and with a note on each that is left out or suspicious."""
    if data.kind != "table" or not options.require_target:
        return data
    columns: dict[str, Column] = dict(data.objects)
    notes = list(data.notes)
    _leave_out_constant(columns, notes)
    ids, detail = data.ids, data.detail
    kept = {*options.keep, *options.only, *options.categories, *options.text, *options.smiles, *options.numbers}
    for key in [key for key, column in columns.items() if key not in kept and counts_rows(column)]:
        values = columns.pop(key).values
        keep = f"--keep {shlex.quote(key)} uses it"
        notes.append(f"Column {quoted(key)} only counts or names the rows and is left out ({keep}).")
        if ids is None:
            ids = [f"{value:g}" if isinstance(value, float) else str(value) for value in values.tolist()]
            detail = {**detail, "id": key}
    if not columns:
        hint = "All columns are constant, name the rows, or were dropped."
        raise problem(data.name, "no columns are left to learn from", hint=hint)
    if data.labels is not None:
        notes += [_pointed_out(key) for key, column in columns.items() if gives_away(column, data.labels)]
    return dataclasses.replace(data, objects=columns, notes=tuple(notes), ids=ids, detail=detail)


def _pointed_out(key: str) -> str:
    return (
        f"Column {quoted(key)} alone gives the answer in every row. If it is only known afterwards, leave it out with "
        f"--drop {shlex.quote(key)}."
    )


def _leave_out_constant(columns: dict[str, Column], notes: list[str]) -> None:
    """Drop columns from which nothing can be learnt: empty ones, and those with one value throughout."""
    dropped = [key for key, column in columns.items() if _is_constant(column)]
    for key in dropped:
        del columns[key]
    if dropped:
        names = some([quoted(key) for key in dropped], 5)
        notes.append(f"{count(len(dropped), 'column')} left out, with the same value in every row: {names}.")


def _is_constant(column: Column) -> bool:
    missing = column.missing
    if missing.all():
        return True
    return len(missing) > 1 and not missing.any() and bool((column.values == column.values[0]).all())


def counts_rows(column: Column) -> bool:
    """Whether a column numbers the rows, or names them by numbers or codes: every value occurs once.

    Whole numbers without a gap do, in any order, unless their name says that they are times; so do words that differ
    only in one number (``BACE_1``), and long codes of digits and letters.
    """
    if len(column.values) < _FEWEST or column.missing.any():
        return False
    if column.kind == NUMBER:
        values = np.sort(column.values)
        return bool((np.diff(values) == 1.0).all()) and bool(values[0] % 1 == 0) and not _TIMES.fullmatch(column.name)
    if column.kind not in (CATEGORY, TEXT) or len(set(column.values)) < len(column.values):
        return False
    words: Sequence[str] = column.values.tolist()
    pattern = _DIGITS.sub("#", words[0])
    if pattern.count("#") == 1 and pattern.count(" ") < 2 and all(_DIGITS.sub("#", word) == pattern for word in words):
        return True
    return all(map(_CODE.fullmatch, words))


def gives_away(column: Column, labels: npt.NDArray[Any]) -> bool:
    """Whether a column alone determines the label of every row."""
    if len(labels) < _FEWEST_TO_POINT_OUT or column.missing.any():
        return False
    known, codes = np.unique(labels, return_inverse=True)
    many = labels.dtype.kind in "if" and len(known) > _FEWEST_TO_POINT_OUT
    if column.kind == NUMBER:
        return _is_straight(column.values, labels) if many else _holds(_separates, column.values, codes)
    if many or column.kind != CATEGORY or len(known) < 2:
        return False
    return _holds(_decides, column.values, codes) and _REPEATS * len(set(column.values)) <= len(labels)


def _holds(claim: Callable[[npt.NDArray[Any], Indices], bool], values: npt.NDArray[Any], codes: Indices) -> bool:
    """Whether a claim about all rows holds; some rows are checked first, which refutes most false ones.

    With a single class there is nothing to give away.
    """
    some = slice(None, None, max(1, len(values) // _SOME))
    return len(np.unique(codes)) > 1 and claim(values[some], codes[some]) and claim(values, codes)


def _is_straight(values: Float64, labels: npt.NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return bool(abs(np.corrcoef(values, np.asarray(labels, dtype=np.float64))[0, 1]) > _STRAIGHT)


def _separates(values: Float64, codes: Indices) -> bool:
    """Whether each class has its own interval, without values of other classes."""
    order = np.lexsort((codes, values))
    changes = np.flatnonzero(np.diff(codes[order]))
    apart = values[order][changes] < values[order][changes + 1]
    return len(changes) == len(np.unique(codes)) - 1 and bool(apart.all())


def _decides(words: npt.NDArray[Any], codes: Indices) -> bool:
    """Whether every word belongs to one class."""
    values, places = np.unique(words.astype(np.str_), return_inverse=True)
    return len(np.unique(places * (int(codes.max()) + 1) + codes)) == len(values)
