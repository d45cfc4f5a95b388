"""Weisfeiler-Lehman kernels: the subtree kernel, the best matching of nodes, and any kernel on relabelled graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer import _check
from mercer._record import boolean, integer
from mercer._types import DType, Float64, Floating
from mercer.inputs.graphs import Graphs
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.algebra.several import PartFeatures
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.counts import EXACT_IN_SINGLE, CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.features.postings import SplitCounts, align, intersections
from mercer.kernels.graphs.base import CountingGraphs, GraphKernel, alike, nodes_of
from mercer.kernels.graphs.histograms import EdgeHistogram
from mercer.kernels.graphs.refinement import colour_counts, refined, spelt_colours
from mercer.kernels.graphs.shortest_path import ShortestPath
from mercer.kernels.loops.mixing import mixed

MOST_ROUNDS = 1000
"""The most rounds: colours stop splitting after as many rounds as nodes, and each round costs as much as the first."""


@dataclass(frozen=True)
class ColourKernel(GraphKernel):
    """A kernel that compares how many nodes have each colour in rounds 0..h of colour refinement."""

    h: int = integer(3, low=0, high=MOST_ROUNDS)
    edge_labels: bool = boolean()

    variants = ({}, {"h": 0}, {"h": 2, "edge_labels": True})

    def counts(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        return colour_counts(alike(objects, state, edge_labels=self.edge_labels), self.h, self.edge_labels, dtype)


@final
@dataclass(frozen=True)
class WeisfeilerLehman(ColourKernel, CountingGraphs):
    """The Weisfeiler-Lehman subtree kernel: k(G, G') = sum over rounds i = 0..h of <colours_i(G), colours_i(G')>.

    Colours of round 0 are the labels of the nodes; the colour of round i + 1 names a node's colour of round i and
    the multiset of its neighbours'. `colours_i` counts how many nodes have each colour. With `edge_labels`, the labels
    of the edges to neighbours are included. Weights are ignored.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> path, star = nx.path_graph(4), nx.star_graph(3)
    >>> kernels.WeisfeilerLehman(h=2).fit([path])([path], [path, star])
    array([[32., 22.]])
    """

    def occurrences(self, one: Graphs, state: State) -> Occurrences:
        graphs = alike(one, state, edge_labels=self.edge_labels)
        rounds = refined(graphs, self.h, edge_labels=self.edge_labels)
        names = np.concatenate([mixed(colours + np.uint64(number)) for number, colours in enumerate(rounds)])
        texts = spelt_colours(graphs, self.h, edge_labels=self.edge_labels)
        return Occurrences.on_single_parts(nodes_of(one), names, lambda k: texts[k])


@final
@dataclass(frozen=True)
class WeisfeilerLehmanOptimalAssignment(ColourKernel):
    """The best matching of the nodes of two graphs, k(G, G') = max over bijections of the sum of similarities.

    The similarity of two nodes is the number of rounds 0..h in which they have the same Weisfeiler-Lehman colour; the
    smaller graph is padded with nodes of similarity 0. Because colours only ever split, the maximum is the sum over
    rounds and colours of the smaller of the two counts (Kriege, Giscard, Wilson 2016), and it is positive
    semi-definite, which optimal assignments in general are not. k(G, G) = (h + 1) n.

    `edge_labels` says whether labels of edges count, as for `WeisfeilerLehman`.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> path, star = nx.path_graph(4), nx.star_graph(3)
    >>> kernels.WeisfeilerLehmanOptimalAssignment(h=2).fit([path])([path], [path, star])
    array([[12.,  6.]])
    """

    reason = "it is the intersection of two histograms"
    largest_in_single = EXACT_IN_SINGLE

    def features(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        return self.counts(objects, state, dtype)

    def align(self, left: CountFeatures, right: CountFeatures, state: State) -> tuple[SplitCounts, SplitCounts]:
        return align(left, right, split=False)

    def tile(self, left: SplitCounts, right: SplitCounts, state: State, out: Floating) -> None:
        intersections(left, right, out)

    def diagonal(self, features: CountFeatures, state: State) -> Float64:
        rows = np.repeat(np.arange(len(features)), np.diff(features.offsets))
        return np.bincount(rows, weights=features.counts, minlength=len(features)).astype(np.float64)


@final
@dataclass(frozen=True)
class WeisfeilerLehmanOver(OfKernel):
    """k(G, G') = sum over rounds i = 0..h of k0(G_i, G'_i), where G_i has the Weisfeiler-Lehman colours of round i.

    Over `VertexHistogram` this is the subtree kernel, over `EdgeHistogram(ends=True)` the Weisfeiler-Lehman edge
    kernel, over `ShortestPath` the Weisfeiler-Lehman shortest path kernel (Shervashidze and others 2011).

    `edge_labels` says whether labels of edges count, as for `WeisfeilerLehman`.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> path, star = nx.path_graph(4), nx.star_graph(3)
    >>> kernels.WeisfeilerLehmanOver(kernels.VertexHistogram(), h=2).fit([path])([path], [path, star])
    array([[32., 22.]])
    """

    kernel: Kernel
    h: int = integer(3, low=0, high=MOST_ROUNDS)
    edge_labels: bool = boolean()

    domain = Graphs
    reason = "it is a sum of kernels between relabelled graphs"
    variants = ({"kernel": ShortestPath(), "h": 1}, {"kernel": EdgeHistogram(ends=True), "h": 2})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.kernel, Kernel) or self.kernel.domain is not Graphs:
            raise _check.fail("WeisfeilerLehmanOver", "kernel", "a kernel on graphs", self.kernel)

    def _rounds(self, graphs: Graphs) -> Iterator[Graphs]:
        yield graphs
        for colours in refined(graphs, self.h, edge_labels=self.edge_labels)[1:]:
            yield graphs.relabelled(colours.view(np.int64))

    def resolve(self, objects: Graphs) -> State:
        return State(parts=tuple(self.kernel.resolve(graphs) for graphs in self._rounds(objects)))

    def features(self, objects: Graphs, state: State, dtype: DType) -> PartFeatures:
        rounds = zip(self._rounds(objects), state.parts, strict=True)
        return PartFeatures(tuple(self.kernel.features(graphs, own, dtype) for graphs, own in rounds))

    def align(self, left: PartFeatures, right: PartFeatures, state: State) -> tuple[PartFeatures, PartFeatures]:
        pairs = [self.kernel.align(*parts) for parts in zip(left.parts, right.parts, state.parts, strict=True)]
        return PartFeatures(tuple(pair[0] for pair in pairs)), PartFeatures(tuple(pair[1] for pair in pairs))

    def tile(self, left: PartFeatures, right: PartFeatures, state: State, out: Floating) -> None:
        block = np.empty_like(out)
        out[...] = 0
        for row, column, own in zip(left.parts, right.parts, state.parts, strict=True):
            self.kernel.tile(row, column, own, block)
            out += block

    def tile_entries(self, left: PartFeatures, right: PartFeatures, state: State) -> int:
        parts = zip(left.parts, right.parts, state.parts, strict=True)
        return max(1, min(self.kernel.tile_entries(*part) for part in parts) // (self.h + 1))

    def diagonal(self, features: PartFeatures, state: State) -> Float64:
        total = np.zeros(len(features))
        for part, own in zip(features.parts, state.parts, strict=True):
            total += self.kernel.diagonal(part, own)
        return total

    def single_precision(self, features: PartFeatures, state: State) -> bool:
        rounds = zip(features.parts, state.parts, strict=True)
        return all(self.kernel.single_precision(part, own) for part, own in rounds)
