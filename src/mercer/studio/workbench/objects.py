"""One object of a file, as a page shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.readers.data import SMILES, Data
from mercer.studio import drawn

_LONGEST = 400
"""The most characters of an object that are shown: enough to recognise it."""
_CELLS = 30
"""The most columns of a row that are shown."""


def shown(data: Data, row: int) -> dict[str, Any]:
    """Its name, its line, and its content: a text, or cells by name."""
    told: dict[str, Any] = {"name": data.name_of(row), "line": None if data.lines is None else int(data.lines[row])}
    if data.kind == "table":
        columns = list(data.objects.values())[:_CELLS]
        told["cells"] = [[column.name, _cell(column.values[row])] for column in columns]
    else:
        told["text"] = _text(data, row)
    told["drawing"] = _drawing(data, row)
    if data.labels is not None:
        told["label"] = str(data.labels[row])
    return told


def _drawing(data: Data, row: int) -> dict[str, Any] | None:
    """The shape of a graph, a tree, or the molecule of a row."""
    if data.kind == "graphs":
        return drawn.graph_of(data.objects, row)
    if data.kind == "trees":
        return drawn.tree(str(data.objects[row]))
    if data.kind == "table":
        molecules = [column.values[row] for column in data.objects.values() if column.kind == SMILES]
        return drawn.molecule(str(molecules[0])) if molecules and molecules[0] is not None else None
    return None


def _text(data: Data, row: int) -> str:
    if data.kind in ("vectors", "gram"):
        values = data.objects[[row]]
        values = np.asarray(values.todense() if hasattr(values, "todense") else values).ravel()
        if data.format == "svmlight":  # as its line is written, so that it can be pasted again
            places = np.flatnonzero(values)
            told = " ".join(f"{place + 1}:{values[place]:g}" for place in places[:_CELLS])
            return told + (" …" if len(places) > _CELLS else "")
        return _short(", ".join(f"{value:g}" for value in values[:_CELLS]) + (" …" if len(values) > _CELLS else ""))
    if data.kind == "graphs":
        adjacency = data.objects.adjacency(row)
        return f"{len(adjacency)} nodes, {int(np.count_nonzero(np.triu(adjacency)))} edges"
    return _short(str(data.objects[row]))


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:g}" if isinstance(value, float) else _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
