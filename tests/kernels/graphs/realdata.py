"""The real data sets of graphs as `Graphs` takes them."""

from typing import Any

import numpy as np


def as_graphs(part: tuple[Any, Any]) -> tuple[list[dict[str, Any]], np.ndarray[Any, Any]]:
    """Graphs and classes, of what was loaded."""
    items, classes = part
    found = []
    for item in items:
        graph = {"nodes": item["n"], "edges": item["edges"].reshape(-1, 2).astype(np.int64)}
        if item["node_labels"] is not None:
            graph["labels"] = item["node_labels"][:, 0]
        found.append(graph)
    return found, classes
