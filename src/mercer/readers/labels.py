"""The labels of objects: found, checked, and turned into numbers where all of them are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.readers.cells import MISSING, Cells, is_number
from mercer.readers.data import Data
from mercer.readers.label_files import read_labels
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted

_HINT = "Give them with --labels FILE: one label per line, in the order of the objects, or lines of id and label."


def with_labels(data: Data, options: Options) -> Data:
    """The last step of reading: labels from the file that the user names, else those of the data, as their type.

    Objects to be predicted keep their labels only if all have one.
    """
    if options.labels is not None:
        text, target = read_labels(options.labels, data.ids, len(data), options)
        return dataclasses.replace(data, labels=_typed(np.array(text), options.labels), target=target)
    if data.labels is None:
        if options.require_target and options.require_labels:
            raise problem(data.name, "the objects have no labels", hint=_HINT)
        return dataclasses.replace(data, target=None)
    if not options.require_target and is_missing(data.labels).any():
        return dataclasses.replace(data, labels=None, target=None)
    column = data.target if data.kind == "table" else None
    return dataclasses.replace(data, labels=_typed(data.labels, data.name, data.lines, column))


def is_missing(values: Cells | npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which values of a column are missing."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    return np.fromiter((value.strip() in MISSING for value in values), dtype=bool, count=len(values))


def _typed(
    labels: npt.NDArray[Any], name: str, lines: Sequence[int] | None = None, column: str | None = None
) -> npt.NDArray[Any]:
    """Whole numbers, numbers or strings, whichever all labels are; a missing one is an error."""

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
        return np.array(stripped, dtype=np.str_)
    numbers = np.array([float(label) for label in stripped])
    too_large = np.flatnonzero(~np.isfinite(numbers))
    if len(too_large):
        place = int(too_large[0])
        raise fail(place, f"the label {quoted(stripped[place])} is too large a number", "Rescale the labels.")
    return _as_whole(numbers)


def _as_whole(numbers: Float64) -> npt.NDArray[Any]:
    """As integers if all are; floats above 2**53 no longer tell neighbouring integers apart."""
    whole = bool((numbers == np.rint(numbers)).all()) and bool((np.abs(numbers) < 2**53).all())
    return numbers.astype(np.int64) if whole else numbers
