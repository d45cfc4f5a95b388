"""svmlight and LIBSVM files, line by line: what their usual readers let pass silently is named here."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from mercer.readers.data import Data
from mercer.readers.labels import typed
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source

_LARGEST = 2**31 - 2


def read_svmlight(source: Source, options: Options) -> Data:
    """Labels and sparse rows; indices start at 1, or at 0 if one of them is 0. Comments and qid are skipped."""
    labels: list[str] = []
    lines: list[int] = []
    indices: list[int] = []
    values: list[float] = []
    bounds = [0]
    queries = 0
    for number, line in source.numbered:
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        pairs = words[1:]
        if ":" in words[0]:  # objects to be predicted may come without labels
            pairs = words
            words = ["", *words]
        last = -1
        for word in pairs:
            key, colon, value = word.partition(":")
            if key == "qid":
                queries += 1
                continue
            index, amount = _pair(source.name, number, word, key, colon, value)
            if index <= last:
                raise problem(source.name, f"index {index} after {last}: indices increase along a line", line=number)
            if index > options.max_features:
                raise problem(
                    source.name,
                    f"index {index:,} is beyond {options.max_features:,}",
                    line=number,
                    hint="Raise the cap with --max-features, if there really are so many features.",
                )
            last = index
            indices.append(index)
            values.append(amount)
        labels.append(words[0])
        lines.append(number)
        bounds.append(len(indices))
    if not labels:
        raise problem(source.name, "the file is empty")
    notes = ["Query ids (qid) are ignored."] if queries else []
    columns = np.asarray(indices, dtype=np.int64)
    first = 0 if len(columns) and columns.min() == 0 else 1
    if options.first_index is not None:
        if first < options.first_index:
            place = lines[int(np.searchsorted(bounds, int(np.flatnonzero(columns == 0)[0]), side="right")) - 1]
            raise problem(source.name, "a feature 0, where features were counted from 1 in training", line=place)
        first = options.first_index
    elif first == 0:
        notes.append("Indices start at 0.")
    width = max(int(columns.max(initial=first)) - first + 1, 1)
    matrix = sp.csr_array((np.asarray(values), columns - first, np.asarray(bounds)), shape=(len(labels), width))
    unlabelled = all(not label for label in labels)
    if unlabelled and options.require_target and options.require_labels:
        raise problem(source.name, "no labels: each line starts with one", line=lines[0])
    found = None if unlabelled else typed([label.removeprefix("+") for label in labels], source.name, lines)
    return Data(source.name, "svmlight", "vectors", matrix, found, "label", None, lines, tuple(notes), {"first": first})


def _pair(name: str, line: int, word: str, key: str, colon: str, value: str) -> tuple[int, float]:
    try:
        index, amount = int(key), float(value)
    except ValueError:
        index, amount = -1, math.nan
    if not colon or not 0 <= index <= _LARGEST or "_" in word:
        raise problem(name, f"{quoted(word)} is no index:value", line=line)
    if not math.isfinite(amount):
        raise problem(name, f"the value in {quoted(word)} is not a finite number", line=line)
    return index, amount
