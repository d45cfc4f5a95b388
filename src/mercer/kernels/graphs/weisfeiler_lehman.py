"""Weisfeiler-Lehman kernels: the subtree kernel, and the best matching of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.inputs.graphs import Graphs
from mercer.kernels.base import State
from mercer.kernels.features.counts import EXACT_IN_SINGLE, CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.features.postings import SplitCounts, align, intersections
from mercer.kernels.graphs.base import CountingGraphs, GraphKernel, alike, nodes_of
from mercer.kernels.graphs.refinement import colour_counts, refined, spelt_colours
from mercer.kernels.loops.mixing import mixed


@final
@dataclass(frozen=True)
class WeisfeilerLehman(CountingGraphs):
    """The Weisfeiler-Lehman subtree kernel: k(G, G') = sum over rounds i = 0..h of <colours_i(G), colours_i(G')>.

    Colours of round 0 are the labels of the nodes; the colour of round i + 1 names a node's colour of round i and
    the multiset of its neighbours'. `colours_i` counts how many nodes have each colour. With `edge_labels`, neighbours
    are told apart by the labels of the edges to them as well. Weights play no role.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> path, star = nx.path_graph(4), nx.star_graph(3)
    >>> kernels.WeisfeilerLehman(h=2).fit([path])([path], [path, star])
    array([[32., 22.]])
    """

    h: int = 3
    edge_labels: bool = False

    def __post_init__(self) -> None:
        _check.integer("WeisfeilerLehman", "h", self.h, low=0)
        _check.boolean("WeisfeilerLehman", "edge_labels", self.edge_labels)

    def counts(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        return colour_counts(alike(objects, state, edge_labels=self.edge_labels), self.h, self.edge_labels, dtype)

    def occurrences(self, one: Graphs, state: State) -> Occurrences:
        graphs = alike(one, state, edge_labels=self.edge_labels)
        rounds = refined(graphs, self.h, edge_labels=self.edge_labels)
        names = np.concatenate([mixed(colours + np.uint64(number)) for number, colours in enumerate(rounds)])
        texts = spelt_colours(graphs, self.h, edge_labels=self.edge_labels)
        return Occurrences.on_single_parts(nodes_of(one), names, lambda k: texts[k])

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(h=0)
        yield cls(h=2, edge_labels=True)


@final
@dataclass(frozen=True)
class WeisfeilerLehmanOptimalAssignment(GraphKernel):
    """The best matching of the nodes of two graphs, k(G, G') = max over bijections of the sum of similarities.

    Two nodes are as similar as the number of rounds 0..h in which they have the same Weisfeiler-Lehman colour; the
    smaller graph is filled up with nodes similar to nothing. Because colours only ever split, the maximum is
    the sum over rounds and colours of the smaller of the two counts (Kriege, Giscard, Wilson 2016), and it is positive
    semi-definite, which optimal assignments in general are not. k(G, G) = (h + 1) n.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> path, star = nx.path_graph(4), nx.star_graph(3)
    >>> kernels.WeisfeilerLehmanOptimalAssignment(h=2).fit([path])([path], [path, star])
    array([[12.,  6.]])
    """

    h: int = 3
    edge_labels: bool = False

    reason = "it is the intersection of two histograms"

    def __post_init__(self) -> None:
        _check.integer("WeisfeilerLehmanOptimalAssignment", "h", self.h, low=0)
        _check.boolean("WeisfeilerLehmanOptimalAssignment", "edge_labels", self.edge_labels)

    def features(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        return colour_counts(alike(objects, state, edge_labels=self.edge_labels), self.h, self.edge_labels, dtype)

    def align(self, left: CountFeatures, right: CountFeatures, state: State) -> tuple[SplitCounts, SplitCounts]:
        return align(left, right, split=False)

    def tile(self, left: SplitCounts, right: SplitCounts, state: State, out: Floating) -> None:
        intersections(left, right, out)

    def diagonal(self, features: CountFeatures, state: State) -> Float64:
        rows = np.repeat(np.arange(len(features)), np.diff(features.offsets))
        return np.bincount(rows, weights=features.counts, minlength=len(features)).astype(np.float64)

    def single_precision(self, features: CountFeatures, state: State) -> bool:
        return bool(self.diagonal(features, state).max(initial=0.0) < EXACT_IN_SINGLE)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(h=0)
        yield cls(h=2, edge_labels=True)
