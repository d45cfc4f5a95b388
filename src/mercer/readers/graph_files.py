"""GraphML, through networkx and never with a DOCTYPE; and lists of edges."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np

from mercer.errors import missing_extra
from mercer.readers.data import Data
from mercer.readers.node_link import label_of, to_graphs
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, reason
from mercer.readers.source import Source, empty

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
    except Exception as error:  # networkx raises errors of every kind, from its XML parser on
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
