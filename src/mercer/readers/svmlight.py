"""svmlight and LIBSVM files, line by line; mistakes that other readers accept silently are errors."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source, empty

_LARGEST_INDEX = 2**31 - 2  # larger numbers of columns do not fit into the 32 bits of SciPy's indices


def read_svmlight(source: Source, options: Options) -> Data:
    """Labels and sparse rows; indices start at 1, or at 0 if one of them is 0. Comments and qid are skipped."""
    labels: list[str] = []
    lines: list[int] = []
    indices: list[int] = []
    values: list[float] = []
    bounds = [0]
    queries = False
    for number, line in source.numbered:
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        labels.append("" if ":" in words[0] else words.pop(0))  # objects to be predicted may have no labels
        lines.append(number)
        pairs = [word for word in words if not word.startswith("qid:")]
        queries = queries or len(pairs) < len(words)
        _append_row(source.name, number, pairs, indices, values, options)
        bounds.append(len(indices))
    if not labels:
        raise empty(source.name)
    notes = ["Query ids (qid) are ignored."] if queries else []
    columns = np.asarray(indices, dtype=np.int64)
    first = _first_index(source.name, columns, bounds, lines, options)
    if first == 0 and options.first_index is None:
        notes.append("Indices start at 0.")
    width = max(int(columns.max(initial=first)) - first + 1, 1)
    matrix = sp.csr_array((np.asarray(values), columns - first, np.asarray(bounds)), shape=(len(labels), width))
    found = np.array([label.removeprefix("+") for label in labels]) if any(labels) else None
    return Data(source.name, "svmlight", "vectors", matrix, found, "label", None, lines, tuple(notes), {"first": first})


def _first_index(
    name: str, columns: npt.NDArray[np.int64], bounds: list[int], lines: list[int], options: Options
) -> int:
    """0 or 1: as in training, or by the smallest index."""
    zeros = np.flatnonzero(columns == 0)
    if options.first_index is None:
        return 0 if len(zeros) else 1
    if len(zeros) and options.first_index > 0:
        row = int(np.searchsorted(bounds, int(zeros[0]), side="right")) - 1
        what = "a feature 0, but in training features were counted from 1"
        raise problem(name, what, line=lines[row], hint="Number the features as in training.")
    return options.first_index


def _append_row(
    name: str, line: int, pairs: list[str], indices: list[int], values: list[float], options: Options
) -> None:
    last = -1
    most = options.widest(table=False)
    for pair in pairs:
        index, value = _parsed(name, line, pair)
        if index <= last:
            what = f"index {index} after {last}; indices must increase along a line"
            raise problem(name, what, line=line, hint="Sort the features of each line, and give each once.")
        if index > most:
            what = f"index {index:,} is beyond {most:,}"
            raise problem(
                name, what, line=line, hint="Raise the cap with --max-features if there really are that many features."
            )
        last = index
        indices.append(index)
        values.append(value)


def _parsed(name: str, line: int, pair: str) -> tuple[int, float]:
    key, _, value = pair.partition(":")
    hint = "Features are written as index:value, such as 3:0.5."
    try:
        index, amount = int(key), float(value)
    except ValueError:
        index, amount = -1, math.nan
    if not 0 <= index <= _LARGEST_INDEX or "_" in pair:
        raise problem(name, f"{quoted(pair)} is not index:value", line=line, hint=hint)
    if not math.isfinite(amount):
        raise problem(name, f"the value in {quoted(pair)} is not a finite number", line=line, hint=hint)
    return index, amount
