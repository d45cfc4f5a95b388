"""A summary of the content of a file, in plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.readers.data import DATE, NUMBER, Data
from mercer.readers.dates import day_text
from mercer.readers.problems import measured

NOUNS = {
    "table": "row",
    "vectors": "vector",
    "strings": "string",
    "graphs": "graph",
    "trees": "tree",
    "gram": "object",
}
"""The name of one object of each kind."""


def summary(data: Data) -> dict[str, Any]:
    """The content of a file, as plain values."""
    told: dict[str, Any] = {
        "name": data.name,
        "format": data.format,
        "kind": data.kind,
        "objects": len(data),
        "notes": list(data.notes),
        "columns": [],
        "labels": None,
    }
    if data.kind == "table":
        for column in data.objects.values():
            present = column.values[~column.missing]
            told["columns"].append(
                {
                    "name": column.name,
                    "kind": column.kind,
                    "missing": int(column.missing.sum()),
                    "content": _span(present, column.style)
                    if column.kind == DATE
                    else content(present, column.kind == NUMBER),
                }
            )
    if data.labels is not None:
        numbers = data.labels.dtype.kind in "if" and len(np.unique(data.labels)) > 20
        told["labels"] = {"name": data.target, "content": content(data.labels, numbers)}
    return told


def _span(days: Any, style: str) -> str:
    first, last = (day_text(float(end(days)), style) for end in (np.min, np.max)) if len(days) else ("", "")
    return f"{first} to {last}" if len(days) else "nothing"


def content(values: Any, numbers: bool) -> str:
    """Range and mean of numbers; the most common of other values with their counts."""
    if not len(values):
        return "nothing"
    if numbers:
        low, high, mean = float(np.min(values)), float(np.max(values)), float(np.mean(values))
        return f"{measured(low)} to {measured(high)}, mean {measured(float(f'{mean:.4g}'))}"
    found, counts = np.unique(values.astype(np.str_), return_counts=True)
    order = np.argsort(-counts, kind="stable")[:4]
    listed = ", ".join(f"{str(found[place])[:30]} ({counts[place]:,})" for place in order)
    return listed + (f" and {len(found) - 4:,} more" if len(found) > 4 else "")
