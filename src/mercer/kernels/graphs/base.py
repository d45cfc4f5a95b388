"""Shared code of kernels on graphs: new graphs must be of the kind that the kernel was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._types import Floating, Int64
from mercer.errors import InputError
from mercer.inputs.graphs import Graphs
from mercer.inputs.hashing import text_of_label
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.counting import Counting
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.postings import SplitCounts, align, inner_products


class GraphKernel(Kernel):
    """A kernel on graphs. Its state records their kind; `alike` refuses others."""

    domain = Graphs

    def resolve(self, objects: Graphs) -> State:
        return State({"kind": kind_of(objects)})


class CountingGraphs(GraphKernel, Counting):
    """The inner product of counts of hashed features of graphs, most of them rare; subclasses define `counts`."""

    def align(self, left: CountFeatures, right: CountFeatures, state: State) -> tuple[SplitCounts, SplitCounts]:
        return align(left, right)

    def tile(self, left: SplitCounts, right: SplitCounts, state: State, out: Floating) -> None:
        inner_products(left, right, out)


def nodes_of(one: Graphs) -> tuple[int, ...]:
    """The parts of a single graph: its nodes by number."""
    return tuple(range(int(one.offsets[-1])))


def label_of(graphs: Graphs, node: int) -> str:
    """The label of a node as text; a star if there are no labels."""
    return "*" if graphs.labels is None else text_of_label(int(graphs.labels[node]))


def joined(first: str, between: str, second: str, *, directed: bool) -> str:
    """Two nodes and the connection between them as text; independent of their order unless `directed`."""
    if directed:
        return f"{first} -({between})-> {second}"
    return f"{min(first, second)} -({between})- {max(first, second)}"


def sparse_adjacency(graphs: Graphs, number: int) -> Any:
    """The (weighted) adjacency matrix of one graph, as CSR."""
    start, end = graphs.offsets[number : number + 2]
    bounds = graphs.bounds[start : end + 1]
    arcs = slice(bounds[0], bounds[-1])
    weights = np.ones(bounds[-1] - bounds[0]) if graphs.weights is None else graphs.weights[arcs]
    rows = (bounds - bounds[0]).astype(np.int32)
    return sp.csr_array((weights, graphs.neighbours[arcs], rows), shape=(end - start, end - start))


def kind_of(graphs: Graphs) -> Int64:
    """Whether graphs are directed, and have labels on nodes and edges."""
    flags = (graphs.directed, graphs.labels is not None, graphs.edge_labels is not None)
    return np.asarray(flags, dtype=np.int64)


def alike(graphs: Graphs, state: State, *, edge_labels: bool = False) -> Graphs:
    """The graphs; refuses those of another kind than the training graphs."""
    wanted, found = state.values["kind"], kind_of(graphs)
    words = (
        ("are directed", "are undirected"),
        ("have labels on their nodes", "have no labels on their nodes"),
        ("have labels on their edges", "have no labels on their edges"),
    )
    for number in (0, 1, 2) if edge_labels else (0, 1):
        if wanted[number] != found[number]:
            before, now = words[number][1 - int(wanted[number])], words[number][1 - int(found[number])]
            raise InputError(
                f"These graphs {now}, but those that the kernel was fitted on {before}. Prepare both in the same way."
            )
    return graphs


def refuse_weights(graphs: Graphs, owner: str, *, positive: bool) -> None:
    """Refuse negative weights (and zero, if they must be `positive`): lengths and numbers of walks have none."""
    weights = graphs.weights
    if weights is None:
        return
    bad = np.flatnonzero(weights <= 0 if positive else weights < 0)
    if len(bad):
        where = int(bad[0])
        graph = int(np.searchsorted(graphs.arc_offsets, where, side="right")) - 1
        edge = (int(graphs.sources[where]), int(graphs.neighbours[where]))
        rule = "positive" if positive else "zero or more"
        raise InputError(
            f"{owner} needs weights that are {rule}, but the edge {edge} of graph {graph} has weight "
            f"{weights[where]:g} (nodes are counted from 0, in the order given)."
        )
