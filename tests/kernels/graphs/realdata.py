"""The real data sets as `Graphs` and `Trees` take them."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np


def loader(folder: Path) -> Any:
    """The module that reads the data sets, which lies beside them."""
    spec = importlib.util.spec_from_file_location("shared_data_load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def graphs(folder: Path, name: str) -> tuple[list[dict[str, Any]], np.ndarray[Any, Any]]:
    items, classes = loader(folder).load(f"graphs/{name}")["all"]
    found = []
    for item in items:
        graph = {"nodes": item["n"], "edges": item["edges"].reshape(-1, 2).astype(np.int64)}
        if item["node_labels"] is not None:
            graph["labels"] = item["node_labels"][:, 0]
        found.append(graph)
    return found, classes
