"""Graphs: GraphML, through networkx and never with a DOCTYPE; lists of edges; and nodes and links in JSON."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer.errors import InputError, missing_extra
from mercer.inputs.graphs import Graphs
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, reason
from mercer.readers.source import Source, empty

_NODE_LINK = 'Write {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}.'
_DECLARED = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)


def read_graphml(source: Source, options: Options) -> Data:
    """Every graph of a file; the label of a graph is its attribute "label" or "class"."""
    graphs = graphml_graphs(source)
    labels = [label_of(graph.graph, options) for graph in graphs]
    found = np.array(labels) if any(labels) else None
    return Data(source.name, "graphml", "graphs", to_graphs(source.name, graphs), found, "label")


def graphml_graphs(source: Source) -> list[Any]:
    """networkx graphs; entities and document types are refused before any parser sees them."""
    declared = _DECLARED.search(source.text)
    if declared:
        line = source.text.count("\n", 0, declared.start()) + 1
        what = "a DOCTYPE or an ENTITY, which are never read"
        raise problem(source.name, what, line=line, hint="Remove the declaration: GraphML does not need it.")
    try:
        reader = importlib.import_module("networkx.readwrite.graphml").GraphMLReader
    except ImportError as error:
        raise missing_extra("GraphML", "networkx", "graphs") from error
    try:
        graphs = list(reader()(string=source.text.encode()))
    except Exception as error:  # networkx raises all kinds of errors, including those of its XML parser
        what = f"not GraphML that can be read: {reason(error)}"
        raise problem(source.name, what, hint="Is it damaged? Write it again, for example with networkx.") from error
    if not graphs:
        raise problem(source.name, "the file holds no graphs", hint="Add a <graph> element for each object.")
    return graphs


def read_edges(source: Source, options: Options) -> Data:
    """Lines `u v` or `u v weight`; a blank line begins the next graph, `# label` before its edges names its label."""
    graphs: list[list[tuple[Any, ...]]] = []
    labels: list[str] = []
    lines: list[int] = []
    label, inside = "", False
    for number, line in source.numbered:
        text = line.strip()
        if text.startswith("#"):
            label = label if inside else text[1:].strip()
        elif text:
            if not inside:
                graphs.append([])
                labels.append(label)
                lines.append(number)
                label, inside = "", True
            graphs[-1].append(_edge(source.name, number, re.split(r"[\s,;]+", text)))
        else:
            inside = False
    if not graphs:
        raise empty(source.name, "the file holds no edges", "Write two nodes per line.")
    found = np.array(labels) if all(labels) else None
    return Data(source.name, "edges", "graphs", to_graphs(source.name, graphs, lines), found, "label", lines=lines)


def _edge(name: str, line: int, words: list[str]) -> tuple[Any, ...]:
    if not 2 <= len(words) <= 3:
        what = f"{len(words)} words, but an edge has two nodes and perhaps a weight"
        raise problem(name, what, line=line, hint="Write `u v` or `u v weight`.")
    try:
        return (*words[:2], *map(float, words[2:]))
    except ValueError:
        what = f"the weight {quoted(words[2])} is not a number"
        raise problem(name, what, line=line, hint="Write `u v` or `u v weight`.") from None


def graphs_of(name: str, rows: list[tuple[int, dict[str, Any]]], options: Options) -> Data:
    """Graphs, labelled by "label" or "class" of the object, or of its "graph"."""
    graphs, labels = [], []
    for line, row in rows:
        try:
            graphs.append(_graph(row))
        except (ValueError, TypeError, OverflowError) as error:
            raise problem(name, str(error), line=line, hint=_NODE_LINK) from None
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
    """The graphs of a file as `Graphs`; an error about one of them names its line."""
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
    edges = [_link(link) for link in links]
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


def _link(link: Any) -> tuple[Any, ...]:
    ends = [link.get("source"), link.get("target")] if isinstance(link, dict) else link
    if not isinstance(ends, list) or len(ends) != 2 or not all(map(_is_id, ends)):
        raise ValueError('a link without "source" and "target"')
    weight = link.get("weight") if isinstance(link, dict) else None
    weighted = isinstance(weight, int | float) and not isinstance(weight, bool)
    return (*ends, float(weight)) if weighted else tuple(ends)  # type: ignore[arg-type]
