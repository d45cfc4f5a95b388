"""GraphML, through networkx and never with a DOCTYPE; and lists of edges."""

from __future__ import annotations

import importlib
import re
from typing import Any

from mercer.errors import MissingExtraError
from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.node_link import coerced
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source

_DECLARED = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)


def read_graphml(source: Source, options: Options) -> Data:
    """Every graph of a file; the label of a graph is its attribute "label" or "class"."""
    graphs = graphml_graphs(source)
    labels = [str(graph.graph[key]) if (key := _label_key(graph, options)) is not None else "" for graph in graphs]
    objects = coerced(source.name, graphs)
    return finished(source.name, "graphml", "graphs", objects, labels if any(labels) else None, options)


def graphml_graphs(source: Source) -> list[Any]:
    """networkx graphs; entities and document types are refused before any parser sees them."""
    if _DECLARED.search(source.text):
        line = source.text[: _DECLARED.search(source.text).start()].count("\n") + 1  # type: ignore[union-attr]
        raise problem(
            source.name,
            "a DOCTYPE or an ENTITY, which GraphML does not need and we do not read",
            line=line,
            hint="Remove the declaration.",
        )
    try:
        reader = importlib.import_module("networkx.readwrite.graphml").GraphMLReader
    except ImportError as error:
        raise MissingExtraError(
            "GraphML needs networkx, which is not installed. Install it with: pip install 'mercer[graphs]'."
        ) from error
    try:
        graphs = list(reader()(string=source.text.encode()))
    except Exception as error:  # networkx lets every kind of error through, from its XML parser on
        raise problem(source.name, f"no GraphML that can be read: {' '.join(str(error).split())[:200]}") from error
    if not graphs:
        raise problem(source.name, "the file holds no graphs")
    return graphs


def _label_key(graph: Any, options: Options) -> str | None:
    return next((key for key in (options.target, "label", "class", "y", "target") if key and key in graph.graph), None)


def read_edges(source: Source, options: Options) -> Data:
    """Lines `u v` or `u v weight`; a blank line begins the next graph, `# label` before its edges names its label."""
    graphs: list[list[tuple[Any, ...]]] = []
    labels: list[str] = []
    lines: list[int] = []
    edges: list[tuple[Any, ...]] = []
    pending = ""
    for number, line in enumerate([*source.lines, ""], source.first):
        text = line.strip()
        if text.startswith("#"):
            pending = text[1:].strip() if not edges else pending
        elif text:
            words = re.split(r"[\s,;]+", text)
            if not edges:
                lines.append(number)
            edges.append(_edge(source.name, number, words))
        elif edges:
            graphs.append(edges)
            labels.append(pending)
            edges, pending = [], ""
    if not graphs:
        raise problem(source.name, "the file holds no edges")
    objects = coerced(source.name, graphs, lines)
    return finished(source.name, "edges", "graphs", objects, labels if all(labels) else None, options, lines=lines)


def _edge(name: str, line: int, words: list[str]) -> tuple[Any, ...]:
    if len(words) == 2:
        return (words[0], words[1])
    if len(words) == 3:
        try:
            return (words[0], words[1], float(words[2]))
        except ValueError:
            raise problem(name, f"the weight {quoted(words[2])} is not a number", line=line) from None
    raise problem(name, f"{len(words)} words, where an edge has two nodes and perhaps a weight", line=line)
