"""Folders of graphs in the form of the TU Dortmund collection: `_A`, `_graph_indicator`, `_graph_labels` and more."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.inputs.graph_block import assembled
from mercer.inputs.graph_drafts import Draft
from mercer.inputs.graphs import Graphs
from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source, opened

_PACKERS = ("", ".gz", ".xz", ".bz2")


def prefix_of(folder: str) -> str | None:
    """The name of the data set in a folder of that form, or None."""
    for entry in sorted(os.listdir(folder)):
        for packer in _PACKERS:
            if entry.endswith(f"_A.txt{packer}"):
                return entry.removesuffix(f"_A.txt{packer}")
    return None


def read_tu(folder: str, options: Options) -> Data:
    """Graphs with node and edge labels and node attributes, where the folder has them; ids count from 1."""
    prefix = prefix_of(folder)
    if prefix is None:
        raise problem(folder, "no file *_A.txt: this is no TU folder")
    owner = _numbers(folder, prefix, "graph_indicator", options)[:, 0].astype(np.int64) - 1
    edges = _numbers(folder, prefix, "A", options).astype(np.int64) - 1
    if len(owner) == 0 or owner.min() < 0 or (np.diff(owner) < 0).any():
        raise problem(f"{prefix}_graph_indicator.txt", "nodes must be listed graph by graph, and graphs counted from 1")
    outside = (edges < 0) | (edges >= len(owner))
    if edges.shape[1] != 2 or outside.any():
        line = int(np.flatnonzero(outside.any(axis=1))[0]) + 1 if outside.any() else 1
        raise problem(f"{prefix}_A.txt", f"an edge to a node that is none of the {len(owner):,}", line=line)
    apart = owner[edges[:, 0]] != owner[edges[:, 1]]
    if apart.any():
        raise problem(f"{prefix}_A.txt", "an edge between two graphs", line=int(np.flatnonzero(apart)[0]) + 1)
    optional = {
        "labels": _optional(folder, prefix, "node_labels", options, len(owner)),
        "attributes": _optional(folder, prefix, "node_attributes", options, len(owner)),
        "edge_labels": _optional(folder, prefix, "edge_labels", options, len(edges)),
    }
    n = int(owner[-1]) + 1
    graphs = _graphs(owner, edges, optional, n)
    source = _open(folder, prefix, "graph_labels", options)
    labels = None if source is None else [line.strip() for line in source.lines if line.strip()]
    if labels is not None and len(labels) != n:
        raise problem(f"{prefix}_graph_labels.txt", f"{len(labels):,} labels for {n:,} graphs")
    notes = ["Edges are directed: some go one way only."] if graphs.directed else []
    return finished(prefix, "tu", "graphs", graphs, labels, options, notes=notes)


def _graphs(owner: Any, edges: Any, optional: dict[str, Any], n: int) -> Graphs:
    size = len(owner)
    keys = np.unique(edges[:, 0] * size + edges[:, 1])
    directed = not np.isin(edges[:, 1] * size + edges[:, 0], keys).all()
    starts = np.searchsorted(owner, np.arange(n + 1))
    order = np.argsort(owner[edges[:, 0]], kind="stable")
    edges = edges[order]
    bounds = np.searchsorted(owner[edges[:, 0]], np.arange(n + 1))
    nodes, ties = optional["labels"], optional["edge_labels"]
    attributes = optional["attributes"]
    drafts = []
    for number in range(n):
        first, last = starts[number], starts[number + 1]
        own = slice(bounds[number], bounds[number + 1])
        drafts.append(
            Draft(
                range(last - first),
                edges[own] - first,
                directed,
                labels=None if nodes is None else nodes[first:last, 0].astype(np.int64),
                attributes=None if attributes is None else attributes[first:last],
                edge_labels=None if ties is None else ties[order[own], 0].astype(np.int64),
            )
        )
    return Graphs(**assembled(drafts))


def _open(folder: str, prefix: str, part: str, options: Options) -> Source | None:
    for packer in _PACKERS:
        path = os.path.join(folder, f"{prefix}_{part}.txt{packer}")
        if os.path.exists(path):
            return opened(path, options)
    return None


def _numbers(folder: str, prefix: str, part: str, options: Options) -> npt.NDArray[np.float64]:
    source = _open(folder, prefix, part, options)
    if source is None:
        raise problem(folder, f"the file {prefix}_{part}.txt is missing")
    return _values(source, 2 if part == "A" else 1)


def _values(source: Source, usual: int) -> npt.NDArray[np.float64]:
    rows = [line.replace(",", " ").split() for line in source.lines if line.strip()]
    width = len(rows[0]) if rows else usual
    try:
        values = np.array(rows, dtype=np.float64).reshape(len(rows), width)
        if np.isfinite(values).all():
            return values
    except ValueError:
        pass
    for number, row in enumerate(rows, 1):
        try:
            sound = len(row) == width and np.isfinite([float(cell) for cell in row]).all()
        except ValueError:
            sound = False
        if not sound:
            raise problem(source.name, f"{quoted(' '.join(row))} is not {width} finite numbers", line=number)
    raise problem(source.name, "not a table of numbers")


def _optional(folder: str, prefix: str, part: str, options: Options, n: int) -> npt.NDArray[np.float64] | None:
    source = _open(folder, prefix, part, options)
    if source is None:
        return None
    values = _values(source, 1)
    if len(values) != n:
        raise problem(f"{prefix}_{part}.txt", f"{len(values):,} lines, where {n:,} are needed")
    return values
