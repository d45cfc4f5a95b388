"""Histograms of the labels of nodes and edges: the baseline for every other kernel on graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
import numpy.typing as npt

from mercer._record import boolean
from mercer._types import DType, Indices, UInt64
from mercer.inputs.graphs import Graphs
from mercer.inputs.hashing import text_of_label
from mercer.inputs.ragged import offsets_of
from mercer.kernels.base import State
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Occurrences, Spelling
from mercer.kernels.graphs.base import CountingGraphs, alike, joined, label_of, nodes_of
from mercer.kernels.loops.mixing import mixed


@final
@dataclass(frozen=True)
class VertexHistogram(CountingGraphs):
    """k(G, G') = sum over labels of the product of the numbers of nodes with that label.

    Without labels, it is the product of the numbers of nodes.

    >>> from mercer import kernels
    >>> water = {"edges": [(0, 1), (0, 2)], "labels": "OHH"}
    >>> peroxide = {"edges": [(0, 1), (0, 2), (1, 3)], "labels": "OOHH"}
    >>> kernels.VertexHistogram().fit([water])([water], [water, peroxide])
    array([[5., 6.]])
    """

    def counts(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        graphs = alike(objects, state)
        return CountFeatures.of(node_names(graphs), graphs.offsets, dtype)

    def occurrences(self, one: Graphs, state: State) -> Occurrences:
        return Occurrences.on_single_parts(nodes_of(one), node_names(alike(one, state)), lambda k: label_of(one, k))


@final
@dataclass(frozen=True)
class EdgeHistogram(CountingGraphs):
    """k(G, G') = sum over labels of the product of the numbers of edges with that label.

    With `ends`, an edge is counted by its label together with the labels of the two nodes that it joins (in either
    order, unless the graphs are directed). Edges without labels all count as the same. Undirected edges and loops count
    once (Sugiyama and Borgwardt 2015).

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> kernels.EdgeHistogram().fit([nx.path_graph(4)])([nx.path_graph(4)], [nx.cycle_graph(5)])
    array([[15.]])
    """

    ends: bool = boolean()

    variants = (
        {},
        {"ends": True},
    )

    def counts(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        graphs = alike(objects, state, edge_labels=True)
        names, kept = self._named(graphs)
        rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.arc_offsets))[kept]
        return CountFeatures.of(names[kept], offsets_of(np.bincount(rows, minlength=len(graphs))), dtype)

    def spelling(self, objects: Graphs, state: State) -> Iterator[Spelling]:
        for number in range(len(objects)):
            one = objects.take(slice(number, number + 1))
            names, kept = self._named(one)
            edges = np.flatnonzero(kept)
            yield names[edges], partial(self._spelt, one, edges)

    def _spelt(self, one: Graphs, edges: Indices, k: int) -> str:
        arc = int(edges[k])
        label = "edge" if one.edge_labels is None else text_of_label(int(one.edge_labels[arc]))
        if not self.ends:
            return label
        first, second = (label_of(one, int(ends[arc])) for ends in (one.sources, one.neighbours))
        return joined(first, label, second, directed=one.directed)

    def _named(self, graphs: Graphs) -> tuple[UInt64, npt.NDArray[np.bool_]]:
        """The name of every arc, and which arcs count."""
        source, target = graphs.sources, graphs.neighbours
        labels = graphs.edge_labels
        names = np.zeros(len(target), dtype=np.uint64) if labels is None else mixed(labels)
        if self.ends:
            start = np.repeat(np.repeat(graphs.offsets[:-1], graphs.sizes), graphs.degrees)
            nodes = node_names(graphs)
            first, second = nodes[start + source], nodes[start + target]
            # A sum does not depend on the order of the ends.
            names = mixed(names + first + (mixed(second) if graphs.directed else second))
        return names, np.ones(len(target), dtype=bool) if graphs.directed else source <= target


def node_names(graphs: Graphs) -> UInt64:
    """A mixed hash of the label of every node; the same for all if there are no labels."""
    labels = graphs.labels
    return mixed(np.zeros(int(graphs.offsets[-1]), dtype=np.uint64) if labels is None else labels)
