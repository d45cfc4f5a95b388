"""Graphs as nodes and links, one JSON object per line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.inputs.graphs import Graphs
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import problem

_HINT = 'Write {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}.'


def graphs_of(name: str, rows: list[tuple[int, dict[str, Any]]], options: Options) -> Data:
    """Graphs, labelled by "label" or "class" of the object, or of its "graph"."""
    graphs, labels = [], []
    for line, row in rows:
        try:
            graphs.append(_graph(row))
        except (ValueError, TypeError, OverflowError) as error:
            raise problem(name, str(error), line=line, hint=_HINT) from None
        about = row["graph"] if isinstance(row.get("graph"), dict) else {}
        labels.append(label_of({**about, **row}, options))
    lines = [line for line, _ in rows]
    found = np.array(labels) if any(labels) else None
    return Data(name, "jsonl", "graphs", to_graphs(name, graphs, lines), found, "label", lines=lines)


def label_of(attributes: Mapping[str, Any], options: Options) -> str:
    """The label among the attributes of a graph; empty if there is none."""
    keys = (options.target, "label", "class", "y", "target")
    label = next((attributes[key] for key in keys if key and key in attributes), None)
    return "" if label is None else str(label)


def to_graphs(name: str, graphs: list[Any], lines: Sequence[int] | None = None) -> Graphs:
    """`Graphs` of what a file holds; an error about one of them names its line."""
    hint = "Correct or remove the graph."
    try:
        return Graphs.coerce(graphs)
    except InputError as error:
        for position, graph in enumerate(graphs):
            try:
                Graphs.coerce([graph])
            except InputError as own:
                line = None if lines is None else lines[position]
                raise problem(name, str(own).removeprefix("Graph 0"), line=line, hint=hint) from own
        raise problem(name, str(error), hint=hint) from error


def _graph(row: dict[str, Any]) -> dict[str, Any]:
    """A graph for `Graphs.coerce`; the error says what is missing."""
    nodes, links = row.get("nodes"), row.get("links", row.get("edges"))
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise TypeError('a graph needs "nodes" and "links", both lists')
    names = [node.get("id") if isinstance(node, dict) else node for node in nodes]
    if not all(map(_is_id, names)):
        raise ValueError("a node without an id")
    edges = [_edge(link) for link in links]
    graph: dict[str, Any] = {"nodes": names, "edges": edges, "directed": bool(row.get("directed", False))}
    if _all_labelled(nodes):
        graph["labels"] = [node["label"] for node in nodes]
    if _all_labelled(links):
        graph["edge_labels"] = [link["label"] for link in links]
    return graph


def _is_id(name: Any) -> bool:
    return name is not None and not isinstance(name, list | dict)


def _all_labelled(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, dict) and "label" in item for item in items)


def _edge(link: Any) -> tuple[Any, ...]:
    ends = [link.get("source"), link.get("target")] if isinstance(link, dict) else link
    if not isinstance(ends, list) or len(ends) != 2 or not all(map(_is_id, ends)):
        raise ValueError('a link without "source" and "target"')
    weight = link.get("weight") if isinstance(link, dict) else None
    weighted = isinstance(weight, int | float) and not isinstance(weight, bool)
    return (*ends, float(weight)) if weighted else tuple(ends)  # type: ignore[arg-type]
