"""`mercer.fit`: what `mercer fit` does, for data in memory."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from mercer._check import did_you_mean
from mercer.errors import InputError, ParameterError
from mercer.inputs.graphs import Graphs
from mercer.inputs.strings import Strings
from mercer.inputs.trees import Trees
from mercer.inputs.vectors import Vectors
from mercer.jobs.fitting import Outcome
from mercer.jobs.fitting import fit as fit_data
from mercer.jobs.problem import Plan
from mercer.jobs.several import Outcomes, one_by_one
from mercer.jobs.whole import Whole, beyond_memory
from mercer.readers.data import Data
from mercer.readers.frames import read_frame
from mercer.readers.labels import typed
from mercer.readers.options import Options
from mercer.readers.reading import read

_PLAN = tuple(field.name for field in dataclasses.fields(Plan))
_BESIDE = {"group": "groups", "time": "times", "weight": "weights"}
"""Settings that are columns of a table, or arrays, and the attributes of the data that hold them."""
_READING = tuple(field.name for field in dataclasses.fields(Options) if field.name not in ("target", "labels"))


@overload
def fit(data: Any, target: str | None = None, *, y: Any = None, **settings: Any) -> Outcome: ...


@overload
def fit(data: Any, target: Sequence[str], *, y: None = None, **settings: Any) -> Outcomes: ...


def fit(data: Any, target: str | Sequence[str] | None = None, *, y: Any = None, **settings: Any) -> Outcome | Outcomes:
    """Choose a kernel, train, and say how good the model is; from a file, a data frame, or objects with labels `y`.

    A data frame (pandas, polars, pyarrow) or a mapping of columns needs the name of its `target` column; its columns
    are read like those of a file, including dates, money and missing values. Files may be larger than memory. Strings,
    or rows of numbers, need their labels `y`. `settings` are the options of `mercer fit`: `kernel`, `task`, `folds`,
    `time_limit`, `memory`, `balanced`, `drop`, `categories` and so on. `metric` may be a function of (y, predicted),
    larger for better predictions; `group`, `time` and `weight` name columns, or are arrays; `class_names` is a mapping
    of labels to names. Several targets are each learnt by a separate model, and returned as `Outcomes`, a mapping.

    >>> import mercer
    >>> pets = {"mass": [4.0, 30.0, 5.0, 25.0] * 10, "colour": ["black", "brown", "red", "black"] * 10}
    >>> outcome = mercer.fit(pets | {"pet": ["cat", "dog"] * 20}, target="pet", folds=3)
    >>> outcome.predict({"mass": [4.5, 28.0], "colour": ["red", "red"]}).tolist()
    ['cat', 'dog']
    """
    plan, reading, arrays = _sorted(settings)

    def one(options: Options) -> Outcome:
        if isinstance(data, str | os.PathLike) and not arrays:
            in_pieces = beyond_memory(data, options, plan.memory)
            if in_pieces is not None:
                with tempfile.TemporaryDirectory() as folder:
                    whole = Whole.of(data, in_pieces, plan.memory, plan.seed, os.path.join(folder, "model"))
                    return fit_data(whole.data, plan, whole=whole)
        return fit_data(_with_arrays(_data(data, y, options), arrays), plan)

    if target is None or isinstance(target, str):
        return one(Options(target=target, **reading))
    if y is not None or not len(target):
        raise InputError("Several targets are names of columns, without y=...: target=['price', 'size'].")
    return Outcomes({name: one(own) for name, own in one_by_one(Options(**reading), list(target)).items()})


def _sorted(settings: Mapping[str, Any]) -> tuple[Plan, dict[str, Any], dict[str, Any]]:
    """Settings of the search, those of reading, and arrays given instead of the names of columns."""
    unknown = [name for name in settings if name not in (*_PLAN, *_READING)]
    if unknown:
        hint = did_you_mean(unknown[0], [*_PLAN, *_READING])
        raise ParameterError(f"fit has no setting {unknown[0]!r}. {hint}".strip())
    plan = Plan(**{name: value for name, value in settings.items() if name in _PLAN})
    reading = {name: _listed(value) for name, value in settings.items() if name in _READING}
    arrays = {name: reading.pop(name) for name in _BESIDE if not isinstance(reading.get(name, ""), str | None)}
    return plan, reading, arrays


def _listed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((str(label), str(name)) for label, name in value.items())
    return tuple(value) if isinstance(value, list) else value


def _with_arrays(data: Data, given: Mapping[str, Any]) -> Data:
    """The data, with groups, times and weights from arrays instead of columns."""
    found: dict[str, Any] = {}
    for name, values in given.items():
        array = np.asarray(values)
        if array.shape != (len(data),):
            raise InputError(f"{name} has {len(np.atleast_1d(array)):,} values for {len(data):,} objects.")
        if array.dtype.kind == "M":
            array = array.astype("datetime64[s]").astype(np.float64)
        found[_BESIDE[name]] = array.astype(np.str_) if name == "group" else array.astype(np.float64)
        if name != "group" and not np.isfinite(found[_BESIDE[name]]).all():
            raise InputError(f"{name} must be numbers, none of them missing.")
    weights = found.get("weights")
    if weights is not None and not (weights > 0).all():
        raise InputError("weight must be positive for every object.")
    if "groups" in found and "times" in found:
        raise InputError("group and time both say how folds are made: leave one of them out.")
    return dataclasses.replace(data, **found)


def _data(given: Any, y: Any, options: Options) -> Data:
    if isinstance(given, Data):
        return given
    if isinstance(given, str | os.PathLike):
        return read(given, options)
    if y is None:
        if not isinstance(given, Mapping) and not hasattr(given, "columns"):
            raise InputError("fit needs labels: y=..., or target=... with the name of a column of a table.")
        return read_frame(given, options)
    labels = np.asarray(y)
    text = labels if labels.dtype.kind in "iuf" else np.array([str(label) for label in labels.tolist()], dtype=np.str_)
    known = typed(text.astype(np.float64) if text.dtype.kind in "iuf" else text, "y")
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        table = read_frame(given, dataclasses.replace(options, require_labels=False))
        return _matched(dataclasses.replace(table, labels=known, target="y"))
    kind, objects = _in_memory(given)
    return _matched(Data("X", "python", kind, objects, known, "y"))


def _in_memory(given: Any) -> tuple[str, Any]:
    """Objects of Python, and their kind: strings, graphs and trees as a kernel takes them, else rows of numbers."""
    for kind, domain in (("strings", Strings), ("graphs", Graphs), ("trees", Trees)):
        if isinstance(given, domain):
            return kind, given
    first = given[0] if isinstance(given, Sequence) and len(given) else None
    if isinstance(first, str):
        return "strings", list(given)
    if isinstance(first, Mapping) or hasattr(first, "nodes"):
        return "graphs", Graphs.coerce(given)
    if isinstance(first, tuple) and len(first) and isinstance(first[0], str):
        return "trees", Trees.coerce(given)
    return "vectors", Vectors.coerce(given).values


def _matched(data: Data) -> Data:
    assert data.labels is not None
    if len(data.labels) != len(data):
        raise InputError(f"y has {len(data.labels):,} labels for {len(data):,} objects.")
    return data
