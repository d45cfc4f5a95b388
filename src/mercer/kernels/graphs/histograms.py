"""Histograms of the labels of nodes and edges: what every other kernel on graphs should beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, UInt64
from mercer.inputs.graphs import Graphs
from mercer.inputs.ragged import offsets_of
from mercer.kernels.base import State
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.graphs.base import CountingGraphs, alike
from mercer.kernels.loops.mixing import mixed


@final
@dataclass(frozen=True)
class VertexHistogram(CountingGraphs):
    """k(G, G') = sum over labels of the product of the numbers of nodes with that label.

    Where there are no labels, the product of the numbers of nodes.

    >>> from mercer import kernels
    >>> water = {"edges": [(0, 1), (0, 2)], "labels": "OHH"}
    >>> peroxide = {"edges": [(0, 1), (0, 2), (1, 3)], "labels": "OOHH"}
    >>> kernels.VertexHistogram().fit([water])([water], [water, peroxide])
    array([[5., 6.]])
    """

    def feature_map(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        graphs = alike(objects, state)
        return CountFeatures.of(node_names(graphs), graphs.offsets, dtype)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()


@final
@dataclass(frozen=True)
class EdgeHistogram(CountingGraphs):
    """k(G, G') = sum over labels of the product of the numbers of edges with that label.

    With `ends`, an edge is counted by its label together with the labels of the two nodes that it joins (in either
    order, unless the graphs are directed). Where edges have no labels, all count as the same. Undirected edges and
    loops count once (Sugiyama and Borgwardt 2015).

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> kernels.EdgeHistogram().fit([nx.path_graph(4)])([nx.path_graph(4)], [nx.cycle_graph(5)])
    array([[15.]])
    """

    ends: bool = False

    def __post_init__(self) -> None:
        _check.boolean("EdgeHistogram", "ends", self.ends)

    def feature_map(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        graphs = alike(objects, state, edge_labels=True)
        source, target = graphs.sources, graphs.neighbours
        labels = graphs.edge_labels
        names = np.zeros(len(target), dtype=np.uint64) if labels is None else mixed(labels)
        if self.ends:
            start = np.repeat(np.repeat(graphs.offsets[:-1], graphs.sizes), graphs.degrees)
            nodes = node_names(graphs)
            first, second = nodes[start + source], nodes[start + target]
            # A sum does not tell the two ends apart.
            names = mixed(names + first + (mixed(second) if graphs.directed else second))
        kept = np.ones(len(target), dtype=bool) if graphs.directed else source <= target
        rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.arc_offsets))[kept]
        return CountFeatures.of(names[kept], offsets_of(np.bincount(rows, minlength=len(graphs))), dtype)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(ends=True)


def node_names(graphs: Graphs) -> UInt64:
    """A mixed hash of the label of every node; one for all where there are no labels."""
    labels = graphs.labels
    return mixed(np.zeros(int(graphs.offsets[-1]), dtype=np.uint64) if labels is None else labels)
