"""Graphs as nodes and links, one object of JSON per line."""

from __future__ import annotations

from typing import Any

from mercer.errors import InputError
from mercer.inputs.graphs import Graphs
from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.options import Options
from mercer.readers.problems import problem


def graphs_of(name: str, rows: list[tuple[int, dict[str, Any]]], options: Options) -> Data:
    """Graphs, labelled by "label" or "class" of the object, or of its "graph"."""
    drafts, labels, lines = [], [], []
    for line, row in rows:
        drafts.append(_graph(name, line, row))
        about = {**(row["graph"] if isinstance(row.get("graph"), dict) else {}), **row}
        label = next(
            (about[key] for key in (options.target, "label", "class", "y", "target") if key and key in about), None
        )
        labels.append("" if label is None else str(label))
        lines.append(line)
    labelled = any(labels)
    return finished(
        name, "jsonl", "graphs", coerced(name, drafts, lines), labels if labelled else None, options, lines=lines
    )


def coerced(name: str, drafts: list[Any], lines: list[int] | None = None) -> Graphs:
    """Graphs, and errors about one of them told with its line."""
    try:
        return Graphs.coerce(drafts)
    except InputError as error:
        for position, draft in enumerate(drafts):
            try:
                Graphs.coerce([draft])
            except InputError as own:
                line = None if lines is None else lines[position]
                raise problem(name, str(own).removeprefix("Graph 0"), line=line) from own
        raise problem(name, str(error)) from error


def _graph(name: str, line: int, row: dict[str, Any]) -> dict[str, Any]:
    nodes, links = row.get("nodes"), row.get("links", row.get("edges"))
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise problem(name, 'a graph needs "nodes" and "links", both lists', line=line)
    names = [node.get("id") if isinstance(node, dict) else node for node in nodes]
    if any(isinstance(one, list | dict) or one is None for one in names):
        raise problem(name, "a node without an id", line=line)
    draft: dict[str, Any] = {"nodes": names, "edges": [], "directed": bool(row.get("directed", False))}
    if nodes and all(isinstance(node, dict) and "label" in node for node in nodes):
        draft["labels"] = [node["label"] for node in nodes]
    for link in links:
        if isinstance(link, dict) and "source" in link and "target" in link:
            draft["edges"].append(
                (link["source"], link["target"], float(link["weight"]))
                if _weight(link)
                else (link["source"], link["target"])
            )
        elif isinstance(link, list) and len(link) == 2:
            draft["edges"].append(tuple(link))
        else:
            raise problem(name, 'a link without "source" and "target"', line=line)
    for edge in draft["edges"]:
        if any(isinstance(end, list | dict) for end in edge[:2]):
            raise problem(name, "a link whose end is no id", line=line)
    if links and all(isinstance(link, dict) and "label" in link for link in links):
        draft["edge_labels"] = [link["label"] for link in links]
    return draft


def _weight(link: dict[str, Any]) -> bool:
    return isinstance(link.get("weight"), int | float) and not isinstance(link.get("weight"), bool)
