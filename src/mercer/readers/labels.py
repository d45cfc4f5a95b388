"""The labels of objects, from their own or a separate file: checked, and converted to numbers if all of them are."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.readers.cells import MISSING, Cells, is_number
from mercer.readers.data import Data
from mercer.readers.opening import open_source
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted, some
from mercer.readers.written import written_numbers

_SPLIT = re.compile(r"[\t,;]| +")
_INTEGER = re.compile(r"[+-]?\d+")
_HINT = "Give them with --labels FILE: one label per line, in the order of the objects, or lines of id and label."


def with_labels(data: Data, options: Options) -> Data:
    """The last step of reading: typed labels, from the file named by the user or from the data.

    Objects to be predicted keep their labels only if all have one. Classes get the names given by the user.
    """
    if options.as_written:
        return data
    data = _with_own_labels(data, options)
    if not options.class_names or data.labels is None:
        return data
    names = dict(options.class_names)
    words = [str(label) for label in data.labels.tolist()]
    unknown = [label for label in names if label not in {*words, *names.values()}]
    found = some([quoted(word) for word in sorted(set(words))], 10)
    if len(unknown) == len(names) and options.require_target:
        raise problem(
            data.name, f"no object has the label {quoted(unknown[0])} (--class-name)", hint=f"Found: {found}."
        )
    notes = [f"No object has the label {quoted(label)} (--class-name); found: {found}." for label in unknown]
    return dataclasses.replace(
        data,
        labels=typed(np.array([names.get(word, word) for word in words], dtype=np.str_), data.name),
        notes=(*data.notes, *notes),
        detail={**data.detail, "class_names": [list(pair) for pair in options.class_names]},
    )


def _with_own_labels(data: Data, options: Options) -> Data:
    if options.labels is not None:
        text, target = read_labels(options.labels, data.ids, len(data), options)
        return dataclasses.replace(data, labels=typed(np.array(text), options.labels), target=target)
    if data.labels is None:
        if options.require_target and options.require_labels:
            raise problem(data.name, "the objects have no labels", hint=_HINT)
        return dataclasses.replace(data, target=None)
    if not options.require_target and is_missing(data.labels).any():
        return dataclasses.replace(data, labels=None, target=None)
    column = data.target if data.kind == "table" else None
    return dataclasses.replace(data, labels=typed(data.labels, data.name, data.lines, column))


def is_missing(values: Cells | npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which values of a column are missing."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    return np.fromiter((value.strip() in MISSING for value in values), dtype=bool, count=len(values))


def typed(
    labels: npt.NDArray[Any], name: str, lines: Sequence[int] | None = None, column: str | None = None
) -> npt.NDArray[Any]:
    """Labels as whole numbers if all are, else as numbers (including notations such as "$1,200") if all are, else as
    strings.

    A missing one is an error.
    """

    def fail(place: int, message: str, hint: str) -> Exception:
        return problem(name, message, line=None if lines is None else lines[place], column=column, hint=hint)

    missing = np.flatnonzero(is_missing(labels))
    if len(missing):
        what = f"{count(len(missing), 'object')} of {len(labels):,} {'has' if len(missing) == 1 else 'have'} no label"
        hint = "Give every object a label." if column is None else "--skip-unlabelled leaves them out."
        raise fail(int(missing[0]), what, hint)
    if labels.dtype.kind == "f":
        return _as_whole(labels)
    stripped = [str(label).strip() for label in labels]
    if not all(map(is_number, stripped)):
        written = written_numbers(stripped)
        if written is None or written.wrong:
            return np.array(stripped, dtype=np.str_)
        return _as_whole(written.values)
    numbers = np.array([float(label) for label in stripped])
    too_large = np.flatnonzero(~np.isfinite(numbers))
    if len(too_large):
        place = int(too_large[0])
        raise fail(place, f"the label {quoted(stripped[place])} is too large a number", "Rescale the labels.")
    if any(_INTEGER.fullmatch(stripped[place]) for place in np.flatnonzero(np.abs(numbers) >= 2**53)):
        return np.array(stripped, dtype=np.str_)  # codes: as floats, neighbouring integers would become the same class
    return _as_whole(numbers)


def _as_whole(numbers: Float64) -> npt.NDArray[Any]:
    """As integers if all are; floats above 2**53 cannot distinguish neighbouring integers."""
    whole = bool((numbers == np.rint(numbers)).all()) and bool((np.abs(numbers) < 2**53).all())
    return numbers.astype(np.int64) if whole else numbers


def read_labels(path: str, ids: Sequence[str] | None, n: int, options: Options) -> tuple[list[str], str]:
    """A label for each of `n` objects, and the name of the labels."""
    source = open_source(path, options)
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
            hint="Write one label per line, in the order of the objects, or lines of id and label.",
        )
    return [" ".join(cells) for _, cells in rows], name


def _by_id(name: str, rows: list[tuple[int, list[str]]], ids: Sequence[str]) -> list[str]:
    known: dict[str, str] = {}
    for line, (key, label) in rows:
        if known.setdefault(key, label) != label:
            what = f"the id {quoted(key)} has two labels, {quoted(known[key])} and {quoted(label)}"
            raise problem(name, what, line=line, hint="Keep one of them.")
    absent = [key for key in ids if key not in known]
    if absent:
        raise problem(
            name,
            f"{count(len(absent), 'object')} of {len(ids):,} without a label, the first {quoted(absent[0])}",
            hint="Ids must match exactly, including case.",
        )
    return [known[key] for key in ids]
