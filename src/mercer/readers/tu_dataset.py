"""Folders of graphs in the form of the TU Dortmund collection: `_A`, `_graph_indicator`, `_graph_labels` and more."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.inputs.graph_block import assembled
from mercer.inputs.graph_draft import Draft
from mercer.inputs.graphs import Graphs
from mercer.readers.cells import is_finite
from mercer.readers.data import Data
from mercer.readers.opening import PACKERS, open_source
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted
from mercer.readers.source import Source

_LARGEST_ID = 2**53  # beyond, float64 can no longer represent all whole numbers
_ENDINGS = ("", *PACKERS)


def prefix_of(folder: str) -> str | None:
    """The name of the data set in a folder of that form, or None."""
    for entry in sorted(os.listdir(folder)):
        for packer in _ENDINGS:
            if entry.endswith(f"_A.txt{packer}"):
                return entry.removesuffix(f"_A.txt{packer}")
    return None


def read_tu(folder: str, options: Options) -> Data:
    """Graphs with the node labels, edge labels and node attributes that the folder has; ids count from 1."""
    prefix = prefix_of(folder)
    if prefix is None:
        raise problem(folder, "no file *_A.txt: this is not a TU folder", hint="Leave --format out: Mercer detects it.")
    files = _Files(folder, prefix, options)
    owner = files.ids("graph_indicator")[:, 0]
    if len(owner) == 0 or owner.min() < 0 or (np.diff(owner) < 0).any():
        what = "nodes must be listed graph by graph, and graphs counted from 1"
        raise problem(f"{prefix}_graph_indicator.txt", what, hint="Sort the nodes by their graph.")
    n = int(owner[-1]) + 1
    labels = files.labels()
    if labels is not None and len(labels) != n:
        what = f"{count(len(labels), 'label')} for {count(n, 'graph')}"
        raise problem(f"{prefix}_graph_labels.txt", what, hint="Write one label per graph.")
    if labels is None and n > len(owner):
        what = f"graph {n:,}, but there are only {count(len(owner), 'node')}"
        raise problem(f"{prefix}_graph_indicator.txt", what, line=len(owner), hint="Count the graphs from 1.")
    edges = files.ids("A")
    _check_edges(f"{prefix}_A.txt", edges, owner)
    optional = {
        "labels": files.optional_numbers("node_labels", len(owner)),
        "attributes": files.optional_numbers("node_attributes", len(owner)),
        "edge_labels": files.optional_numbers("edge_labels", len(edges)),
    }
    graphs = _graphs(owner, edges, optional, n)
    notes = ("Edges are directed: some go one way only.",) if graphs.directed else ()
    return Data(prefix, "tu", "graphs", graphs, None if labels is None else np.array(labels), "label", notes=notes)


def _check_edges(name: str, edges: Any, owner: Any) -> None:
    """Check that edges join two nodes of the same graph."""
    hint = "Each line has the numbers of two nodes, counted from 1 over all graphs."
    if edges.shape[1] != 2:
        raise problem(name, f"{edges.shape[1]} numbers per line, but an edge has two nodes", line=1, hint=hint)
    outside = ((edges < 0) | (edges >= len(owner))).any(axis=1)
    if outside.any():
        what = f"an edge to a node that does not exist: there are {len(owner):,}"
        raise problem(name, what, line=int(np.flatnonzero(outside)[0]) + 1, hint=hint)
    apart = np.flatnonzero(owner[edges[:, 0]] != owner[edges[:, 1]])
    if len(apart):
        raise problem(name, "an edge between two graphs", line=int(apart[0]) + 1, hint=hint)


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


@final
@dataclass(frozen=True)
class _Files:
    """The files of one data set."""

    folder: str
    prefix: str
    options: Options

    def source(self, part: str) -> Source | None:
        path = os.path.join(self.folder, f"{self.prefix}_{part}.txt")
        packed = next((path + ending for ending in _ENDINGS if os.path.exists(path + ending)), None)
        return None if packed is None else open_source(packed, self.options)

    def labels(self) -> list[str] | None:
        source = self.source("graph_labels")
        return None if source is None else [line.strip() for line in source.lines if line.strip()]

    def numbers(self, part: str) -> Float64:
        source = self.source(part)
        if source is None:
            what = f"the file {self.prefix}_{part}.txt is missing"
            raise problem(self.folder, what, hint="Unpack the whole data set into the folder.")
        return _matrix(source, 2 if part == "A" else 1)

    def ids(self, part: str) -> Indices:
        """Numbers of graphs or nodes, counted from 0 (in the file from 1)."""
        values = self.numbers(part)
        odd = np.flatnonzero(((values % 1 != 0) | (np.abs(values) > _LARGEST_ID)).any(axis=1))
        if len(odd):
            what = f"{quoted(' '.join(f'{value:g}' for value in values[odd[0]]))} is not the number of a node or graph"
            hint = "Number nodes and graphs 1, 2, 3 and so on."
            raise problem(f"{self.prefix}_{part}.txt", what, line=int(odd[0]) + 1, hint=hint)
        return values.astype(np.intp) - 1

    def optional_numbers(self, part: str, n: int) -> Float64 | None:
        source = self.source(part)
        values = None if source is None else _matrix(source, 1)
        if values is not None and len(values) != n:
            what = f"{count(len(values), 'line')}, but {n:,} are needed"
            raise problem(f"{self.prefix}_{part}.txt", what, hint="Write one line per node or edge.")
        return values


def _matrix(source: Source, usual: int) -> Float64:
    """Rows of finite numbers, all equally long; `usual` is the width of an empty file."""
    rows = [(number, line.replace(",", " ").split()) for number, line in source.numbered if line.strip()]
    width = len(rows[0][1]) if rows else usual
    for number, row in rows:
        if len(row) != width or not all(map(is_finite, row)):
            what = f"{quoted(' '.join(row))} is not {count(width, 'finite number')}"
            raise problem(source.name, what, line=number, hint="Separate the numbers by commas.")
    return np.array([row for _, row in rows], dtype=np.float64).reshape(len(rows), width)
